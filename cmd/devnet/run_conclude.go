package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/worlds/batch"
)

// conclude reports on all runs and returns the command's end. sometimes is judged only
// over --seeds: a single seed need not show a rare event, nor a shard, but all of them
// together, which devnet report judges.
func (p *plan) conclude(c *cli.Context, verdicts []batch.Verdict) error {
	var missing []batch.Sometimes
	if p.many && p.shard.Of <= 1 {
		missing = batch.Never(verdicts)
	}
	if p.junit != "" {
		if err := batch.WriteJUnit(p.junit, p.shard, verdicts, missing); err != nil {
			return failed("", "--junit: %v", err)
		}
	}
	code, failures := exitDone, 0
	for i := range verdicts {
		if v := &verdicts[i]; v.Failed() {
			failures++
			code = worse(code, v.Code)
		}
	}
	if err := p.summary(c, verdicts, missing, failures); err != nil {
		return err
	}
	for _, m := range missing {
		if !p.json {
			fmt.Fprintf(c.App.Writer, "NEVER  %s: sometimes(%q) held in none of %d seeds\n", m.Where, m.Name, len(p.seeds))
		}
	}
	if len(missing) > 0 && code == exitDone {
		code = exitFailed
	}
	if code == exitDone {
		return nil
	}
	return &failure{code: code, what: concluded(code, len(verdicts), failures, len(missing))}
}

// endOfOne is the end of one run by its exit code.
var endOfOne = map[int]string{exitFailed: "the scenario failed", exitUsage: "the scenario is wrong",
	exitNoStart: "the scenario could not start"}

func concluded(code, runs, failures, missing int) string {
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

// worse is the exit code of two ends: a wrong script before a network that
// cannot start, before a failure.
func worse(a, b int) int {
	rank := []int{exitDone, exitFailed, exitNoStart, exitUsage}
	if slices.Index(rank, a) > slices.Index(rank, b) {
		return a
	}
	return b
}

func (p *plan) summary(c *cli.Context, verdicts []batch.Verdict, missing []batch.Sometimes, failures int) error {
	w := c.App.Writer
	if p.json {
		return printJSON(w, struct {
			Runs   []batch.Verdict   `json:"runs"`
			Failed int               `json:"failed"`
			Never  []batch.Sometimes `json:"never"`
		}{verdicts, failures, append([]batch.Sometimes{}, missing...)})
	}
	if len(verdicts) == 1 {
		if v := &verdicts[0]; !v.Failed() {
			fmt.Fprintf(w, "passed %s\n", v.Line())
			batch.TellMeasures(w, verdicts)
			v.Overlooked(w)
		}
		return nil
	}
	virtual, wall := 0.0, 0.0
	for i := range verdicts {
		virtual += verdicts[i].Virtual
		wall += verdicts[i].Wall
	}
	overlooked(w, verdicts)
	batch.TellMeasures(w, verdicts)
	fmt.Fprintf(w, "%d of %d runs passed: %.0f seconds of networks in %.1f of runs\n", len(verdicts)-failures, len(verdicts), virtual, wall)
	return nil
}

// overlooked prints what the runs that passed did not look at, once for each
// scenario: the runs of one are alike.
func overlooked(w io.Writer, verdicts []batch.Verdict) {
	told := map[string]bool{}
	for i := range verdicts {
		if v := &verdicts[i]; !v.Failed() && len(v.Unread) > 0 && !told[v.File] {
			told[v.File] = true
			fmt.Fprintf(w, "%s with seed %d: ", v.File, v.Seed)
			v.Overlooked(w)
		}
	}
}
