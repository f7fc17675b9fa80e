package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// verdict is how a scenario went with one seed. A process of a batch writes it
// as a line of JSON.
type verdict struct {
	File string `json:"file"`
	world
	Seed     uint64      `json:"seed"`
	Code     int         `json:"code"`            // the exit code it would have alone
	Error    string      `json:"error,omitempty"` // with file and line
	Hint     string      `json:"hint,omitempty"`
	Digest   string      `json:"digest,omitempty"`
	Height   uint64      `json:"height"`
	Virtual  float64     `json:"seconds"`      // of the network's clock
	Wall     float64     `json:"wall_seconds"` // of ours
	Moments  []sometimes `json:"sometimes,omitempty"`
	Output   string      `json:"output,omitempty"`          // what it printed, the last of it
	Unread   []string    `json:"unread_failures,omitempty"` // failed receipts that the script did not look at
	Replay   string      `json:"replay,omitempty"`
	Timeline []string    `json:"timeline,omitempty"`         // what happened last, of the first failing runs of a batch
	Unstable string      `json:"not_reproducible,omitempty"` // where two runs of the seed differ
}

// overlooked prints the failed receipts that the script did not look at.
func (v *verdict) overlooked(w io.Writer) {
	if len(v.Unread) == 0 {
		return
	}
	fmt.Fprintf(w, "failed, and the script never looked at the receipt:\n")
	for _, text := range v.Unread {
		fmt.Fprintln(w, text)
	}
}

// sometimes is a condition of the script that need not hold in each seed, but in
// one of the batch.
type sometimes struct {
	Name  string `json:"name"`
	Where string `json:"where"`
	True  bool   `json:"true"`
}

func (v *verdict) failed() bool { return v.Code != exitDone }

// never lists the conditions that held in no seed, by file.
func never(verdicts []verdict) (out []sometimes) {
	held := map[sometimes]bool{}
	var order []sometimes
	for i := range verdicts {
		for _, m := range verdicts[i].Moments {
			key := sometimes{Name: m.Name, Where: m.Where}
			if _, known := held[key]; !known {
				order = append(order, key)
			}
			held[key] = held[key] || m.True
		}
	}
	for _, key := range order {
		if !held[key] {
			out = append(out, key)
		}
	}
	return out
}

// conclude reports on all runs and returns the command's end. sometimes is
// judged over --seeds alone: one seed owes nobody what is rare.
func (p *plan) conclude(c *cli.Context, verdicts []verdict) error {
	var missing []sometimes
	if p.many {
		missing = never(verdicts)
	}
	if p.junit != "" {
		if err := writeJUnit(p.junit, verdicts, missing); err != nil {
			return failed("", "%v", err)
		}
	}
	code, failures := exitDone, 0
	for i := range verdicts {
		if v := &verdicts[i]; v.failed() {
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
var endOfOne = map[int]string{exitFailed: "the scenario failed", exitUsage: "the scenario is wrong", exitNoStart: "the scenario could not start"}

func concluded(code, runs, failures, missing int) string {
	var parts []string
	if failures > 0 && runs == 1 {
		parts = append(parts, endOfOne[code])
	} else if failures > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d runs failed", failures, runs))
	}
	if missing > 0 {
		parts = append(parts, fmt.Sprintf("%d of what should happen sometimes never did", missing))
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

func (p *plan) summary(c *cli.Context, verdicts []verdict, missing []sometimes, failures int) error {
	w := c.App.Writer
	if p.json {
		return printJSON(w, struct {
			Runs   []verdict   `json:"runs"`
			Failed int         `json:"failed"`
			Never  []sometimes `json:"never"`
		}{verdicts, failures, append([]sometimes{}, missing...)})
	}
	if len(verdicts) == 1 {
		if v := &verdicts[0]; !v.failed() {
			fmt.Fprintf(w, "passed %s\n", v.line())
			v.overlooked(w)
		}
		return nil
	}
	virtual, wall := 0.0, 0.0
	for i := range verdicts {
		virtual += verdicts[i].Virtual
		wall += verdicts[i].Wall
	}
	overlooked(w, verdicts)
	fmt.Fprintf(w, "%d of %d runs passed: %.0f seconds of networks in %.1f of runs\n", len(verdicts)-failures, len(verdicts), virtual, wall)
	return nil
}

// overlooked prints what the runs that passed did not look at, once for each
// scenario: the runs of one are alike.
func overlooked(w io.Writer, verdicts []verdict) {
	told := map[string]bool{}
	for i := range verdicts {
		if v := &verdicts[i]; !v.failed() && len(v.Unread) > 0 && !told[v.File] {
			told[v.File] = true
			fmt.Fprintf(w, "%s with seed %d: ", v.File, v.Seed)
			v.overlooked(w)
		}
	}
}

// line is a verdict for people.
func (v *verdict) line() string {
	digest := ""
	if v.Digest != "" {
		digest = ", digest " + short(v.Digest)
	}
	return fmt.Sprintf("%s with seed %d: %d blocks, %.1f seconds of the network in %.2f%s", v.File, v.Seed, v.Height, v.Virtual, v.Wall, digest)
}

// complain prints a failing run: what was wrong and where, and the command that
// runs it again.
func (v *verdict) complain(w io.Writer) {
	fmt.Fprintf(w, "FAILED %s with seed %d: %s\n", v.File, v.Seed, strings.TrimRight(v.Error, "\n"))
	if v.Hint != "" {
		fmt.Fprintf(w, "  %s\n", v.Hint)
	}
	for i, line := range v.Timeline {
		if i > 0 {
			line = "  " + line
		}
		fmt.Fprintf(w, "%s\n", line)
	}
	v.overlooked(w)
	if v.Replay != "" {
		fmt.Fprintf(w, "  replay: %s\n", v.Replay)
	}
	if v.Unstable != "" {
		fmt.Fprintf(w, "  not reproducible: %s\n", v.Unstable)
	}
}

// seconds rounds a duration for people and for JUnit.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }
