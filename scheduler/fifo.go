package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// fifo is CIP-5 §§1-8: timers go by trigger height, then sequence, as far as
// they fit (decisions T11, T27). The other policies build on it.
type fifo struct{}

func (fifo) limitsOfFire(p *params.Params, gasLimit types.Cycles) (types.Cycles, types.Cells) {
	return types.FireLimit(gasLimit, p.MaxCyclesPerFire), p.MaxCellsPerFire
}

func (fifo) priceOf(b *InBlock, _ *types.Timer) feemarket.Price { return b.plainPrice() }

func (fifo) insolventEnds() bool { return true }

func (fifo) openRun(r *laneRun) policyRun { return fifoRun{r} }

// fifoRun keeps nothing.
type fifoRun struct{ lane *laneRun }

// quotePrices prices a cycle at the cycle base fee, without tip or lane fee (decision
// T27), and at nothing if fires are free (decision T2).
func (f fifoRun) quotePrices() error {
	price := f.lane.plainPrice()
	for i := range f.lane.due {
		f.lane.due[i].price = price
	}
	return nil
}

func (fifoRun) fillLane(ready []int) plan { return plan{turns: inOrder(ready)} }

func (fifoRun) closeRun() {}

// plainPrice is the block's price without tip or lane fee.
func (b *InBlock) plainPrice() feemarket.Price {
	if Free(b.Params) {
		return feemarket.Price{}
	}
	return feemarket.Price{BaseFeeCycle: b.Fees.Cycle, BaseFeeCell: b.Fees.Cell}
}
