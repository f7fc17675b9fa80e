package scheduler

import (
	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/types"
)

// FeesFree is the value of cip5.fees that gives CIP-5 §6.3's free fires.
const FeesFree = "free"

// Free reports whether fires cost nothing (decision T2).
func Free(p *params.Params) bool { return p.Fees == FeesFree }

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
