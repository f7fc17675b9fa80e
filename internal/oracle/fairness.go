package oracle

import (
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// window is the fires of the blocks that CIP-1 §8 counts: under eip1559, since
// it began.
type window struct {
	fires  []firedAt // the fires of each height
	counts map[types.Address]uint64
	moving movingCenter
}

// movingCenter is the center of the last block that smoothed it, in millionths of a fire.
type movingCenter struct {
	at    types.Height
	value *big.Int // nil: none yet
}

// moveCenter moves it to the block of height h, by the center of the window alone, and returns it (decision T21).
func (m *movingCenter) moveCenter(h types.Height, own *big.Rat, l *LaneRules) *big.Rat {
	millions := big.NewInt(1_000_000)
	next := new(big.Int).Mul(own.Num(), millions)
	next.Quo(next, own.Denom())
	if m.value != nil && uint64(h-m.at) <= l.Window {
		next.Sub(next, m.value).Mul(next, new(big.Int).SetUint64(l.Smoothing)).Quo(next, big.NewInt(1000)).Add(next, m.value)
	}
	m.at, m.value = h, next
	return new(big.Rat).SetFrac(next, millions)
}

type firedAt struct {
	at    types.Height
	party types.Address // whose fires weigh together
}

// partyOf is whose fires those of an actor weigh together with (decision T21).
func (b *books) partyOf(l *LaneRules, actor types.Address) types.Address {
	if by, isDeployed := b.actors[actor]; isDeployed && l.ByDeployer {
		return by
	}
	return actor
}

// forgetOld forgets what is older than the window of the block of height h
// (decision T21: the blocks from h - window to h - 1, skipped heights included).
func (w *window) forgetOld(h types.Height, blocks uint64) {
	for len(w.fires) > 0 && uint64(h-w.fires[0].at) > blocks {
		party := w.fires[0].party
		if w.counts[party]--; w.counts[party] == 0 {
			delete(w.counts, party)
		}
		w.fires = w.fires[1:]
	}
}

// countFires counts the fires of a block for those after it.
func (w *window) countFires(o *Observation, b *books, fires []*types.TimerChange) {
	if o.Lane.Policy != eip1559 {
		return
	}
	if w.counts == nil {
		w.counts = map[types.Address]uint64{}
	}
	for _, c := range fires {
		party := b.partyOf(&o.Lane, c.Timer.Actor)
		w.counts[party]++
		w.fires = append(w.fires, firedAt{c.At, party})
	}
}

// centerOf is the lower median of the parties' counts, or their mean, at least 1.
func (w *window) centerOf(byMean bool) *big.Rat {
	if len(w.counts) == 0 {
		return big.NewRat(1, 1)
	}
	var counts []uint64
	sum := new(big.Int)
	for _, n := range w.counts {
		counts = append(counts, n)
		sum.Add(sum, new(big.Int).SetUint64(n))
	}
	if byMean {
		return new(big.Rat).SetFrac(sum, big.NewInt(int64(len(counts))))
	}
	slices.Sort(counts)
	return new(big.Rat).SetInt(new(big.Int).SetUint64(counts[(len(counts)-1)/2]))
}

// judgeWeights judges the weight that a block gave each actor.
func (r *laneOf) judgeWeights() {
	r.window.forgetOld(r.o.Block.Header.Height, r.rules.Window)
	center := r.window.centerOf(r.rules.ByMean)
	if alpha := r.rules.Smoothing; alpha > 0 && alpha < 1000 {
		center = r.window.moving.moveCenter(r.o.Block.Header.Height, center, r.rules)
	}
	want := map[types.Address]*big.Rat{}
	for i := range r.o.Timers {
		c := &r.o.Timers[i]
		if c.Weight.Den == 0 {
			if c.Status == types.TimerFired {
				r.wrong("timer %s fired without a weight", c.Timer.ID)
			}
			continue
		}
		party := r.books.partyOf(r.rules, c.Timer.Actor)
		if want[party] == nil {
			want[party] = weightOf(r.rules, r.window.counts[party], center)
		}
		r.seen.Weights++
		got := new(big.Rat).SetFrac(new(big.Int).SetUint64(c.Weight.Num), new(big.Int).SetUint64(c.Weight.Den))
		if got.Cmp(want[party]) != 0 {
			r.wrong("the weight of %s is %s; with %d fires in the window of a network at %s it is %s", party, c.Weight,
				r.window.counts[party], center.RatString(), want[party].RatString())
		}
	}
}

// weightOf returns clip(2 - ratio, 1, 2) with the parameters for 1 and 2: the
// maximum at ratio 0, the minimum from 1 on, and linear between.
func weightOf(l *LaneRules, fires uint64, center *big.Rat) *big.Rat {
	one := big.NewRat(1, 1)
	if center.Cmp(one) < 0 {
		center = one
	}
	ratio := new(big.Rat).SetInt(new(big.Int).SetUint64(fires))
	if ratio.Quo(ratio, center); ratio.Cmp(one) > 0 {
		ratio = one
	}
	least, most := new(big.Rat).SetUint64(l.WeightMin), new(big.Rat).SetUint64(max(l.WeightMin, l.WeightMax))
	span := new(big.Rat).Sub(most, least)
	return most.Sub(most, span.Mul(span, ratio))
}
