package lab

import (
	"errors"
	"fmt"
	"math"

	"github.com/cowboyinc/devnet/internal/worlds/bare/crowd"
)

// worldAxis is the axis that says which world a point is played in. A point of the network is judged by its twin, the point of the bare
// world that is alike in all else.
const worldAxis = "world"

// Values of worldAxis.
const (
	bareWorld    = "bare"
	networkWorld = "network"
)

// worldOf is the world of a point.
func (e *Experiment) worldOf(p Point) string {
	if at := e.axisAt(worldAxis); at >= 0 {
		return plainText(p.Values[at])
	}
	return bareWorld
}

// openerOf opens the world of a point; nil for the bare one.
func (e *Experiment) openerOf(p Point) (crowd.Opener, error) {
	switch world := e.worldOf(p); {
	case world == bareWorld:
		return nil, nil
	case world != networkWorld:
		return nil, fmt.Errorf("the axis world has the values bare and network; got %s", world)
	case e.Network == nil:
		return nil, errors.New("this program has no network to play the point in")
	}
	return e.Network, nil
}

// Twin is a figure of a point of the network, and the same of the bare world. Their intervals are those of forms.
type Twin struct {
	Point         Point // of the network
	Measure       int
	Bare, Network Estimate
}

// Agrees reports whether the two intervals meet; true where one of them has too few seeds.
func (t Twin) Agrees() bool {
	return math.Abs(t.Bare.Mean-t.Network.Mean) <= t.Bare.Half()+t.Network.Half()
}

// IsJudged reports whether there are seeds enough for intervals.
func (t Twin) IsJudged() bool {
	return !math.IsInf(t.Bare.Half(), 0) && !math.IsInf(t.Network.Half(), 0)
}

// findTwins pairs the points of the network with those of the bare world.
func (r *Results) findTwins(figures map[int][][]float64) error {
	for _, p := range r.Points {
		if r.worldOf(p.Point) != networkWorld {
			continue
		}
		want := map[string]string{}
		for i, axis := range r.Axes {
			want[axis.Name] = plainText(p.Values[i])
		}
		want[worldAxis] = bareWorld
		found, err := r.pointsWith(want)
		if err != nil {
			return err
		}
		if len(found) != 1 {
			return fmt.Errorf("%s: the point %s has no twin of the bare world", r.Name, r.Describe(p.Point))
		}
		bare, made := figures[found[0].Index]
		if !made {
			continue
		}
		for i, m := range r.Measures {
			r.Twins = append(r.Twins, Twin{p.Point, i, m.estimateForForm(bare[i]), m.estimateForForm(figures[p.Index][i])})
		}
	}
	return nil
}

// Apart are the twins that do not agree.
func (r *Results) Apart() (apart []Twin) {
	for _, t := range r.Twins {
		if !t.Agrees() {
			apart = append(apart, t)
		}
	}
	return apart
}

// describeTwins says how many figures of the network are those of the bare world; "" if none was compared.
func (r *Results) describeTwins() string {
	judged, points := 0, map[int]bool{}
	for _, t := range r.Twins {
		if t.IsJudged() {
			judged++
			points[t.Point.Index] = true
		}
	}
	if judged == 0 {
		return ""
	}
	return fmt.Sprintf("; figures of a network that agree: %d of %d, at %d points", judged-len(r.Apart()), judged, len(points))
}
