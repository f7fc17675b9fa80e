// Package experiment makes figures of many runs: a scenario at the points of a grid of
// settings, each with the same seeds. It has the rows of results, the means with their
// intervals, the differences between points, and a picture of them.
//
// What it keeps does not grow with the number of runs. It reads verdicts in the order
// of their jobs: all points of one seed, then those of the next.
package experiment

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
)

// MaxPoints bounds a grid: the sums of all of its points are kept.
const MaxPoints = 10_000

// Axis is a setting with the values that it takes.
type Axis struct {
	Name   string
	Values []string
}

// Grid is all combinations of the values of its axes. The last axis moves first. A grid
// without axes has one point.
type Grid []Axis

// ReadGrid reads words like gain=1,8. Its error says what is wrong with which.
func ReadGrid(words []string) (g Grid, err error) {
	for _, word := range words {
		name, list, found := strings.Cut(word, "=")
		if !found {
			return nil, fmt.Errorf("%.80q has no =", word)
		}
		if slices.ContainsFunc(g, func(a Axis) bool { return a.Name == name }) {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		axis := Axis{Name: name, Values: strings.Split(list, ",")}
		for i, value := range axis.Values {
			if len(value) > scenario.MaxSettingBytes {
				return nil, fmt.Errorf("%s has a value of %d bytes, and at most %d are allowed", name, len(value), scenario.MaxSettingBytes)
			}
			if slices.Contains(axis.Values[:i], value) {
				return nil, fmt.Errorf("%s has the value %q twice", name, value)
			}
		}
		g = append(g, axis)
	}
	if len(g) > scenario.MaxSettings {
		return nil, fmt.Errorf("there are %d settings, and at most %d are allowed", len(g), scenario.MaxSettings)
	}
	if size := g.Size(); size > MaxPoints {
		return nil, fmt.Errorf("the grid has more than %d points", MaxPoints)
	}
	return g, nil
}

// Size is the number of points, or one more than MaxPoints if there are more.
func (g Grid) Size() int {
	size := 1
	for _, axis := range g {
		if size *= len(axis.Values); size > MaxPoints {
			return MaxPoints + 1
		}
	}
	return size
}

// Point returns the settings of a point, from 0 on.
func (g Grid) Point(at int) []scenario.Setting {
	all := make([]scenario.Setting, len(g))
	for i := len(g) - 1; i >= 0; i-- {
		values := g[i].Values
		all[i] = scenario.Setting{Name: g[i].Name, Text: values[at%len(values)]}
		at /= len(values)
	}
	return all
}

// valueAt is which value an axis has at a point.
func (g Grid) valueAt(at, axis int) int {
	for i := len(g) - 1; i > axis; i-- {
		at /= len(g[i].Values)
	}
	return at % len(g[axis].Values)
}

// Settings are all values of all axes, each as a setting.
func (g Grid) Settings() (all []scenario.Setting) {
	for _, axis := range g {
		for _, value := range axis.Values {
			all = append(all, scenario.Setting{Name: axis.Name, Text: value})
		}
	}
	return all
}

// Jobs are the runs of a scenario: for each seed all points.
func (g Grid) Jobs(file string, seeds iter.Seq[*uint64]) iter.Seq[batch.Job] {
	return func(yield func(batch.Job) bool) {
		size := g.Size()
		for seed := range seeds {
			for at := range size {
				if !yield(batch.Job{File: file, Seed: seed, Settings: g.Point(at), Point: at}) {
					return
				}
			}
		}
	}
}

// numericValues returns the values of an axis as numbers; ok is that all of them are.
func (a Axis) numericValues() (all []float64, ok bool) {
	for _, value := range a.Values {
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || n-n != 0 {
			return nil, false
		}
		all = append(all, n)
	}
	return all, true
}

// Numeric is the first axis with several values that are all numbers; -1 without one.
func (g Grid) Numeric() int {
	return slices.IndexFunc(g, func(a Axis) bool {
		_, ok := a.numericValues()
		return ok && len(a.Values) > 1
	})
}
