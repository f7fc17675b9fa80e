package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// InBlock is a block in the making, as the state transition lends it: the
// parameters in force, the state, the base fees and the books. Its methods are
// what can be done to timers in a block.
type InBlock struct {
	Params *params.Params
	KV     KV
	Height types.Height
	Fees   Fees
	Books  Books
	// LaneOver is that the block's lane has run: what is due and still pending it
	// deferred (decision T9).
	LaneOver bool
	// Value returns the present value of a watched key, nil for none. It is nil until the
	// transactions of the block are done (decision T26).
	Value func(types.Watch) []byte
}

// Fees are the base fees of the block, in wei.
type Fees struct {
	Cycle types.Wei
	Cell  types.Wei
	// Lane is the price of a cycle of the timer lane, on top of Cycle, under
	// eip1559: the lane's base fee times its multiplier, rounded down (decisions
	// T12, T13). The other policies do not read it.
	Lane types.Wei
}

// Books are the balances of the block in the making.
type Books interface {
	// Balance returns what an account holds now.
	Balance(types.Address) types.Wei
	// Move moves an amount from one account to another; it reports false, and
	// has done nothing, where from holds less.
	Move(from, to types.Address, amount types.Wei) bool
	// Deployer returns who deployed an actor; what nobody deployed is its own.
	Deployer(actor types.Address) types.Address
}

// lastLaneHeight is the last height whose lane has run.
func (b *InBlock) lastLaneHeight() types.Height {
	if b.LaneOver {
		return b.Height
	}
	return b.Height - 1
}

// calendarOf returns the calendar in the block's state.
func (b *InBlock) calendarOf() Calendar { return CalendarOf(b.Params, b.KV) }

// Maintain is CIP-1 §3 step 2: it moves timers between the tiers of the
// calendar, at most max_migrations_per_block of them a height, before the
// transactions of the block, and returns the moves in their order.
func (b *InBlock) Maintain() []types.TimerMove { return b.calendarOf().Maintain(b.Height) }
