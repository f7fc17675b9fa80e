package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// A committee that missed its deadline and the one drawn in its stead are one line.
func TestADrawAfterADeadlineIsOneLine(t *testing.T) {
	var out bytes.Buffer
	u := &running{Context: cli.NewContext(&cli.App{Writer: &out}, nil, nil)}
	f := &shownBlocks{u: u, names: newNaming(t.Context(), client.NewAPI("127.0.0.1:1"))}
	f.job(&model.JobEvent{Height: 9, What: model.JobRetried, Attempt: 1})
	f.job(&model.JobEvent{Height: 9, What: model.JobDrawn, Attempt: 2})
	if text := out.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "drawn  draw 2: ") {
		t.Errorf("%q", text)
	}
}

// Whoever answers for itself alone says of the others whether they run, as far as it
// knows.
func TestValidatorsElsewhereHaveAState(t *testing.T) {
	var out bytes.Buffer
	validatorTable(&out, []model.Validator{{Name: "v0", Status: "active", Running: true},
		{Name: "v1", Status: "active", Running: true, Elsewhere: true},
		{Name: "v2", Status: "active", Elsewhere: true}})
	lines := strings.Split(out.String(), "\n")
	for i, want := range []string{"NODE", " running ", " running ", " not connected "} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("%q is not in %q", want, lines[i])
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
