package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Cancel ends a timer on behalf of its actor, the only account that may (CIP-5
// §4.1). The change names the timer without its payload.
func (b *InBlock) Cancel(actor types.Address, id types.TimerID) (types.TimerChange, error) {
	e, r, err := b.findTimerOf(actor, id, "cancel")
	if err != nil {
		return types.TimerChange{}, err
	}
	return b.cancelTimer(&r, &e, ReasonByOwner), nil
}

// CancelByGovernance ends a timer on behalf of the system key (opcode 48,
// SYS_CANCEL_TIMER).
func (b *InBlock) CancelByGovernance(id types.TimerID) (types.TimerChange, types.Event, error) {
	r, e, ok := findPending(b.calendarOf(), b.KV, id)
	if !ok {
		return types.TimerChange{}, types.Event{}, errUnknownTimer(id)
	}
	return b.cancelTimer(&r, &e, ReasonByGovernance), cancelledByGovernance(id), nil
}

// Extend moves a timer's expires_at on behalf of its actor. It only lengthens
// (decision T18), and never beyond the TTL from now (decision T6). A timer whose
// expiry has passed and that waits for the cleanup lane is still pending, so
// extending it saves it.
func (b *InBlock) Extend(actor types.Address, id types.TimerID, expiresAt types.Height) (types.TimerChange, error) {
	e, r, err := b.findTimerOf(actor, id, "extend")
	if err != nil {
		return types.TimerChange{}, err
	}
	return b.extendTimer(&r, &e, expiresAt, ReasonExtended)
}

// ExtendByGovernance does the same on behalf of the system key (opcode 50,
// SYS_EXTEND_TIMER).
func (b *InBlock) ExtendByGovernance(id types.TimerID, expiresAt types.Height) (types.TimerChange, types.Event, error) {
	r, e, ok := findPending(b.calendarOf(), b.KV, id)
	if !ok {
		return types.TimerChange{}, types.Event{}, errUnknownTimer(id)
	}
	change, err := b.extendTimer(&r, &e, expiresAt, ReasonExtendedGov)
	if err != nil {
		return types.TimerChange{}, types.Event{}, err
	}
	return change, extendedByGovernance(id, expiresAt), nil
}

func (b *InBlock) findTimerOf(actor types.Address, id types.TimerID, verb string) (Entry, record, error) {
	r, e, ok := findPending(b.calendarOf(), b.KV, id)
	if !ok {
		return e, r, errUnknownTimer(id)
	}
	if e.Actor != actor {
		return e, r, newError(CodeNotOwner, "CIP-5 §4.1", "timer %s belongs to %s; only that actor may %s it", id, e.Actor, verb)
	}
	return e, r, nil
}

func errUnknownTimer(id types.TimerID) error {
	return newError(CodeUnknownTimer, "CIP-5 §4.1", "no timer %s is pending: it has ended, or never was", id)
}

func (b *InBlock) cancelTimer(r *record, e *Entry, reason string) types.TimerChange {
	timer := assembleTimer(r, e, Deferrals(e.Height, b.lastLaneHeight()))
	b.removeTimer(e)
	b.releaseBid(e, e.Bid)
	return types.TimerChange{Kind: types.ChangeEnded, Timer: timer, Status: types.TimerCancelled, At: b.Height, Reason: reason}
}

func (b *InBlock) extendTimer(r *record, e *Entry, expiresAt types.Height, reason string) (types.TimerChange, error) {
	if expiresAt <= e.ExpiresAt {
		return types.TimerChange{}, newError(CodeExpiresNotLater, "T18", "expires_at %d is not above the timer's %d; extending only lengthens",
			expiresAt, e.ExpiresAt)
	}
	if latest := latestExpiry(b.Params, b.Height); expiresAt > latest {
		return types.TimerChange{}, newError(CodeExpiresTooLate, "T6", "expires_at %d is more than %d blocks from now; the latest is %d",
			expiresAt, b.Params.MaxTTLBlocks, latest)
	}
	if err := b.writeExpiry(r, e, expiresAt); err != nil {
		return types.TimerChange{}, err
	}
	return types.TimerChange{Kind: types.ChangeExtended, Timer: assembleTimer(r, e, Deferrals(e.Height, b.lastLaneHeight())),
		Status: types.TimerPending,
		At:     b.Height,
		Reason: reason}, nil
}

// writeExpiry writes the new expires_at. A timer that waits for its key moves to the
// height after that; if it had expired, it counts changes of the key from now on.
func (b *InBlock) writeExpiry(r *record, e *Entry, expiresAt types.Height) error {
	if !e.isWatching() {
		e.ExpiresAt = expiresAt
		b.calendarOf().Replace(*e)
		return nil
	}
	if err := hasHeightBehind(expiresAt); err != nil {
		return err
	}
	e.ExpiresAt = expiresAt
	if watcherIn(b.KV, r, e.Seq) == nil {
		b.rememberWatcher(e.ID, watcherOf(r.Watch, r.Height, e.Seq))
	}
	b.moveInCalendar(r, e, expiresAt+1)
	return nil
}
