package lab

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// Results are the means of an experiment.
type Results struct {
	*Experiment
	Rows   []Row
	Points []Result // those with rows
	Forms  []Form
	Twins  []Twin // of the points that are played on a network
	// Sequential says that points stopped when they were settled, so that their intervals
	// are those of several looks.
	Sequential bool
	Answer     Answer
}

// Result is a point with its figures.
type Result struct {
	Point
	Estimates []Estimate // by measure
	Settled   bool       // each interval is as narrow as its measure asks for
}

// Form is a closed form beside the figure that it foretells.
type Form struct {
	Point     Point
	Measure   int
	Value     float64
	Tolerance float64
	Seen      Estimate // with the interval of the judgement
}

// IsJudged reports whether there are seeds enough for an interval.
func (f Form) IsJudged() bool { return !math.IsInf(f.Seen.Half(), 0) }

// Holds reports whether the figure is where the form says; true where it is not judged.
func (f Form) Holds() bool { return math.Abs(f.Seen.Mean-f.Value) <= f.Seen.Half()+f.Tolerance }

// Answer is what an experiment says.
type Answer struct {
	Text        string // the answer in a sentence or two
	Price       string // what who follows it gives up or pays
	Design      string // what it changes of the drafts; "": nothing
	WouldChange string // what would change the answer
}

// Judge sums rows. Its error is a mistake of the file's closed_form or answer. A missed form
// is no error: Misses lists it.
func (e *Experiment) Judge(rows []Row, sequential bool) (*Results, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no rows: devnet lab run %s makes them", e.Name, e.Name)
	}
	r := &Results{Experiment: e, Rows: rows, Sequential: sequential}
	confidence := shown
	if sequential {
		confidence = looked
	}
	all := map[int][][]float64{} // by point and measure
	for _, p := range e.points {
		figures := make([][]float64, len(e.Measures))
		for _, row := range rows {
			if row.Point == p.Index {
				for i, f := range row.Figures {
					figures[i] = append(figures[i], f)
				}
			}
		}
		if len(figures[0]) == 0 {
			continue
		}
		all[p.Index] = figures
		one := Result{Point: p, Settled: true}
		for i, m := range e.Measures {
			one.Estimates = append(one.Estimates, m.estimateFrom(figures[i], confidence))
			if m.Precision > 0 && !(one.Estimates[i].Half() <= m.Precision) {
				one.Settled = false
			}
		}
		r.Points = append(r.Points, one)
		if err := r.addForms(p, figures); err != nil {
			return nil, err
		}
	}
	if err := r.findTwins(all); err != nil {
		return nil, err
	}
	return r, r.askForAnswer()
}

// addForms asks for the closed forms of a point.
func (r *Results) addForms(p Point, figures [][]float64) error {
	if r.closed == nil {
		return nil
	}
	value, err := starlark.Call(newThread(r.Name), r.closed, starlark.Tuple{r.pointValue(p)}, nil)
	if err != nil {
		return fmt.Errorf("%s: closed_form: %w", r.Name, withPosition(err))
	}
	if value == starlark.None {
		return nil
	}
	forms, isDict := value.(*starlark.Dict)
	if !isDict {
		return fmt.Errorf("%s: closed_form returns a dict like dict(share = (0.5, 0.01)), or None; got %s", r.Name, value.Type())
	}
	for _, item := range forms.Items() {
		at := r.measureAt(plainText(item[0]))
		pair, isPair := item[1].(starlark.Tuple)
		if at < 0 || !isPair || len(pair) != 2 {
			return fmt.Errorf("%s: closed_form gives a measure its value and a tolerance; got %s: %s", r.Name, item[0], item[1])
		}
		form := Form{Point: p, Measure: at, Seen: r.Measures[at].estimateForForm(figures[at])}
		if form.Value, err = readFigure("a closed form", pair[0]); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		if form.Tolerance, err = readFigure("a tolerance", pair[1]); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		r.Forms = append(r.Forms, form)
	}
	return nil
}

// Misses are the closed forms that the figures do not hold.
func (r *Results) Misses() (missed []Form) {
	for _, f := range r.Forms {
		if !f.Holds() {
			missed = append(missed, f)
		}
	}
	return missed
}

// countJudgedForms is how many closed forms are judged.
func (r *Results) countJudgedForms() (n int) {
	for _, f := range r.Forms {
		if f.IsJudged() {
			n++
		}
	}
	return n
}

// Settled reports whether each point is.
func (r *Results) Settled() bool {
	return !slices.ContainsFunc(r.Points, func(p Result) bool { return !p.Settled })
}

// askForAnswer asks the file for its answer, if all points are there.
func (r *Results) askForAnswer() error {
	if r.answer == nil || len(r.Points) < len(r.points) {
		return nil
	}
	value, err := starlark.Call(newThread(r.Name), r.answer, starlark.Tuple{&table{r}}, nil)
	if err != nil {
		return fmt.Errorf("%s: answer: %w", r.Name, withPosition(err))
	}
	if text, isText := starlark.AsString(value); isText {
		r.Answer.Text = text
		return nil
	}
	words, isDict := value.(*starlark.Dict)
	if !isDict {
		return fmt.Errorf("%s: answer returns a text, or dict(text = …, price = …, design = …, would_change = …); got %s", r.Name, value.Type())
	}
	for _, item := range words.Items() {
		to := map[string]*string{"text": &r.Answer.Text, "price": &r.Answer.Price, "design": &r.Answer.Design,
			"would_change": &r.Answer.WouldChange}[plainText(item[0])]
		if to == nil {
			return fmt.Errorf("%s: answer has text, price, design and would_change; got %s", r.Name, item[0])
		}
		*to = plainText(item[1])
	}
	return nil
}

// table is the results as answer sees them: t.at(rule = "written").share.
type table struct{ of *Results }

// String implements starlark.Value, as do the four below.
func (*table) String() string        { return "table" }
func (*table) Type() string          { return "table" }
func (*table) Freeze()               {}
func (*table) Truth() starlark.Bool  { return true }
func (*table) Hash() (uint32, error) { return 0, errors.New("a table cannot be a key") }

// AttrNames implements starlark.HasAttrs.
func (*table) AttrNames() []string { return []string{"at", "difference", "forms", "held"} }

// Attr implements starlark.HasAttrs.
func (t *table) Attr(name string) (starlark.Value, error) {
	switch name {
	case "at":
		return starlark.NewBuiltin("t.at", t.valueAt), nil
	case "difference":
		return starlark.NewBuiltin("t.difference", t.differenceOf), nil
	case "forms":
		return starlark.MakeInt(len(t.of.Forms)), nil
	case "held":
		return starlark.MakeInt(len(t.of.Forms) - len(t.of.Misses())), nil
	}
	return nil, nil
}

func (t *table) valueAt(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	want := map[string]string{}
	for _, pair := range kwargs {
		want[plainText(pair[0])] = plainText(pair[1])
	}
	found, err := t.of.pointsWith(want)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 || len(found) != 1 {
		return nil, fmt.Errorf("t.at names one point by its axes; %v is %d points", want, len(found))
	}
	for _, p := range t.of.Points {
		if p.Index != found[0].Index {
			continue
		}
		fields := starlark.StringDict{}
		for i, m := range t.of.Measures {
			fields[m.Name] = estimateValue(p.Estimates[i])
		}
		return starlarkstruct.FromStringDict(starlark.String("figures"), fields), nil
	}
	return nil, fmt.Errorf("the point %s has no rows", t.of.Describe(found[0]))
}

// differenceOf is t.difference(measure, of, less): what a point has more than another, each named by its axes, paired by seed.
func (t *table) differenceOf(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	var measure string
	of, less := new(starlark.Dict), new(starlark.Dict)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "measure", &measure, "of", &of, "less", &less); err != nil {
		return nil, err
	}
	at := t.of.measureAt(measure)
	if at < 0 {
		return nil, fmt.Errorf("%s: there is no measure %q", b.Name(), measure)
	}
	first, err := t.figuresBySeed(at, of)
	if err != nil {
		return nil, err
	}
	second, err := t.figuresBySeed(at, less)
	if err != nil {
		return nil, err
	}
	var differences []float64
	for _, seed := range slices.Sorted(maps.Keys(first)) {
		if other, paired := second[seed]; paired {
			differences = append(differences, first[seed]-other)
		}
	}
	if len(differences) == 0 {
		return nil, fmt.Errorf("%s: the two points have no seed in common", b.Name())
	}
	return estimateValue(estimateMean(differences, shown)), nil
}

// figuresBySeed are the figures of a measure at the one point with some values.
func (t *table) figuresBySeed(measure int, axes *starlark.Dict) (map[uint64]float64, error) {
	want := map[string]string{}
	for _, item := range axes.Items() {
		want[plainText(item[0])] = plainText(item[1])
	}
	found, err := t.of.pointsWith(want)
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("t.difference names two points by their axes; %v is %d points", want, len(found))
	}
	figures := map[uint64]float64{}
	for _, row := range t.of.Rows {
		if row.Point == found[0].Index {
			figures[row.Seed] = row.Figures[measure]
		}
	}
	return figures, nil
}

// threeDigits is a figure for a sentence: three digits that say something, or all of a large whole part.
func threeDigits(x float64) string {
	if math.Abs(x) >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

func estimateValue(e Estimate) starlark.Value {
	return starlarkstruct.FromStringDict(starlark.String("estimate"), starlark.StringDict{"mean": starlark.Float(e.Mean),
		"low": starlark.Float(e.Low), "high": starlark.Float(e.High), "seeds": starlark.MakeInt(e.Seeds), "text": starlark.String(e.String()),
		"figure": starlark.String(threeDigits(e.Mean))})
}
