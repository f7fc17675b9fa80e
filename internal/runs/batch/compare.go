package batch

import (
	"fmt"
	"io"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/plural"
)

// Difference is a thing that came to something else in one world than in another.
type Difference struct {
	Of   string            `json:"of"`
	What map[string]string `json:"what"` // by backend; of one where it did not happen, "nothing"
}

// Comparison is how one scenario with one seed went in several worlds.
type Comparison struct {
	File        string       `json:"file"`
	Backends    []string     `json:"backends"`
	Same        int          `json:"same"` // things that came to the same everywhere
	Differences []Difference `json:"differences"`
}

// verdictOf is the name of the verdict among the compared items.
const verdictOf = "the scenario"

// Compare holds verdicts of one scenario and seed, each of another backend, side by side.
func Compare(verdicts []Verdict) Comparison {
	c := Comparison{Differences: []Difference{}}
	found := map[string]map[string]string{}
	var order []string
	for i := range verdicts {
		v := &verdicts[i]
		c.File = v.File
		c.Backends = append(c.Backends, v.Backend)
		for _, line := range v.comparedLines() {
			if found[line.Of] == nil {
				found[line.Of] = map[string]string{}
				order = append(order, line.Of)
			}
			found[line.Of][v.Backend] = line.What
		}
	}
	for _, of := range order {
		what := found[of]
		for _, backend := range c.Backends {
			if what[backend] == "" {
				what[backend] = "nothing"
			}
		}
		if slices.ContainsFunc(c.Backends, func(b string) bool { return what[b] != what[c.Backends[0]] }) {
			c.Differences = append(c.Differences, Difference{of, what})
		} else {
			c.Same++
		}
	}
	return c
}

// comparedLines is all that is compared of a run.
func (v *Verdict) comparedLines() []OutcomeLine {
	how := "passed"
	if v.Failed() {
		how = "failed"
	}
	lines := []OutcomeLine{{verdictOf, how}}
	if v.Outcome != nil {
		lines = append(lines, v.Outcome.Lines...)
	}
	return lines
}

// columns is the width of a screen.
const columns = 80

// Tell prints the comparison: a line if all is the same, and otherwise the
// differences, a line per backend, at most 80 columns wide.
func (c *Comparison) Tell(w io.Writer) {
	where := plural.List(c.Backends, "and")
	things := fmt.Sprintf("%d things are", c.Same)
	if c.Same == 1 {
		things = "1 thing is"
	}
	if len(c.Differences) == 0 {
		fmt.Fprintf(w, "same    %s: %s the same on %s\n", c.File, things, where)
		return
	}
	fmt.Fprintf(w, "DIFFER  %s: %d of %d are not the same on %s\n", c.File, len(c.Differences), c.Same+len(c.Differences), where)
	wide := 0
	for _, backend := range c.Backends {
		wide = max(wide, len(backend))
	}
	for _, d := range c.Differences {
		fmt.Fprintf(w, "  %s\n", shortenText(d.Of, columns-2))
		for _, backend := range c.Backends {
			fmt.Fprintf(w, "    %-*s  %s\n", wide, backend, shortenText(d.What[backend], columns-6-wide))
		}
	}
}

// shortenText shortens a text to most columns.
func shortenText(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
