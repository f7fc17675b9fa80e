package scheduler

import "github.com/cowboyinc/devnet/internal/base/types"

// A timer in arrears could not pay when a block examined it. Either its payer could
// not hold max_cost, or its max fee was below the base fee that a turn takes. It
// ranks after all due timers that are not in arrears. Those in arrears go by the
// height of their last examination, the lowest first. So no number of timers that
// cannot pay keeps another from being examined, and each is examined again in turn.
//
// Spec: decision T16.

// examinedOf returns the Examined of a timer's new place, after the block examined it and
// did not end it. 0 is a place not in the arrears. An expired timer, and one that the
// proposer skipped (decision C18), stay in the arrears or out of them. So no proposer and
// no agent that hangs takes a timer out of the arrears.
func (r *laneRun) examinedOf(d *dueTimer) types.Height {
	stays := d.Examined > 0
	switch d.waiting {
	case ReasonInsufficient, ReasonPricedOut, ReasonBelowCycleFee:
		stays = true
	case ReasonGCFull:
		stays = stays || !d.hasExpired(r.Height)
	case ReasonNotBegun, ReasonHostFailed:
	default: // it could pay, and found no room
		stays = false
	}
	switch {
	case !stays:
		return 0
	case d.Examined > 0 && !r.more:
		return d.Examined // Settle speaks for all of them
	}
	return r.Height
}

// shiftArrears moves a timer to the place in or out of the arrears that examined gives.
func (b *InBlock) shiftArrears(e *Entry, examined types.Height) {
	if e.Examined == examined {
		return
	}
	b.calendarOf().Shift(*e, examined)
	e.Examined = examined
	r := mustReadRecord(b.KV.Get(keyRecord(e.ID)))
	r.Examined = examined
	b.KV.Set(keyRecord(e.ID), r.encodeRecord())
}
