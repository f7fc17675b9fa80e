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
)

// Measure is a figure of a scenario: what its script gave to measure(…), and the summary of
// that. Over many runs the samples of all are one measure.
type Measure struct {
	Name    string    `json:"name"`
	Unit    string    `json:"unit,omitempty"`
	Samples []float64 `json:"samples"` // in the script's order, one run after the other
	Mean    float64   `json:"mean"`
	Min     float64   `json:"min"`
	Median  float64   `json:"p50"`
	High    float64   `json:"p95"`
	Max     float64   `json:"max"`
}

// summed computes the summary of the samples. A percentile is the smallest sample that at
// least as many percent of all do not exceed.
func summed(m Measure) Measure {
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

// measuredIn is a measure of a scenario, over all of its runs that passed.
type measuredIn struct {
	file string
	runs int
	Measure
}

// measured puts the measures of runs that passed together, by file and name in the order of
// the script.
func measured(verdicts []Verdict) (all []measuredIn) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Failed() {
			continue
		}
		for _, m := range v.Measures {
			at := slices.IndexFunc(all, func(one measuredIn) bool { return one.file == v.File && one.Name == m.Name })
			if at < 0 {
				all, at = append(all, measuredIn{file: v.File, Measure: Measure{Name: m.Name, Unit: m.Unit}}), len(all)
			}
			all[at].runs++
			all[at].Samples = append(all[at].Samples, m.Samples...)
		}
	}
	slices.SortStableFunc(all, func(a, b measuredIn) int { return cmp.Compare(a.file, b.file) })
	for i := range all {
		all[i].Measure = summed(all[i].Measure)
	}
	return all
}

// TellMeasures prints the measures of runs as a table, nothing if there are none.
func TellMeasures(w io.Writer, verdicts []Verdict) {
	all := measured(verdicts)
	if len(all) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	several := len(verdicts) > 1
	head := "MEASURE\tUNIT\tSAMPLES\tMEAN\tMIN\tP50\tP95\tMAX"
	if several {
		head = "SCENARIO\tRUNS\t" + head
	}
	fmt.Fprintln(t, head)
	for _, m := range all {
		cells := []string{m.Name, cmp.Or(m.Unit, "-"), strconv.Itoa(len(m.Samples))}
		for _, f := range []float64{m.Mean, m.Min, m.Median, m.High, m.Max} {
			cells = append(cells, figure(f, len(m.Samples)))
		}
		if several {
			cells = append([]string{m.file, strconv.Itoa(m.runs)}, cells...)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	_ = t.Flush()
}

// figure is a number for people: four digits, and whole numbers whole.
func figure(f float64, samples int) string {
	switch {
	case samples == 0:
		return "-"
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}
