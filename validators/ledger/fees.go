package ledger

import (
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// BaseFees are the base fees of a block, in wei.
type BaseFees struct {
	Cycle     types.Wei
	Cell      types.Wei
	LaneTimer types.Wei
}

func feesOf(h *types.Header) BaseFees {
	return BaseFees{Cycle: h.BaseFeeCycle, Cell: h.BaseFeeCell, LaneTimer: h.BaseFeeLaneTimer}
}

// utilisation is what base fees follow: the use of one block.
type utilisation struct {
	cycles, lane types.Cycles
	cells        types.Cells
}

// feesAfter returns the base fees of the block that skips the given number of
// heights, p being its parameters. A skipped height has the effect of an empty
// block, so the fees fall until they are stable; that takes some hundred steps, not
// one per height.
//
// Spec: CIP-3, CIP-1 §§5, 13.2, decisions C8, C14, T9, T12.
func (s *State) feesAfter(skipped uint64, p *params.Params) BaseFees {
	fees, before := feesOf(&s.header), s.params
	used := utilisation{s.header.CyclesUsed, s.header.TimerCyclesUsed, s.header.CellsUsed}
	for i := range skipped {
		after := nextFees(s.next, before, fees, used)
		if after == fees && i > 0 {
			break
		}
		fees, before, used = after, s.next, utilisation{}
	}
	return nextFees(p, before, fees, used)
}

// nextFees returns the base fees of a block with parameters p; before are the
// parameters of the one before it, whose fees and use are given.
func nextFees(p, before *params.Params, fees BaseFees, used utilisation) BaseFees {
	next := BaseFees{
		Cycle: feemarket.Next(fees.Cycle, uint64(used.cycles), uint64(p.CyclesLimit), p.BaseFeeDivisor, p.MinBaseFee),
		Cell:  feemarket.Next(fees.Cell, uint64(used.cells), uint64(p.CellsLimit), p.BaseFeeDivisor, p.MinBaseFee),
	}
	next.LaneTimer = next.Cycle // under every policy but eip1559, and in the block that activates it (CIP-1 §13.2, decision T25)
	if p.Policy == scheduler.EIP1559 && before.Policy == scheduler.EIP1559 {
		next.LaneTimer = feemarket.NextLaneByGain(fees.LaneTimer, used.lane, p.LaneTimerCycles, p.LaneFeeDivisor, p.LaneFeeGain, p.MinBaseFee)
	}
	return next
}

// permille is a multiplier of 1 in thousandths.
const permille = 1000

// LaneCharge returns the price of a cycle of the timer lane in addition to the
// cycle base fee: the lane's base fee times its multiplier, rounded down, at most
// 2^256 - 1 (decision T12).
func LaneCharge(p *params.Params, base types.Wei) types.Wei {
	charge, ok := base.MulDiv(types.WeiOf(p.LaneFeePermille), types.WeiOf(permille))
	if !ok {
		return types.MaxWei
	}
	return charge
}
