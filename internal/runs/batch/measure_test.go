package batch

import (
	"bytes"
	"strings"
	"testing"
)

func TestMeasuresOfAllRunsArePutTogether(t *testing.T) {
	wait := func(samples ...float64) []Measure {
		return []Measure{summarize(Measure{Name: "wait", Unit: "blocks", Samples: samples})}
	}
	told := func(verdicts []Verdict, out *bytes.Buffer) {
		var all Samples
		for i := range verdicts {
			all.Add(&verdicts[i])
		}
		all.Tell(out, len(verdicts) > 1)
	}
	one := []Verdict{{File: "a.star", Measures: wait(1, 2, 3, 4)}}
	var out bytes.Buffer
	told(one, &out)
	want := "MEASURE  UNIT    SAMPLES  MEAN  MIN  P50  P95  MAX\nwait     blocks  4        2.5   1    2    4    4\n"
	if out.String() != want {
		t.Errorf("one run:\n%s\nwant:\n%s", out.String(), want)
	}
	many := append(one, Verdict{File: "a.star", Seed: 2, Measures: wait(100)}, Verdict{File: "b.star", Measures: wait()},
		Verdict{File: "a.star", Seed: 3, Code: Failed, Measures: wait(1e9)})
	out.Reset()
	told(many, &out)
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(rows) != 3 || strings.Join(strings.Fields(rows[1]), " ") != "a.star 2 wait blocks 5 22 1 3 100 100" ||
		strings.Join(strings.Fields(rows[2]), " ") != "b.star 1 wait blocks 0 - - - - -" {
		t.Errorf("several runs, of which one failed:\n%s", out.String())
	}
	out.Reset()
	if told([]Verdict{{File: "a.star"}}, &out); out.Len() > 0 {
		t.Errorf("without a measure it prints %q", out.String())
	}
}

// Runs end in any order, and their figures are the same.
func TestTheSummaryOfSamplesHasNoOrder(t *testing.T) {
	a := summarize(Measure{Samples: []float64{0.1, 1e16, 0.2, -1e16, 0.3}})
	b := summarize(Measure{Samples: []float64{-1e16, 0.3, 1e16, 0.2, 0.1}})
	if a.Mean != b.Mean || a.Median != b.Median || a.Median != 0.2 || a.Min != -1e16 || a.High != 1e16 {
		t.Errorf("%+v and %+v", a, b)
	}
}

func TestFiguresHaveNoExponent(t *testing.T) {
	for f, want := range map[float64]string{82753.21: "82753", -82753.21: "-82753", 9999.6: "10000", 9999.4: "9999", 3.14159: "3.142",
		0.5: "0.5", 0.00001234567: "0.00001235", 123456789.5: "123456790", 99.999: "100", 0: "0", 1.5e20: "1.5e+20", 1e-12: "1e-12"} {
		if got := FourDigits(f); got != want {
			t.Errorf("%v is %s, want %s", f, got, want)
		}
	}
	if got := formatFigure(82753.21, 3); got != "82753" {
		t.Errorf("a table has %s", got)
	}
}
