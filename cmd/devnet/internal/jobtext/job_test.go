package jobtext

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A job shows that the offline model answered it.
func TestAJobShowsTheOfflineModel(t *testing.T) {
	const answer = "This is devnet's offline model: no language model, but a text that follows from the prompt. The prompt has 2 bytes"
	for _, c := range []struct {
		kind, result string
		told         bool
	}{
		{"llm", answer, true}, {"llm", answer[:40], true}, {"llm", "Hello from small.", false}, {"llm", "This is", false},
		{"custom", answer, false},
	} {
		var out bytes.Buffer
		Print(&out, naming.New(nil),
			&model.Job{Kind: c.kind, Status: "Completed", CompletedAt: new(types.Height(9)), Result: new(types.Bytes(c.result))})
		if told := strings.Contains(out.String(), "answered by  the offline model"); told != c.told {
			t.Errorf("%s %.20q:\n%s", c.kind, c.result, &out)
		}
	}
}

// A height is typed again, as in devnet block 1734, so no commas divide it.
func TestHeightsOfJobsAreAsTheyAreTyped(t *testing.T) {
	ended := types.Height(1734)
	for want, j := range map[string]*model.Job{
		"Completed in block 1734, submitted in 1730":     {Status: "Completed", SubmittedAt: 1730, CompletedAt: &ended},
		"Pending: it waits for runners until block 1734": {Status: "Pending", Deadline: ended},
		"Executing: results are taken until block 1734":  {Status: "Executing", Deadline: ended},
	} {
		if got := jobStatusLine(j); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
