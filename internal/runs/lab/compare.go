package lab

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// Difference is what a measure has more at one value of an axis than at another, paired by
// seed and by all other coordinates.
type Difference struct {
	At      string // the other coordinates
	Measure string
	Of      Estimate
}

// Compare pairs the rows of two values of an axis.
func (e *Experiment) Compare(rows []Row, axis, first, second string) (all []Difference, err error) {
	at := e.axisAt(axis)
	if at < 0 {
		return nil, fmt.Errorf("%q is no axis of %s", axis, e.Name)
	}
	for _, value := range []string{first, second} {
		if !slices.ContainsFunc(e.Axes[at].Values, func(v starlark.Value) bool { return plainText(v) == value }) {
			return nil, fmt.Errorf("%s has no value %q in %s", axis, value, e.Name)
		}
	}
	type place struct {
		other string
		seed  uint64
	}
	base := map[place]Row{}
	elsewhere := func(p Point) (words string) {
		for i, a := range e.Axes {
			if i != at {
				words += " " + a.Name + "=" + plainText(p.Values[i])
			}
		}
		return words
	}
	for _, r := range rows {
		if plainText(e.points[r.Point].Values[at]) == first {
			base[place{elsewhere(e.points[r.Point]), r.Seed}] = r
		}
	}
	differences := map[string][][]float64{}
	var order []string
	for _, r := range rows {
		if plainText(e.points[r.Point].Values[at]) != second {
			continue
		}
		other := elsewhere(e.points[r.Point])
		before, paired := base[place{other, r.Seed}]
		if !paired {
			continue
		}
		if differences[other] == nil {
			differences[other] = make([][]float64, len(e.Measures))
			order = append(order, other)
		}
		for i := range e.Measures {
			differences[other][i] = append(differences[other][i], r.Figures[i]-before.Figures[i])
		}
	}
	if len(order) == 0 {
		return nil, fmt.Errorf("no seed has rows at both %s=%s and %s=%s", axis, first, axis, second)
	}
	for _, other := range order {
		for i, m := range e.Measures {
			all = append(all, Difference{strings.TrimSpace(other), m.Name, estimateMean(differences[other][i], shown)})
		}
	}
	return all, nil
}
