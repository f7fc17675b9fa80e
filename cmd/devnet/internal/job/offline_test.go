package job

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Who submits a job for a model is told whose answer may come, and how a job reaches those that have the model.
func TestAJobForAModelIsToldOfTheOfflineOne(t *testing.T) {
	own := func(name string, pools ...string) model.Runner {
		return model.Runner{Name: name, Capabilities: []string{"custom", "llm"}, Entitlements: pools}
	}
	has := func(pools ...string) model.Runner {
		return model.Runner{Capabilities: []string{"llm", "model:small"}, Entitlements: pools}
	}
	for _, c := range []struct {
		what    string
		runners []model.Runner
		want    string // "": nothing is told
	}{
		{"none of the devnet's own", []model.Runner{has()}, ""},
		{"its own have that model too", []model.Runner{{Name: "r0", Capabilities: []string{"llm", "model:small"}}}, ""},
		{"its own do no such jobs", []model.Runner{{Name: "r0", Capabilities: []string{"custom"}}}, ""},
		{"nobody has it", []model.Runner{own("r0"), own("r1")},
			"r0 and r1 answer for every model by the offline one, which is no language model. No runner has small by its name."},
		{"one has it, without a pool", []model.Runner{own("r0"), own("r1"), has()}, "Runners that have small: 1, and drawn no sooner."},
		{"one has it, in a pool", []model.Runner{own("r0"), has("mine")}, "To ask only runners that have small: --pool mine."},
		{"one has it, in a pool of all", []model.Runner{own("r0", "mine"), has("mine")}, "drawn no sooner"},
		{"many", []model.Runner{own("r0"), own("r1"), own("r2"), own("r3"), own("r4"), has()}, "r0, r1, r2 and 2 more answer"},
	} {
		note := offlineNote(c.runners, "small")
		if c.want == "" && note != "" || !strings.Contains(note, c.want) {
			t.Errorf("%s: %q, want %q", c.what, note, c.want)
		}
	}
}
