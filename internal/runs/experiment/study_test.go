package experiment

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
)

var gains = Grid{{"gain", []string{"1", "8"}}, {"rule", []string{"median", "mean"}}}

func TestAGridIsAllCombinations(t *testing.T) {
	g, err := ReadGrid([]string{"gain=1,8", "rule=median,mean"})
	if err != nil || g.Size() != 4 {
		t.Fatalf("%d points, %v", g.Size(), err)
	}
	var all []string
	for at := range g.Size() {
		var words []string
		for i, s := range g.Point(at) {
			words = append(words, s.Name+"="+s.Text)
			if g[i].Values[g.valueAt(at, i)] != s.Text {
				t.Errorf("point %d: its value of %s is another one", at, s.Name)
			}
		}
		all = append(all, strings.Join(words, " "))
	}
	want := []string{"gain=1 rule=median", "gain=1 rule=mean", "gain=8 rule=median", "gain=8 rule=mean"}
	if !slices.Equal(all, want) {
		t.Errorf("%q", all)
	}
	if g, err := ReadGrid(nil); err != nil || g.Size() != 1 || len(g.Point(0)) != 0 {
		t.Errorf("without settings: %d points, %v", g.Size(), err)
	}
}

func TestAWordThatIsNoSettingIsRefused(t *testing.T) {
	long := strings.Repeat("x", scenario.MaxSettingBytes+1)
	many := "n="
	for i := range MaxPoints + 1 {
		many += formatPlain(float64(i)) + ","
	}
	for word, want := range map[string]string{"gain": "has no =", "gain=1,1": "the value \"1\" twice", "gain=" + long: "a value of 1001 bytes",
		strings.TrimSuffix(many, ","): "more than 10000 points"} {
		if _, err := ReadGrid([]string{word}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v, want %q", word, err, want)
		}
	}
	if _, err := ReadGrid([]string{"a=1", "a=2"}); err == nil || err.Error() != "a is given twice" {
		t.Error(err)
	}
}

// ran is the verdict on a run with figures by name.
func ran(seed uint64, point []scenario.Setting, figures map[string]float64) *batch.Verdict {
	v := &batch.Verdict{File: "a.star", Seed: seed, Digest: "0x12"}
	for _, s := range point {
		s.Given = true
		v.Settings = append(v.Settings, s)
	}
	for _, name := range []string{"share", "wait"} {
		if f, given := figures[name]; given {
			v.Measures = append(v.Measures, batch.Measure{Name: name, Unit: "blocks", Samples: []float64{f}, Mean: f})
		}
	}
	return v
}

// By hand: at gain 1 the seeds give 1, 2, 3: 2 ± 4.302653/√3 = 2.484. At gain 8 they give 3, 5,
// 7: 5 ± 4.968. By pairs the second is 2, 3, 4 above the first: 3 ± 2.484.
func TestPointsAreComparedByPairsOfOneSeed(t *testing.T) {
	grid := Grid{{"gain", []string{"1", "8"}}}
	s := NewStudy("a.star", grid)
	for i, pair := range [][2]float64{{1, 3}, {2, 5}, {3, 7}} {
		for at, f := range pair {
			if err := s.Add(batch.Job{Point: at}, ran(uint64(i), grid.Point(at), map[string]float64{"wait": f})); err != nil {
				t.Fatal(err)
			}
		}
	}
	points := s.Points()
	first, second := points[0].Measures[0], points[1].Measures[0]
	near := func(e Estimate, mean, half float64) bool {
		return e.Seeds == 3 && math.Abs(e.Mean-mean) < 1e-12 && math.Abs(*e.HalfWidth-half) < 1e-5
	}
	if !near(first.Estimate, 2, 2.484138) || first.LessFirst != nil || !near(second.Estimate, 5, 4.968275) ||
		!near(*second.LessFirst, 3, 2.484138) {
		t.Errorf("%+v and %+v less %+v", first, second, second.LessFirst)
	}
	var out bytes.Buffer
	s.Tell(&out)
	want := "" +
		"MEASURE  UNIT    gain  SEEDS  MEAN ± 95 %  LESS THE FIRST  PAIRS\n" +
		"wait     blocks  1     3      2.0 ± 2.5    -               -\n" +
		"wait     blocks  8     3      5.0 ± 5.0    3.0 ± 2.5       3\n"
	if out.String() != want {
		t.Errorf("\n%s\nwant:\n%s", out.String(), want)
	}
}

// A run that failed counts nowhere, and its seed is no pair; neither is a figure that only one
// of the two has.
func TestOnlyRunsThatPassedAreFigures(t *testing.T) {
	grid := Grid{{"gain", []string{"1", "8"}}}
	s := NewStudy("a.star", grid)
	add := func(seed uint64, at, code int, name string, f float64) {
		v := ran(seed, grid.Point(at), map[string]float64{name: f})
		v.Code = code
		if err := s.Add(batch.Job{Point: at}, v); err != nil {
			t.Fatal(err)
		}
	}
	add(1, 0, batch.Passed, "wait", 1)
	add(1, 1, batch.Failed, "wait", 1000)
	add(2, 0, batch.Failed, "wait", 1000)
	add(2, 1, batch.Passed, "wait", 4)
	add(3, 0, batch.Passed, "share", 1)
	add(3, 1, batch.Passed, "wait", 6)
	add(4, 0, batch.Passed, "wait", 3)
	add(4, 1, batch.Passed, "wait", 8)
	points := s.Points()
	if got := points[0].Measures[0]; got.Seeds != 2 || got.Mean != 2 {
		t.Errorf("the first point: %+v", got)
	}
	if got := points[1].Measures[0]; got.Seeds != 3 || got.Mean != 6 || got.LessFirst.Seeds != 1 || got.LessFirst.Mean != 5 {
		t.Errorf("the second point: %+v, less %+v", got, got.LessFirst)
	}
}

func TestAUnitIsOneOverAllRuns(t *testing.T) {
	s := NewStudy("a.star", nil)
	v := ran(1, nil, map[string]float64{"wait": 1})
	if err := s.Add(batch.Job{}, v); err != nil {
		t.Fatal(err)
	}
	v = ran(2, nil, map[string]float64{"wait": 1})
	v.Measures[0].Unit = "ms"
	if err := s.Add(batch.Job{}, v); err == nil || !strings.Contains(err.Error(), `"blocks" in one run and "ms" in another`) {
		t.Error(err)
	}
}

// rowsOf is the files that verdicts make.
func rowsOf(t *testing.T, grid Grid, verdicts ...*batch.Verdict) (rows, series string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.csv")
	r, err := CreateRows(path, grid)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		if err := r.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	more, err := os.ReadFile(SeriesPath(path))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text), string(more)
}

func TestARowHasSettingsSeedFiguresDigestAndVerdict(t *testing.T) {
	first, second := ran(7, gains.Point(0), map[string]float64{"wait": 0.1}), ran(8, gains.Point(3), map[string]float64{"wait": 1e9})
	third := ran(9, gains.Point(1), map[string]float64{"wait": 5})
	third.Code = batch.Failed
	rows, series := rowsOf(t, gains, first, second, third)
	want := "gain,rule,seed,wait,digest,verdict\n1,median,7,0.1,0x12,passed\n8,mean,8,1000000000,0x12,passed\n1,mean,9,,0x12,failed\n"
	if rows != want || series != "" {
		t.Errorf("\n%s\nwant:\n%s\nseries: %q", rows, want, series)
	}
}

// A figure or a setting that only a later run has is a column of all rows, also of those that
// are written.
func TestALaterColumnIsInAllRows(t *testing.T) {
	first, second := ran(1, gains.Point(0), map[string]float64{"wait": 1}), ran(1, gains.Point(2), map[string]float64{"share": 0.5})
	second.Settings = append(second.Settings, scenario.Setting{Name: "lag", Text: `a "b", c`})
	rows, _ := rowsOf(t, gains, first, second, first)
	want := "gain,rule,lag,seed,wait,share,digest,verdict\n1,median,,1,1,,0x12,passed\n8,median,\"a \"\"b\"\", c\",1,,0.5,0x12,passed\n" +
		"1,median,,1,1,,0x12,passed\n"
	if rows != want {
		t.Errorf("\n%s\nwant:\n%s", rows, want)
	}
}

func TestASeriesIsAFileOfLongRows(t *testing.T) {
	v := ran(3, gains.Point(1), map[string]float64{"wait": 2})
	v.Measures = append(v.Measures, batch.Measure{Name: "fee", Unit: "wei", Samples: []float64{10, 12}, Mean: 11, At: []types.Height{5, 6}})
	rows, series := rowsOf(t, gains, v, v)
	if want := "gain,rule,seed,wait,fee,digest,verdict\n1,mean,3,2,11,0x12,passed\n1,mean,3,2,11,0x12,passed\n"; rows != want {
		t.Errorf("\n%s\nwant:\n%s", rows, want)
	}
	once := "1,mean,3,fee,wei,5,10\n1,mean,3,fee,wei,6,12\n"
	if want := "gain,rule,seed,measure,unit,at,value\n" + once + once; series != want {
		t.Errorf("\n%s\nwant:\n%s", series, want)
	}
}

// The series of an earlier experiment does not stay beside the rows of this one.
func TestAnEarlierSeriesGoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	if err := os.WriteFile(SeriesPath(path), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := CreateRows(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(SeriesPath(path)); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
}

func TestAFileThatIsNoneIsRefused(t *testing.T) {
	if _, err := CreateRows(os.DevNull, nil); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Error(err)
	}
}

func TestAMeasureIsNotCalledAsAColumn(t *testing.T) {
	for _, name := range []string{"gain", "seed", "digest", "verdict"} {
		r, err := CreateRows(filepath.Join(t.TempDir(), "out.csv"), gains)
		if err != nil {
			t.Fatal(err)
		}
		v := ran(1, gains.Point(0), nil)
		v.Measures = []batch.Measure{{Name: name, Samples: []float64{1}}}
		if err := r.Add(v); err == nil || !strings.Contains(err.Error(), "give the measure another name") {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What is kept of a hundred thousand runs is what is kept of a thousand.
func TestRunsLeaveNothingInMemory(t *testing.T) {
	s := NewStudy("a.star", gains)
	r, err := CreateRows(filepath.Join(t.TempDir(), "out.csv"), gains)
	if err != nil {
		t.Fatal(err)
	}
	take := func(seeds, from int) uint64 {
		for seed := range seeds {
			for at := range gains.Size() {
				v := ran(uint64(from+seed), gains.Point(at), map[string]float64{"wait": float64(seed % 7), "share": float64(at)})
				v.Measures = append(v.Measures, batch.Measure{Name: "fee", Samples: []float64{1, 2}, Mean: 1.5, At: []types.Height{1, 2}})
				if err := errors.Join(s.Add(batch.Job{Point: at}, v), r.Add(v)); err != nil {
					t.Fatal(err)
				}
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := take(250, 0)
	after := take(25_000, 250)
	if after > before+256<<10 {
		t.Errorf("the heap has %d bytes after 1000 runs, and %d after 101,000", before, after)
	}
	if got := s.Points()[0].Measures[0].Seeds; got != 25_250 {
		t.Errorf("%d seeds", got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// drawnStudy is one with two figures over two settings.
func drawnStudy(t *testing.T) *Study {
	t.Helper()
	grid := Grid{{"rule", []string{"median", "mean & <age>"}}, {"gain", []string{"1", "2", "4", "8"}}}
	s := NewStudy("fixtures/a.star", grid)
	for seed := range 6 {
		for at := range grid.Size() {
			noise := float64((seed*7+at*3)%5) - 2
			figures := map[string]float64{"wait": 20 - 2*float64(at%4) + float64(at/4)*3 + noise, "share": float64(at)/10 + noise/50}
			if at == 6 {
				delete(figures, "share") // a gap
			}
			if err := s.Add(batch.Job{Point: at}, ran(uint64(seed), grid.Point(at), figures)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func TestAPictureIsTheSameEachTime(t *testing.T) {
	var one, other bytes.Buffer
	for _, out := range []*bytes.Buffer{&one, &other} {
		if without, err := drawnStudy(t).Draw(out); err != nil || without != nil {
			t.Fatal(without, err)
		}
	}
	if !bytes.Equal(one.Bytes(), other.Bytes()) {
		t.Error("two pictures of one study differ")
	}
	for _, want := range []string{"<svg", "wait (blocks)", "share (blocks)", "gain", "rule = median", "rule = mean &amp; &lt;age&gt;",
		"mean and 95 % interval over 6 seeds", "sans-serif"} {
		if !strings.Contains(one.String(), want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

func TestAPictureNeedsNumbersAndFewLines(t *testing.T) {
	many := Axis{Name: "rule"}
	for i := range maxLines + 1 {
		many.Values = append(many.Values, "r"+formatPlain(float64(i)))
	}
	gain := Axis{"gain", []string{"1", "8"}}
	for want, grid := range map[string]Grid{"needs a setting with several numbers": {{"gain", []string{"8"}}, {"rule", []string{"a", "b"}}},
		"13 lines, and a picture has at most 12": {gain, many}, "gain has a larger one": {{"gain", []string{"1", "1e101"}}}} {
		if err := CheckDraw(grid); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := CheckDraw(Grid{{"rule", []string{"a", "b"}}, gain}); err != nil {
		t.Error(err)
	}
}

// Whatever the figures and names are, a picture comes out, up to numbers that no axis has.
func TestAnyFiguresCanBeDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grid := Grid{{"gain", []string{"1", "2", "1e99"}}, {"rule", []string{"", "x\x00\n"}}}
		s := NewStudy(rapid.String().Draw(t, "file"), grid)
		for seed := range rapid.IntRange(1, 3).Draw(t, "seeds") {
			for at := range grid.Size() {
				if !rapid.Bool().Draw(t, "has") {
					continue
				}
				v := ran(uint64(seed), grid.Point(at), map[string]float64{"wait": rapid.Float64Range(-1e98, 1e98).Draw(t, "figure")})
				if err := s.Add(batch.Job{Point: at}, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		var out bytes.Buffer
		if _, err := s.Draw(&out); err != nil {
			t.Fatal(err)
		}
	})
}
