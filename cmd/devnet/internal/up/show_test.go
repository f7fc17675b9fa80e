package up

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// A committee that missed its deadline and the one drawn in its stead are one line.
func TestADrawAfterADeadlineIsOneLine(t *testing.T) {
	var out bytes.Buffer
	u := &running{Context: cli.NewContext(&cli.App{Writer: &out}, nil, nil)}
	f := &shownBlocks{u: u, names: naming.New(nil)}
	f.showJob(&model.JobEvent{Height: 9, What: model.JobRetried, Attempt: 1})
	f.showJob(&model.JobEvent{Height: 9, What: model.JobDrawn, Attempt: 2})
	if text := out.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "drawn  draw 2: ") {
		t.Errorf("%q", text)
	}
}
