package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// A committee that missed its deadline and the one drawn in its stead are one line.
func TestADrawAfterADeadlineIsOneLine(t *testing.T) {
	var out bytes.Buffer
	u := &running{Context: cli.NewContext(&cli.App{Writer: &out}, nil, nil)}
	f := &shownBlocks{u: u, names: newNames(nil)}
	f.showJob(&model.JobEvent{Height: 9, What: model.JobRetried, Attempt: 1})
	f.showJob(&model.JobEvent{Height: 9, What: model.JobDrawn, Attempt: 2})
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

// After a storm the timers that went wrong are listed first, and a command lists all.
func TestAStormOfTimersIsShort(t *testing.T) {
	timer := func(i int, status types.TimerStatus, result string) model.AdvanceTimer {
		return model.AdvanceTimer{ID: types.TimerID{byte(i)}, Status: string(status), Result: result}
	}
	a := model.Advance{From: 100, To: 200}
	for i := range 195 {
		a.Timers = append(a.Timers, timer(i, types.TimerFired, "ok"))
	}
	a.Timers[120] = timer(120, types.TimerFired, "reverted")
	a.Timers[194] = timer(194, types.TimerExpired, "")
	a.Ended, a.Fired = 195, 194
	show := func() []string {
		var out bytes.Buffer
		printAdvance(&out, a, newNames(nil))
		_, table, _ := strings.Cut(out.String(), "ID ")
		return strings.Split(strings.TrimSpace(table), "\n")[1:]
	}
	lines := show()
	if len(lines) != maxShownEnds+1 || lines[maxShownEnds] != replaceProgramName("… and 185 more: devnet events --type timer --from 101") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	for i, want := range []string{"0x78000000 fired, reverted", "0xc2000000 expired", "0x00000000 fired", "0x01000000 fired"} {
		id, fate, _ := strings.Cut(want, " ")
		if !strings.HasPrefix(lines[i], id) || !strings.HasSuffix(lines[i], "  "+fate) {
			t.Errorf("line %d: %q, want %s", i, lines[i], want)
		}
	}
	a.Timers, a.Ended, a.Fired = a.Timers[115:125], 10, 10
	if lines := show(); len(lines) != 10 || !strings.HasSuffix(lines[5], "  fired, reverted") {
		t.Errorf("ten in their order: %q", lines)
	}
}
