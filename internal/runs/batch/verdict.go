package batch

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// The codes of verdicts: the exit codes of a program that makes one run.
const (
	Passed     = 0
	Failed     = 1
	Mistaken   = 2 // the script is wrong
	NotStarted = 3 // the network cannot start
)

// Verdict is how a scenario went with one seed. A process of a batch writes it
// as a line of JSON.
type Verdict struct {
	File string `json:"file"`
	World
	Seed     uint64             `json:"seed"`
	Settings []scenario.Setting `json:"settings,omitempty"` // given, in their order, and then those read besides
	Code     int                `json:"code"`               // the exit code it would have by itself
	Error    string             `json:"error,omitempty"`    // with file and line
	Hint     string             `json:"hint,omitempty"`
	Digest   string             `json:"digest,omitempty"`
	Height   uint64             `json:"height"`
	Virtual  float64            `json:"seconds"`      // of the network's clock
	Wall     float64            `json:"wall_seconds"` // of ours
	Moments  []Sometimes        `json:"sometimes,omitempty"`
	Measures []Measure          `json:"measures,omitempty"`        // of the script's measure(…), by first use
	Output   string             `json:"output,omitempty"`          // what it printed, the last of it
	Unread   []string           `json:"unread_failures,omitempty"` // failed receipts that the script did not look at
	Replay   string             `json:"replay,omitempty"`
	Hold     string             `json:"hold,omitempty"`             // the command that stops a failing run of the simulator at its failure
	Python   string             `json:"python,omitempty"`           // the minor version of a failing run's
	Timeline []string           `json:"timeline,omitempty"`         // what happened last, of the first failing runs of a batch
	Trace    []string           `json:"trace,omitempty"`            // what failed on the chain, of these
	Outcome  *Outcome           `json:"outcome,omitempty"`          // if it was to be recorded
	Unstable string             `json:"not_reproducible,omitempty"` // where two runs of the seed differ
}

// words are the codes for people.
var words = map[int]string{Passed: "passed", Failed: "failed", Mistaken: "mistaken", NotStarted: "not started"}

// Word is how the run ended, in a word or two.
func (v *Verdict) Word() string { return words[v.Code] }

// Sometimes is a condition of the script that need not hold in each seed, but in
// one of the batch.
type Sometimes struct {
	Name  string `json:"name"`
	Where string `json:"where"`
	True  bool   `json:"true"`
}

// Failed reports whether anything was wrong.
func (v *Verdict) Failed() bool { return v.Code != Passed }

// Never lists the conditions that held in no seed, of those that Heed took.
func Never(moments []Sometimes) (out []Sometimes) {
	for _, m := range moments {
		if !m.True {
			out = append(out, m)
		}
	}
	return out
}

// Heed adds the conditions of a run to those of others, without duplicates: each is true if
// it held in one of them.
func Heed(all []Sometimes, v *Verdict) []Sometimes {
	for _, m := range v.Moments {
		all = addSometimes(all, m)
	}
	return all
}

// Moments lists the conditions of all runs.
func Moments(verdicts []Verdict) (all []Sometimes) {
	for i := range verdicts {
		all = Heed(all, &verdicts[i])
	}
	return all
}

// addSometimes adds one run's result on a condition.
func addSometimes(all []Sometimes, m Sometimes) []Sometimes {
	for i := range all {
		if all[i].Name == m.Name && all[i].Where == m.Where {
			all[i].True = all[i].True || m.True
			return all
		}
	}
	return append(all, m)
}

// Line is a verdict for people.
func (v *Verdict) Line() string {
	digest := ""
	if v.Digest != "" {
		digest = ", digest " + shortDigest(v.Digest)
	}
	return fmt.Sprintf("%s: %s, %.1f seconds of the network in %.2f%s", v.runName(), plural.Of(v.Height, "block"), v.Virtual, v.Wall, digest)
}

// runName names the run: its script and seed, and what it was given by --set.
func (v *Verdict) runName() string {
	text := fmt.Sprintf("%s with seed %d", v.File, v.Seed)
	if set := v.setArguments(); set != "" {
		text += " and " + set
	}
	return text
}

// setArguments is what the run was given by --set, as words of a command line.
func (v *Verdict) setArguments() string {
	var words []string
	for _, s := range v.Settings {
		if s.Given {
			words = append(words, s.Name+"="+s.Text)
		}
	}
	return strings.Join(words, " ")
}

// Complain prints a failing run: what was wrong and where, and the command that
// runs it again. One that could not start lacks something of this machine, which no seed brings back.
func (v *Verdict) Complain(w io.Writer) {
	how := "FAILED"
	if v.Code == NotStarted {
		how = "NOT STARTED"
	}
	fmt.Fprintf(w, "%s %s: %s\n", how, v.runName(), strings.TrimRight(v.Error, "\n"))
	if v.Hint != "" {
		fmt.Fprintf(w, "  %s\n", v.Hint)
	}
	for i, line := range v.Timeline {
		if i > 0 {
			line = "  " + line
		}
		fmt.Fprintf(w, "%s\n", line)
	}
	v.Overlooked(w)
	for _, line := range v.Trace {
		fmt.Fprintln(w, line)
	}
	if v.Replay != "" && v.Code != NotStarted {
		fmt.Fprintf(w, "  replay: %s\n", v.Replay)
	}
	if v.Hold != "" {
		fmt.Fprintf(w, "  hold:   %s\n", v.Hold)
	}
	if v.Python != "" {
		fmt.Fprintf(w, "  python: %s; under another minor version a run of this seed may differ\n", v.Python)
	}
	if v.Unstable != "" {
		fmt.Fprintf(w, "  not reproducible: %s\n", v.Unstable)
	}
}

// Overlooked prints the failed receipts that the script did not look at.
func (v *Verdict) Overlooked(w io.Writer) {
	if len(v.Unread) == 0 {
		return
	}
	fmt.Fprintf(w, "failed, and the script never looked at the receipt:\n")
	for _, text := range v.Unread {
		fmt.Fprintln(w, text)
	}
}

// roundSeconds rounds a duration for people and for JUnit.
func roundSeconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// shownDigest is how much of a digest people are shown.
const shownDigest = 10

func shortDigest(digest string) string { return digest[:min(len(digest), shownDigest)] }
