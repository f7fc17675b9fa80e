package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/runs/batch"
	"github.com/cowboyinc/devnet/internal/runs/experiment"
)

// concludeRuns reports on all runs and returns the command's end. sometimes is judged only
// over --seeds: a single seed need not show a rare event, nor a shard, but all of them
// together, which devnet report judges.
func (p *plan) concludeRuns(c *cli.Context, t *tally) error {
	var missing []batch.Sometimes
	if p.many && p.shard.Of <= 1 {
		missing = batch.Never(t.moments)
	}
	if p.junit != "" {
		if err := batch.WriteJUnit(p.junit, p.shard, t.verdicts, missing); err != nil {
			return failure.New("", "--junit: %v", err)
		}
	}
	without, wrong := t.finishFigures()
	if err := p.printSummary(c, t, missing); err != nil {
		return err
	}
	if wrong != nil {
		return &failure.Failure{Code: worseExitCode(t.code, failure.ExitFailed), What: wrong.Error()}
	}
	if len(without) > 0 && !p.json {
		fmt.Fprintf(c.App.Writer, "%s has no place for: %s\n", p.plot, strings.Join(without, ", "))
	}
	for _, m := range missing {
		if !p.json {
			fmt.Fprintf(c.App.Writer, "NEVER  %s: sometimes(%q) held in none of %d seeds\n", m.Where, m.Name, p.seeds)
		}
	}
	if err := t.unreadSetting(); err != nil {
		return err
	}
	code := t.code
	if len(missing) > 0 && code == failure.ExitDone {
		code = failure.ExitFailed
	}
	if code == failure.ExitDone {
		return nil
	}
	return &failure.Failure{Code: code, What: conclusionWords(code, t.runs, t.failures, len(missing))}
}

// endOfOne is the end of one run by its exit code.
var endOfOne = map[int]string{failure.ExitFailed: "the scenario failed", failure.ExitUsage: "the scenario is wrong",
	failure.ExitNoStart: "the scenario could not start"}

func conclusionWords(code, runs, failures, missing int) string {
	var parts []string
	if failures > 0 && runs == 1 {
		parts = append(parts, endOfOne[code])
	} else if failures > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d runs failed", failures, runs))
	}
	if missing > 0 {
		parts = append(parts, fmt.Sprintf("%d of the expected rare events (sometimes) never happened", missing))
	}
	return strings.Join(parts, ", and ")
}

// worseExitCode is the exit code of two ends: a wrong script before a network that
// cannot start, before a failure.
func worseExitCode(a, b int) int {
	rank := []int{failure.ExitDone, failure.ExitFailed, failure.ExitNoStart, failure.ExitUsage}
	if slices.Index(rank, a) > slices.Index(rank, b) {
		return a
	}
	return b
}

func (p *plan) printSummary(c *cli.Context, t *tally, missing []batch.Sometimes) error {
	w := c.App.Writer
	if p.json {
		return command.PrintJSON(w, struct {
			Runs   []batch.Verdict    `json:"runs"`
			Failed int                `json:"failed"`
			Never  []batch.Sometimes  `json:"never"`
			Points []experiment.Point `json:"points,omitempty"`
		}{t.verdicts, t.failures, append([]batch.Sometimes{}, missing...), t.resultPoints()})
	}
	if t.runs == 1 {
		if v := t.one; !v.Failed() {
			fmt.Fprintf(w, "passed %s\n", v.Line())
			t.printFigures(w)
			v.Overlooked(w)
		}
		return nil
	}
	for i := range t.unread {
		fmt.Fprintf(w, "%s with seed %d: ", t.unread[i].File, t.unread[i].Seed)
		t.unread[i].Overlooked(w)
	}
	t.printFigures(w)
	fmt.Fprintf(w, "%d of %d runs passed: %.0f seconds of networks in %.1f of runs\n", t.runs-t.failures, t.runs, t.virtual, t.wall)
	return nil
}
