package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Limits of time travel.
const (
	// MaxAdvanceBlocks bounds one advance: some thirty years at a block a second.
	MaxAdvanceBlocks = 1_000_000_000
	// MaxMakeBlocks bounds an advance that makes every block: each is voted on.
	MaxMakeBlocks = 10_000
	// MaxReceiptTimers bounds the timers that the receipt of an advance lists;
	// all are counted.
	MaxReceiptTimers = 10_000
)

// lastInstant is the latest time that clocks may be moved to: the first instant of
// the year 2200, since nanoseconds in 64 bits end in 2262.
const lastInstant = types.Time(7_258_118_400 * time.Second)

// Target is where to an advance goes: exactly one field is set.
type Target struct {
	Blocks    uint64       // number of heights from here
	To        types.Height // this height
	NextTimer bool         // the height at which the next timer is due
	Make      uint64       // number of heights from here, each with a block
	Stop      bool         // the next block: the advance that is under way ends with it
}

// Codes of advances that are refused.
const (
	CodeStrict       = "strict"
	CodeBadTarget    = "bad_target"
	CodeHeightPassed = "height_passed"
	CodeNoTimer      = "no_timer"
	CodeTooFar       = "too_far"
)

// CodeNotKept reports that the requested blocks are pruned.
const CodeNotKept = "not_kept"

// Height returns the height that an advance from a final state goes to, and how
// far the clocks, which show now, have to be moved for it. Its error is a
// *refusal.Error.
func (t Target) Height(state *ledger.State, now types.Time) (to types.Height, clock time.Duration, err error) {
	at := state.Height()
	if to, err = t.heightIn(state); err != nil {
		return 0, 0, err
	}
	if !state.NextParams().Cheats {
		return 0, 0, refusal.New(CodeStrict, "time travel is off: this network runs with --strict").Hint("Start the network without --strict.")
	}
	if to <= at {
		return 0, 0, refusal.New(CodeHeightPassed, "height %d is not above the chain's, %d", to, at).Hint("GET /height tells the latest.")
	}
	if to-at > MaxAdvanceBlocks {
		return 0, 0, refusal.New(CodeTooFar, "more than %d blocks at once", MaxAdvanceBlocks)
	}
	blockTime := uint64(state.NextParams().BlockTimeMS)
	if left := lastInstant.Sub(now).Milliseconds(); left < 0 || blockTime > 0 && uint64(to-at) > uint64(left)/blockTime {
		return 0, 0, refusal.New(CodeTooFar, "%d blocks of %d ms go beyond the year 2200", to-at, blockTime)
	}
	return to, time.Duration(uint64(to-at)*blockTime) * time.Millisecond, nil
}

func (t Target) heightIn(state *ledger.State) (types.Height, error) {
	if t.Make > 0 {
		if t != (Target{Make: t.Make}) {
			return 0, errTarget()
		}
		if t.Make > MaxMakeBlocks {
			return 0, refusal.New(CodeTooFar, "%d blocks to make, at most %d at once", t.Make, MaxMakeBlocks)
		}
		return state.Height() + types.Height(t.Make), nil
	}
	switch {
	case t.Blocks > 0 && t.To == 0 && !t.NextTimer:
		return state.Height() + types.Height(min(t.Blocks, MaxAdvanceBlocks+1)), nil
	case t.Blocks == 0 && t.To > 0 && !t.NextTimer:
		return t.To, nil
	case t.Blocks == 0 && t.To == 0 && t.NextTimer:
		due, pending := state.NextTimer()
		if !pending {
			return 0, refusal.New(CodeNoTimer, "no timer is pending").Hint("GET /timers lists timers.")
		}
		return max(due, state.Height()+1), nil
	}
	return 0, errTarget()
}

func errTarget() *refusal.Error {
	return refusal.New(CodeBadTarget, "an advance goes by a number of blocks, to a height, or to the next timer: one of these")
}

// Advance is the receipt of an advance.
type Advance struct {
	From     types.Height  // the last final block before
	To       types.Height  // the last final block that is counted: in the end, the height that was asked for
	Blocks   uint64        // made on the way
	Skipped  uint64        // heights without a block
	Clock    time.Duration // how far the clocks were moved
	Timers   []Ended       // in the order they ended, at most MaxReceiptTimers
	Ended    uint64        // all of them
	Fired    uint64        // the timers that fired
	Deferred uint64        // times that a due timer was left for a later block
	Left     []Reasoned    // timers that are due at To and have not ended, by reason
	Waiting  []Waiting     // them by name, as NameWaiting lists them
}

// Waiting is a timer that was due on the way and has not ended.
type Waiting struct {
	ID     types.TimerID
	Actor  types.Address
	Due    types.Height
	Reason string
}

// Ended is a timer that ended on the way.
type Ended struct {
	ID     types.TimerID
	Actor  types.Address
	Due    types.Height
	At     types.Height // where it ended; At - Due is how late
	Status types.TimerStatus
	Result types.Status // of the handler, if the timer fired; otherwise ""
	Reason string
}

// Late is the number of blocks from a timer's height to its end.
func (e *Ended) Late() uint64 {
	if e.At <= e.Due {
		return 0
	}
	return uint64(e.At - e.Due)
}

// NewAdvance returns the receipt of an advance that begins above a final height.
func NewAdvance(from types.Height) *Advance { return &Advance{From: from, To: from} }

// Count adds the blocks above To up to a final height, and sets To to the last block that it
// counted. It is called as the network travels: an archive with a bound drops blocks that an
// advance made. For a dropped block the error is a *refusal.Error of CodeNotKept.
func (r *Advance) Count(a *Archive, to types.Height) error {
	for r.To < to {
		next, err := a.Next(r.To + 1)
		if err != nil {
			return err
		}
		if next == 0 || next > to {
			return fmt.Errorf("no block after height %d on the way to %d is in the store", r.To, to)
		}
		stored, err := a.Block(next)
		if err != nil {
			return err
		}
		if stored == nil || next-1-types.Height(stored.Block.Header.Skipped) > r.To {
			return r.errBlocksGone(a, to)
		}
		if err := r.addBlock(a, stored); err != nil {
			return err
		}
	}
	return nil
}

// errBlocksGone is the error for a way on which blocks are not in the store.
func (r *Advance) errBlocksGone(a *Archive, to types.Height) error {
	kept, err := a.Kept()
	if err != nil {
		return err
	}
	if !kept.Dropped(r.To + 1) {
		return fmt.Errorf("the store lacks a block or a timer between height %d and height %d", r.To, to)
	}
	return refusal.New(CodeNotKept, "height %d is final, but blocks after height %d were dropped before they were counted", to, r.To).
		Hint("Advance by fewer blocks, or keep more than %d (--history).", kept.Blocks)
}

// addBlock counts a block, or nothing of it.
func (r *Advance) addBlock(a *Archive, stored *Stored) error {
	height := stored.Block.Header.Height
	lane, err := a.Lane(height)
	if err != nil {
		return err
	}
	var listed []Ended
	ended, fired := uint64(0), uint64(0)
	for _, mark := range stored.Timers {
		if mark.Status == types.TimerPending {
			continue
		}
		ended++
		if mark.Status == types.TimerFired {
			fired++
		}
		if len(r.Timers)+len(listed) == MaxReceiptTimers {
			continue
		}
		record, err := a.Timer(mark.ID)
		if err != nil {
			return err
		}
		if record == nil {
			return r.errBlocksGone(a, height)
		}
		listed = append(listed, Ended{ID: mark.ID, Actor: mark.Actor, Due: record.Timer.Height,
			At: height, Status: mark.Status, Result: record.Result, Reason: mark.Reason})
	}
	r.Left = nil
	if lane != nil {
		r.Deferred += lane.Deferrals()
		r.Left = lane.Deferred
	}
	r.Blocks, r.Skipped = r.Blocks+1, r.Skipped+stored.Block.Header.Skipped
	r.Ended, r.Fired, r.Timers = r.Ended+ended, r.Fired+fired, append(r.Timers, listed...)
	r.To = height
	return nil
}

// LateOfMachine reports whether a timer that is due has not ended because a proposer's machine
// was late (decision C18).
func (r *Advance) LateOfMachine() bool {
	return slices.ContainsFunc(r.Left, func(l Reasoned) bool { return l.Reason == scheduler.ReasonNotBegun })
}

// NameWaiting lists the timers that are due at To and have not ended, at most MaxReceiptTimers.
// The block did not come to those of ReasonUnexamined, which have no name there.
func (r *Advance) NameWaiting(a *Archive) error {
	if len(r.Left) == 0 || a == nil {
		return nil
	}
	marks, err := a.Deferred(r.To)
	if err != nil {
		return err
	}
	r.Waiting = nil
	for _, mark := range marks[:min(len(marks), MaxReceiptTimers)] {
		record, err := a.Timer(mark.ID)
		if err != nil {
			return err
		}
		if record != nil {
			r.Waiting = append(r.Waiting, Waiting{ID: mark.ID, Actor: mark.Actor, Due: record.Timer.Height, Reason: mark.Reason})
		}
	}
	return nil
}

// Latest is how many blocks late the latest of the listed timers fired.
func (r *Advance) Latest() (late uint64) {
	for i := range r.Timers {
		if r.Timers[i].Status == types.TimerFired {
			late = max(late, r.Timers[i].Late())
		}
	}
	return late
}
