package experiment

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
)

// MaxMeasures bounds the names of figures of one scenario over all of its runs: of each the
// sums of all points are kept.
const MaxMeasures = 64

// Study is the figures of one scenario at the points of a grid. A run's figure is the
// mean of the samples that it gave to one name of measure(…).
type Study struct {
	File     string
	grid     Grid
	measures []measure
	points   [][]figures // by point, then by measure
	first    map[string]float64
	seed     uint64 // whose figures at the first point first has
	t        quantiles
}

// measure is a name of measure(…) with its unit.
type measure struct{ name, unit string }

// figures are the sums of one measure at one point.
type figures struct {
	own  sums
	less sums // less the figure of the same seed at the first point
}

// NewStudy makes the study of a scenario, before any of its runs.
func NewStudy(file string, grid Grid) *Study {
	return &Study{File: file, grid: grid, points: make([][]figures, grid.Size())}
}

// Add takes the next verdict. All points of a seed come before the next seed. A run that
// failed has no figures.
func (s *Study) Add(j batch.Job, v *batch.Verdict) error {
	if v.Failed() {
		return nil
	}
	if j.Point == 0 {
		s.first, s.seed = map[string]float64{}, v.Seed
	}
	for i := range v.Measures {
		m := &v.Measures[i]
		if len(m.Samples) == 0 {
			continue
		}
		at, err := s.findOrAddMeasure(measure{m.Name, m.Unit})
		if err != nil {
			return err
		}
		for len(s.points[j.Point]) <= at {
			s.points[j.Point] = append(s.points[j.Point], figures{})
		}
		f := &s.points[j.Point][at]
		f.own.addFigure(m.Mean)
		if j.Point == 0 {
			s.first[m.Name] = m.Mean
		} else if base, paired := s.first[m.Name]; paired && s.seed == v.Seed {
			f.less.addFigure(m.Mean - base)
		}
	}
	return nil
}

// findOrAddMeasure finds or adds a measure.
func (s *Study) findOrAddMeasure(m measure) (at int, err error) {
	if at = slices.IndexFunc(s.measures, func(one measure) bool { return one.name == m.name }); at >= 0 {
		if s.measures[at] != m {
			return 0, fmt.Errorf("%s: the unit of %q is %q in one run and %q in another", s.File, m.name, s.measures[at].unit, m.unit)
		}
		return at, nil
	}
	if len(s.measures) == MaxMeasures {
		return 0, fmt.Errorf("%s: all runs together have at most %d names of figures; %q is one more", s.File, MaxMeasures, m.name)
	}
	s.measures = append(s.measures, m)
	return len(s.measures) - 1, nil
}

// Point is what the runs of one point came to.
type Point struct {
	File     string             `json:"file"`
	Settings []scenario.Setting `json:"settings"`
	Measures []Figure           `json:"measures"` // in the order of their first use
}

// Figure is one measure at a point.
type Figure struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	Estimate
	// LessFirst is this point's figure less the first point's, by pairs of one seed; nil at
	// the first point, and without a pair.
	LessFirst *Estimate `json:"less_first,omitempty"`
}

// Points are the results, in the order of the grid.
func (s *Study) Points() []Point {
	all := make([]Point, len(s.points))
	for at := range s.points {
		all[at] = Point{File: s.File, Settings: s.grid.Point(at), Measures: []Figure{}}
		for i := range s.points[at] {
			if f := &s.points[at][i]; f.own.n > 0 {
				all[at].Measures = append(all[at].Measures, s.figureOf(i, f))
			}
		}
	}
	return all
}

func (s *Study) figureOf(i int, f *figures) Figure {
	one := Figure{Name: s.measures[i].name, Unit: s.measures[i].unit, Estimate: f.own.estimateMean(&s.t)}
	if f.less.n > 0 {
		less := f.less.estimateMean(&s.t)
		one.LessFirst = &less
	}
	return one
}

// HasFigures reports whether a run that passed gave one.
func (s *Study) HasFigures() bool { return len(s.measures) > 0 }

// Tell prints the results as a table, measure by measure; nothing without figures.
func (s *Study) Tell(w io.Writer) {
	if len(s.measures) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := []string{"MEASURE", "UNIT"}
	for _, axis := range s.grid {
		head = append(head, axis.Name)
	}
	fmt.Fprintln(t, strings.Join(append(head, "SEEDS", "MEAN ± 95 %", "LESS THE FIRST", "PAIRS"), "\t"))
	for i, m := range s.measures {
		for at := range s.points {
			if len(s.points[at]) <= i || s.points[at][i].own.n == 0 {
				continue
			}
			f := s.figureOf(i, &s.points[at][i])
			row := []string{m.name, cmp.Or(m.unit, "-")}
			for _, setting := range s.grid.Point(at) {
				row = append(row, cmp.Or(setting.Text, `""`))
			}
			row = append(row, strconv.Itoa(f.Seeds), f.Estimate.String())
			if f.LessFirst != nil {
				row = append(row, f.LessFirst.String(), strconv.Itoa(f.LessFirst.Seeds))
			} else {
				row = append(row, "-", "-")
			}
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
	}
	_ = t.Flush()
}

// String is an estimate for people: two digits of the interval, and the mean to the same
// decimal.
func (e Estimate) String() string {
	if e.HalfWidth == nil {
		return batch.FourDigits(e.Mean)
	}
	half := *e.HalfWidth
	decimals := 0
	switch {
	case half <= math.Abs(e.Mean)*1e-12: // nothing, or what floats leave of nothing
		return formatPlain(e.Mean) + " ± 0"
	case half >= 1e15 || half < 1e-12:
		return batch.FourDigits(e.Mean) + " ± " + strconv.FormatFloat(half, 'g', 2, 64)
	case half < 10:
		decimals = 1 - int(math.Floor(math.Log10(half)))
	}
	return strconv.FormatFloat(e.Mean, 'f', decimals, 64) + " ± " + strconv.FormatFloat(half, 'f', decimals, 64)
}

// formatPlain is a number without an exponent where that is readable.
func formatPlain(f float64) string {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
