// Package lab answers questions with experiments: a grid of points, of which each is played
// with several seeds in a bare world, and the means of its figures with their intervals.
//
// An experiment is one file of Starlark (docs/LAB.md). Play makes one row of results, Plan
// those that are missing from a folder, Judge the means, and Page what people read.
package lab

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	starlarkmath "go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/bare/crowd"
)

// Limits of an experiment.
const (
	maxAxes     = 8
	maxPoints   = 1_000
	maxMeasures = 32
	maxPlots    = 12
	maxBytes    = 1 << 20
	maxSteps    = 50_000_000 // of Starlark, of one call
)

// Experiment is a question with the runs that answer it.
type Experiment struct {
	Name     string
	Title    string
	Question string
	Setup    string   // who does what in a run, in a sentence or two
	Asks     []string // sections and findings
	Axes     []Axis
	Measures []Measure
	Plots    []Plot
	Text     []byte // of its file
	// Network opens the world of points with world = "network"; nil: this program has none.
	Network crowd.Opener

	played                             []byte // the text that rows depend on: all but answer
	points                             []Point
	quick                              map[string][]starlark.Value
	play, params, skip, closed, answer starlark.Callable
}

// Axis is a coordinate of the grid.
type Axis struct {
	Name   string
	Unit   string           // what its values are; "": they say it themselves
	Values []starlark.Value // whole numbers, texts, True or False
}

// Measure is a figure of a row.
type Measure struct {
	Name, Unit string
	// Precision is half the width of an interval that is narrow enough; 0: any.
	Precision float64
	// Median says that seeds are summed by their median, not by their mean.
	Median bool
}

// Plot is a picture of a measure.
type Plot struct {
	Measure, X, Line, Panel string
	LogX, LogY              bool
	Where                   map[string]starlark.Value // which points
}

// Point is a place in the grid.
type Point struct {
	Index  int
	Values []starlark.Value // by axis
}

var dialect = &syntax.FileOptions{Set: true, GlobalReassign: true}

// Load reads an experiment. Its error says where the file is wrong.
func Load(name string, text []byte) (*Experiment, error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("%s has %d bytes, at most %d", name, len(text), maxBytes)
	}
	e := &Experiment{Name: name, Text: text}
	var err error
	if e.played, err = cutAnswer(name, text); err != nil {
		return nil, err
	}
	thread := newThread(name)
	defined, err := starlark.ExecFileOptions(dialect, thread, name+"/experiment.star", text, starlark.StringDict{
		"experiment":    starlark.NewBuiltin("experiment", e.declareExperiment),
		"measures":      starlark.NewBuiltin("measures", e.declareMeasures),
		"plot":          starlark.NewBuiltin("plot", e.declarePlot),
		"best_response": starlark.NewBuiltin("best_response", bestResponse),
		"gas_agent":     starlark.NewBuiltin("gas_agent", gasAgent),
		"ln":            starlark.NewBuiltin("ln", naturalLogarithm),
		"math":          starlarkmath.Module,
	})
	if err != nil {
		return nil, withPosition(err)
	}
	defined.Freeze()
	e.closed, _ = defined["closed_form"].(starlark.Callable)
	e.answer, _ = defined["answer"].(starlark.Callable)
	if e.play, _ = defined["play"].(starlark.Callable); e.play == nil {
		return nil, fmt.Errorf("%s has no function play(p, net), which makes the figures of a row", name)
	}
	if e.Title == "" {
		return nil, fmt.Errorf("%s does not call experiment(title = …, question = …, grid = …)", name)
	}
	if len(e.Measures) == 0 {
		return nil, fmt.Errorf("%s does not call measures(NAME = dict(unit = …))", name)
	}
	return e, e.checkPlots(thread)
}

// cutAnswer is the text without its function answer, which reads rows and makes none.
func cutAnswer(name string, text []byte) ([]byte, error) {
	file, err := dialect.Parse(name+"/experiment.star", text, 0)
	if err != nil {
		return nil, err
	}
	for _, statement := range file.Stmts {
		if def, is := statement.(*syntax.DefStmt); is && def.Name.Name == "answer" {
			begin, end := def.Span()
			lines := bytes.SplitAfter(text, []byte("\n"))
			return bytes.Join(slices.Concat(lines[:begin.Line-1], lines[min(int(end.Line), len(lines)):]), nil), nil
		}
	}
	return text, nil
}

// newThread is one for a call of a file's function.
func newThread(name string) *starlark.Thread {
	thread := &starlark.Thread{Name: name, Print: func(*starlark.Thread, string) {}}
	thread.SetMaxExecutionSteps(maxSteps)
	return thread
}

// withPosition adds where a script failed.
func withPosition(err error) error {
	var failed *starlark.EvalError
	if errors.As(err, &failed) {
		for i := range failed.CallStack {
			if at := failed.CallStack.At(i).Pos; at.Line > 0 {
				return fmt.Errorf("%s: %w", at, err)
			}
		}
	}
	return err
}

func (e *Experiment) declareExperiment(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (
	starlark.Value, error) {
	var asks *starlark.List
	grid, quick, units := new(starlark.Dict), new(starlark.Dict), new(starlark.Dict)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "title", &e.Title, "question", &e.Question, "grid", &grid, "asks?", &asks,
		"quick?", &quick, "params?", &e.params, "skip?", &e.skip, "setup?", &e.Setup, "units?", &units); err != nil {
		return nil, err
	}
	if asks != nil {
		for i := range asks.Len() {
			e.Asks = append(e.Asks, plainText(asks.Index(i)))
		}
	}
	axes, err := axesOf(grid)
	if err != nil {
		return nil, err
	}
	few, err := axesOf(quick)
	if err != nil {
		return nil, err
	}
	for _, item := range units.Items() {
		at := slices.IndexFunc(axes, func(a Axis) bool { return a.Name == plainText(item[0]) })
		if at < 0 {
			return nil, fmt.Errorf("units names %q, which is no axis of the grid", plainText(item[0]))
		}
		axes[at].Unit = plainText(item[1])
	}
	e.Axes, e.quick = axes, map[string][]starlark.Value{}
	for _, axis := range few {
		at := slices.IndexFunc(axes, func(a Axis) bool { return a.Name == axis.Name })
		if at < 0 {
			return nil, fmt.Errorf("quick names %q, which is no axis of the grid", axis.Name)
		}
		for _, v := range axis.Values {
			if !slices.ContainsFunc(axes[at].Values, func(w starlark.Value) bool { return plainText(v) == plainText(w) }) {
				return nil, fmt.Errorf("quick has %s = %s, which is not in the grid", axis.Name, plainText(v))
			}
		}
		e.quick[axis.Name] = axis.Values
	}
	return starlark.None, nil
}

func axesOf(grid *starlark.Dict) (axes []Axis, err error) {
	for _, item := range grid.Items() {
		name, isText := starlark.AsString(item[0])
		list, isList := item[1].(*starlark.List)
		if !isText || !isList || list.Len() == 0 {
			return nil, fmt.Errorf("a grid is like {\"parts\": [1, 10]}; got %s: %s", item[0], item[1])
		}
		axis := Axis{Name: name}
		for i := range list.Len() {
			v := list.Index(i)
			switch v.(type) {
			case starlark.Int, starlark.String, starlark.Bool:
			default:
				return nil, fmt.Errorf("a value of the grid is a whole number, a text, True or False; %s has a %s", name, v.Type())
			}
			axis.Values = append(axis.Values, v)
		}
		axes = append(axes, axis)
	}
	if len(axes) > maxAxes {
		return nil, fmt.Errorf("a grid has at most %d axes; got %d", maxAxes, len(axes))
	}
	return axes, nil
}

func (e *Experiment) declareMeasures(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	if len(args) > 0 || len(kwargs) == 0 || len(kwargs) > maxMeasures {
		return nil, fmt.Errorf("measures takes 1 to %d names, like share = dict(unit = \"of the fires\", precision = 0.01)", maxMeasures)
	}
	for _, pair := range kwargs {
		m := Measure{Name: plainText(pair[0])}
		terms, isDict := pair[1].(*starlark.Dict)
		if !isDict {
			return nil, fmt.Errorf("the terms of measure %s are a dict; got %s", m.Name, pair[1].Type())
		}
		for _, item := range terms.Items() {
			switch key := plainText(item[0]); key {
			case "unit":
				m.Unit = plainText(item[1])
			case "by":
				m.Median = plainText(item[1]) == "median"
			case "precision":
				f, isNumber := starlark.AsFloat(item[1])
				if !isNumber || !(f > 0) {
					return nil, fmt.Errorf("the precision of %s is a number above 0; got %s", m.Name, item[1])
				}
				m.Precision = f
			default:
				return nil, fmt.Errorf("a measure has unit, precision and by; %s has %q", m.Name, key)
			}
		}
		e.Measures = append(e.Measures, m)
	}
	return starlark.None, nil
}

func (e *Experiment) declarePlot(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	p, where := Plot{Where: map[string]starlark.Value{}}, new(starlark.Dict)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "measure", &p.Measure, "x", &p.X, "line?", &p.Line, "panel?", &p.Panel, "log_x?",
		&p.LogX, "log_y?", &p.LogY, "where?", &where); err != nil {
		return nil, err
	}
	for _, item := range where.Items() {
		p.Where[plainText(item[0])] = item[1]
	}
	if len(e.Plots) == maxPlots {
		return nil, fmt.Errorf("an experiment has at most %d plots", maxPlots)
	}
	e.Plots = append(e.Plots, p)
	return starlark.None, nil
}

// checkPlots sees that plots name what there is, and lists the points.
func (e *Experiment) checkPlots(thread *starlark.Thread) error {
	for _, p := range e.Plots {
		if e.measureAt(p.Measure) < 0 {
			return fmt.Errorf("%s: plot(%q): there is no such measure", e.Name, p.Measure)
		}
		for _, axis := range []string{p.X, p.Line, p.Panel} {
			if axis != "" && e.axisAt(axis) < 0 {
				return fmt.Errorf("%s: plot(%q): %q is no axis of the grid", e.Name, p.Measure, axis)
			}
		}
	}
	size := 1
	for _, axis := range e.Axes {
		if size *= len(axis.Values); size > maxPoints {
			return fmt.Errorf("%s: the grid has more than %d points", e.Name, maxPoints)
		}
	}
	for index := range size {
		point, rest := Point{Values: make([]starlark.Value, len(e.Axes))}, index
		for i := range slices.Backward(e.Axes) {
			n := len(e.Axes[i].Values)
			point.Values[i], rest = e.Axes[i].Values[rest%n], rest/n
		}
		if e.skip != nil {
			skipped, err := starlark.Call(thread, e.skip, starlark.Tuple{e.pointValue(point)}, nil)
			if err != nil {
				return fmt.Errorf("%s: skip: %w", e.Name, withPosition(err))
			}
			if bool(skipped.Truth()) {
				continue
			}
		}
		point.Index = len(e.points)
		e.points = append(e.points, point)
	}
	if len(e.points) == 0 {
		return fmt.Errorf("%s: skip leaves no point of the grid", e.Name)
	}
	return nil
}

// Points are those of the grid, or the few of a quick look.
func (e *Experiment) Points(quick bool) (points []Point) {
	for _, p := range e.points {
		if !quick || e.isQuick(p) {
			points = append(points, p)
		}
	}
	return points
}

func (e *Experiment) isQuick(p Point) bool {
	for i, axis := range e.Axes {
		few, limited := e.quick[axis.Name]
		if limited && !slices.ContainsFunc(few, func(v starlark.Value) bool { return plainText(v) == plainText(p.Values[i]) }) {
			return false
		}
	}
	return true
}

func (e *Experiment) axisAt(name string) int {
	return slices.IndexFunc(e.Axes, func(a Axis) bool { return a.Name == name })
}

func (e *Experiment) measureAt(name string) int {
	return slices.IndexFunc(e.Measures, func(m Measure) bool { return m.Name == name })
}

// pointValue is a point as functions of the file see it: p.parts.
func (e *Experiment) pointValue(p Point) starlark.Value {
	fields := starlark.StringDict{}
	for i, axis := range e.Axes {
		fields[axis.Name] = p.Values[i]
	}
	return starlarkstruct.FromStringDict(starlark.String("point"), fields)
}

// Describe is a point in words: rule=written parts=10.
func (e *Experiment) Describe(p Point) string {
	var words []string
	for i, axis := range e.Axes {
		words = append(words, axis.Name+"="+plainText(p.Values[i]))
	}
	return strings.Join(words, " ")
}

// FindPoint reads words like rule=written parts=10. Axes of one value need none.
func (e *Experiment) FindPoint(words []string) (Point, error) {
	want := map[string]string{}
	for _, word := range words {
		name, value, found := strings.Cut(word, "=")
		if !found || e.axisAt(name) < 0 {
			return Point{}, fmt.Errorf("%q is no value of an axis; the first point is %q", word, e.Describe(e.points[0]))
		}
		want[name] = value
	}
	found, err := e.pointsWith(want)
	switch {
	case err != nil:
		return Point{}, err
	case len(found) == 0:
		return Point{}, fmt.Errorf("no point has %s; the first is %q", strings.Join(words, " "), e.Describe(e.points[0]))
	case len(found) > 1:
		return Point{}, fmt.Errorf("%d points have %q; name all axes, like %q", len(found), strings.Join(words, " "), e.Describe(found[0]))
	}
	return found[0], nil
}

// pointsWith are the points with some values.
func (e *Experiment) pointsWith(want map[string]string) (found []Point, err error) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if e.axisAt(name) < 0 {
			return nil, fmt.Errorf("%q is no axis of %s", name, e.Name)
		}
	}
	for _, p := range e.points {
		fits := true
		for i, axis := range e.Axes {
			if value, named := want[axis.Name]; named && plainText(p.Values[i]) != value {
				fits = false
			}
		}
		if fits {
			found = append(found, p)
		}
	}
	return found, nil
}

// Key names a row: what it follows from, but the program.
func (e *Experiment) Key(p Point, seed uint64) string {
	hash := types.Keccak(e.played, []byte{0}, []byte(e.Describe(p)), []byte{0}, strconv.AppendUint(nil, seed, 10))
	return fmt.Sprintf("%x", hash[:8])
}

// plainText is a value as columns and words have it.
func plainText(v starlark.Value) string {
	if text, ok := starlark.AsString(v); ok {
		return text
	}
	return v.String()
}

// readFigure reads a figure.
func readFigure(name string, v starlark.Value) (float64, error) {
	f, isNumber := starlark.AsFloat(v)
	if _, isBool := v.(starlark.Bool); isBool || !isNumber || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%s is a finite number; got %.40s", name, v.String())
	}
	return f, nil
}
