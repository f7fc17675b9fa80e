package scenario

import (
	"math"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of the measures of a run: a verdict holds all samples until the end of a batch.
const (
	MaxMeasures = 64
	MaxSamples  = 10_000 // of all measures of a run
	maxMeasure  = 64     // characters of a name or a unit
)

// Measure is a figure of a script: its samples, in the order in which the script gave them.
type Measure struct {
	Name    string
	Unit    string // "" if the script gave none
	Samples []float64
	At      []types.Height // of each sample of a series, rising; nil of other measures
}

func doMeasure(c *call) (starlark.Value, error) {
	name, unit := argOf[string](c, "name"), argOf[string](c, "unit")
	if name == "" || len([]rune(name)) > maxMeasure || len([]rune(unit)) > maxMeasure {
		return nil, newMistake("measure: a name has 1 to %d characters, and a unit at most as many; got %q and %q", maxMeasure, name, unit)
	}
	samples, err := samplesOf(name, argOf[starlark.Value](c, "value"))
	if err != nil {
		return nil, err
	}
	m, err := c.r.findOrAddMeasure(name, unit)
	if err != nil {
		return nil, err
	}
	if replaced, err := c.placeSample(m, samples); replaced || err != nil {
		return starlark.None, err
	}
	if c.r.samples += len(samples); c.r.samples > MaxSamples {
		return nil, newMistake("measure: a run takes at most %d samples; this is sample %d", MaxSamples, c.r.samples)
	}
	m.Samples = append(m.Samples, samples...)
	return starlark.None, nil
}

// placeSample takes the height of a sample of a series. A second sample of the last height takes
// the place of the first, and is replaced then.
func (c *call) placeSample(m *Measure, samples []float64) (replaced bool, err error) {
	series := c.hasArgument("at")
	if len(m.Samples) > 0 && series != (m.At != nil) {
		return false, newMistake("measure: %q has samples with and without at; give one of the two another name", m.Name)
	}
	if !series {
		return false, nil
	}
	at := argOf[types.Height](c, "at")
	if _, one := argOf[starlark.Value](c, "value").(starlark.Sequence); one {
		return false, newMistake("measure: with at %q takes one number a height; got a list", m.Name)
	}
	if last := len(m.At) - 1; last >= 0 {
		switch {
		case at < m.At[last]:
			return false, newMistake("measure: %q has a figure at height %d, and this one is at %d; another network needs another name", m.Name,
				m.At[last], at)
		case at == m.At[last]:
			m.Samples[last] = samples[0]
			return true, nil
		}
	}
	m.At = append(m.At, at)
	return false, nil
}

// findOrAddMeasure finds or adds a measure of the run.
func (r *runtime) findOrAddMeasure(name, unit string) (*Measure, error) {
	for i := range r.report.Measures {
		if m := &r.report.Measures[i]; m.Name == name {
			if m.Unit != unit {
				return nil, newMistake("measure: the unit of %q was %q before; got %q", name, m.Unit, unit)
			}
			return m, nil
		}
	}
	if len(r.report.Measures) == MaxMeasures {
		return nil, newMistake("measure: a run has at most %d names; %q is one more", MaxMeasures, name)
	}
	r.report.Measures = append(r.report.Measures, Measure{Name: name, Unit: unit})
	return &r.report.Measures[len(r.report.Measures)-1], nil
}

// samplesOf reads a number, or a list of numbers.
func samplesOf(name string, v starlark.Value) ([]float64, error) {
	list, isList := v.(starlark.Sequence)
	if !isList {
		one, err := sampleOf(name, v)
		return []float64{one}, err
	}
	if list.Len() > MaxSamples {
		return nil, newMistake("measure: a run takes at most %d samples; got %d", MaxSamples, list.Len())
	}
	var all []float64
	var one starlark.Value
	each := list.Iterate()
	defer each.Done()
	for each.Next(&one) {
		sample, err := sampleOf(name, one)
		if err != nil {
			return nil, err
		}
		all = append(all, sample)
	}
	return all, nil
}

func sampleOf(name string, v starlark.Value) (float64, error) {
	_, isBool := v.(starlark.Bool)
	sample, isNumber := starlark.AsFloat(v)
	if !isNumber || isBool || math.IsNaN(sample) || math.IsInf(sample, 0) {
		return 0, newMistake("measure: %q takes a finite number, or a list of them; got %.40s", name, v.String())
	}
	return sample, nil
}
