package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// fifo is CIP-5 §§1-8: timers go by trigger height, then sequence, as far as
// they fit (decisions T11, T27). The other policies build on it.
type fifo struct{}

func (fifo) limits(p *params.Params, gasLimit types.Cycles) (types.Cycles, types.Cells) {
	return min(gasLimit, p.MaxCyclesPerFire), p.MaxCellsPerFire
}

func (fifo) price(b *Block, _ *types.Timer) feemarket.Price { return b.plainPrice() }

func (fifo) open(*laneRun) {}

// quote: a cycle costs the cycle base fee alone, without tip or lane fee
// (decision T27); nothing where fires are free (decision T2).
func (fifo) quote(r *laneRun) error {
	for i := range r.due {
		r.due[i].price = r.plainPrice()
	}
	return nil
}

func (fifo) fill(r *laneRun, ready []int) error {
	return r.greedy(ready) // as they come
}

func (fifo) close(*laneRun) {}

func (fifo) insolventEnds() bool { return true }

// plainPrice is the block's price without tip or lane fee.
func (b *Block) plainPrice() feemarket.Price {
	if Free(b.Params) {
		return feemarket.Price{}
	}
	return feemarket.Price{BaseFeeCycle: b.Fees.Cycle, BaseFeeCell: b.Fees.Cell}
}

// greedy gives each timer its turn in the given order, passing over what does
// not fit (decision T11).
func (r *laneRun) greedy(order []int) error {
	if plant.Planted == plant.MapOrder {
		order = plant.Shuffled(order)
	}
	for _, at := range order {
		if r.over {
			r.due[at].waiting = ReasonNotBegun
			continue
		}
		if reason := r.room(at); reason != "" {
			r.due[at].waiting = reason
			continue
		}
		if err := r.turn(at); err != nil {
			return err
		}
	}
	return nil
}

// room is why a timer does not fit into what the lane and the block have left,
// or "" (decisions T11, T27).
func (r *laneRun) room(at int) string {
	cycles, cells := r.policy.limits(r.Params, r.due[at].GasLimit)
	switch {
	case cycles > r.Params.LaneTimerCycles.Sub(r.out.Cycles):
		return ReasonLaneFull
	case cells > r.lane.CellsLeft.Sub(r.out.Cells):
		return ReasonCellsFull
	}
	return ""
}
