package scheduler

import (
	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/types"
)

// FeesFree is the value of cip5.fees that gives CIP-5 §6.3's free fires.
const FeesFree = "free"

// Free reports whether fires cost nothing (decision T2).
func Free(p *params.Params) bool { return p.Fees == FeesFree }

// Fees are the base fees of the block, in wei.
type Fees struct {
	Cycle types.Wei
	Cell  types.Wei
}

// FireLimit is what a fire may use: the timer's limit, clamped to the cap that
// holds now, where that was lowered since it was scheduled (as decision T5 does
// for eip1559), and max_cells_per_fire (CIP-5 §6.2).
func FireLimit(p *params.Params, gasLimit types.Cycles) (types.Cycles, types.Cells) {
	return min(gasLimit, p.MaxCyclesPerFire), p.MaxCellsPerFire
}

// ScheduleCost is what schedule_timer costs the caller: CIP-3's price of a timer,
// or CIP-5 §6.1's where fires are free, and a cell for each byte of payload as
// it was given.
func ScheduleCost(p *params.Params, payloadBytes int) (types.Cycles, types.Cells) {
	if Free(p) {
		return p.FreeScheduleCycles, types.Cells(payloadBytes)
	}
	return p.CostSetTimer, types.Cells(payloadBytes)
}

// CancelCost is what cancel_timer and extend_timer cost the caller, in cycles
// (CIP-5 §6.1).
func CancelCost(p *params.Params) types.Cycles {
	if Free(p) {
		return p.FreeCancelCycles
	}
	return p.CostCancelTimer
}

// price is cycles × fees.Cycle + cells × fees.Cell, at most the greatest amount,
// which no balance holds.
func price(fees Fees, cycles types.Cycles, cells types.Cells) types.Wei {
	forCycles, ok1 := fees.Cycle.MulOk(uint64(cycles))
	forCells, ok2 := fees.Cell.MulOk(uint64(cells))
	sum, ok3 := forCycles.AddOk(forCells)
	if !ok1 || !ok2 || !ok3 {
		return types.MaxWei
	}
	return sum
}
