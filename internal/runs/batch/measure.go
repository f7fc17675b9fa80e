package batch

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Measure is a figure of a scenario: what its script gave to measure(…), and the summary of
// that. Over many runs the samples of all are one measure.
type Measure struct {
	Name    string    `json:"name"`
	Unit    string    `json:"unit,omitempty"`
	Samples []float64 `json:"samples"` // in the script's order, one run after the other
	// At is the height of each sample of a series; nil of others, and over many runs.
	At     []types.Height `json:"at,omitempty"`
	Mean   float64        `json:"mean"`
	Min    float64        `json:"min"`
	Median float64        `json:"p50"`
	High   float64        `json:"p95"`
	Max    float64        `json:"max"`
}

// summarize computes the summary of the samples. A percentile is the smallest sample that at
// least as many percent of all do not exceed.
func summarize(m Measure) Measure {
	sorted := slices.Sorted(slices.Values(m.Samples))
	if len(sorted) == 0 {
		return m
	}
	// The sum of sorted samples is the same in whatever order the runs ended.
	total := 0.0
	for _, s := range sorted {
		total += s
	}
	at := func(percent int) float64 { return sorted[max(0, (len(sorted)*percent+99)/100-1)] }
	m.Mean, m.Min, m.Median, m.High, m.Max = total/float64(len(sorted)), sorted[0], at(50), at(95), sorted[len(sorted)-1]
	return m
}

// Samples puts the measures of runs that passed together, by file and name.
type Samples struct{ all []measuredIn }

// measuredIn is a measure of a scenario, over all of its runs that passed.
type measuredIn struct {
	file string
	runs int
	Measure
}

// Add takes the measures of a run.
func (s *Samples) Add(v *Verdict) {
	if v.Failed() {
		return
	}
	for _, m := range v.Measures {
		at := slices.IndexFunc(s.all, func(one measuredIn) bool { return one.file == v.File && one.Name == m.Name })
		if at < 0 {
			s.all, at = append(s.all, measuredIn{file: v.File, Measure: Measure{Name: m.Name, Unit: m.Unit}}), len(s.all)
		}
		s.all[at].runs++
		s.all[at].Samples = append(s.all[at].Samples, m.Samples...)
	}
}

// Tell prints the measures as a table, by file in the order of the script, and nothing if
// there are none. Of several runs it says which script and how many.
func (s *Samples) Tell(w io.Writer, several bool) {
	if len(s.all) == 0 {
		return
	}
	slices.SortStableFunc(s.all, func(a, b measuredIn) int { return cmp.Compare(a.file, b.file) })
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := "MEASURE\tUNIT\tSAMPLES\tMEAN\tMIN\tP50\tP95\tMAX"
	if several {
		head = "SCENARIO\tRUNS\t" + head
	}
	fmt.Fprintln(t, head)
	for i := range s.all {
		one := &s.all[i]
		m := summarize(one.Measure)
		cells := []string{m.Name, cmp.Or(m.Unit, "-"), strconv.Itoa(len(m.Samples))}
		for _, f := range []float64{m.Mean, m.Min, m.Median, m.High, m.Max} {
			cells = append(cells, formatFigure(f, len(m.Samples)))
		}
		if several {
			cells = append([]string{one.file, strconv.Itoa(one.runs)}, cells...)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	_ = t.Flush()
}

// formatFigure is a number for people: four digits, and whole numbers whole.
func formatFigure(f float64, samples int) string {
	switch {
	case samples == 0:
		return "-"
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return FourDigits(f)
}

// FourDigits is a number for people: at least its first four digits, and no exponent unless it
// is far from 1.
func FourDigits(f float64) string {
	size := math.Abs(f)
	if size >= 1e15 || size < 1e-9 {
		return strconv.FormatFloat(f, 'g', 4, 64)
	}
	text := strconv.FormatFloat(f, 'f', max(0, 3-int(math.Floor(math.Log10(size)))), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}
