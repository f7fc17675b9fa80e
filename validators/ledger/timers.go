package ledger

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// timers is the scheduler as programs reach it in a block: actors.Timers.
type timers struct {
	p      *params.Params
	height types.Height
	fees   scheduler.Fees

	laneOver bool
	filled   bool // the block's transactions are done (decision T26)
}

func (r *run) programTimers() timers {
	fees := scheduler.Fees{Cycle: r.header.BaseFeeCycle, Cell: r.header.BaseFeeCell, Lane: LaneCharge(r.params, r.header.BaseFeeLaneTimer)}
	return timers{p: r.params, height: r.header.Height, fees: fees, laneOver: r.laneOver, filled: r.filled != nil}
}

func (t timers) inBlock(s *actors.State) *scheduler.InBlock {
	block := &scheduler.InBlock{Params: t.p, KV: s, Height: t.height, Fees: t.fees, Books: books{s}, LaneOver: t.laneOver}
	if t.filled {
		block.Value = func(w types.Watch) []byte { return actors.StoredOf(s, w.Actor, w.Key) }
	}
	return block
}

// inCountingBlock is block over a state that counts what is written (decision T29).
func (t timers) inCountingBlock(s *actors.State) (*scheduler.InBlock, *scheduler.Written) {
	block, written := t.inBlock(s), &scheduler.Written{KV: s}
	block.KV = written
	return block, written
}

// Schedule implements actors.Timers.
func (t timers) Schedule(s *actors.State, by actors.TimerCaller, request program.TimerRequest) (actors.TimerEffect, *program.Fault) {
	if fault := checkBidder(s, request.GBA); fault != nil {
		return actors.TimerEffect{}, fault
	}
	block, written := t.inCountingBlock(s)
	timer, events, err := block.Schedule(by.Actor, by.Sponsorship, request)
	if err != nil {
		return actors.TimerEffect{}, asFault(err)
	}
	return actors.TimerEffect{ID: timer.ID, Changes: []types.TimerChange{scheduler.Scheduled(timer)}, Events: events, Cells: written.Cells},
		nil
}

// Cancel implements actors.Timers.
func (t timers) Cancel(s *actors.State, by actors.TimerCaller, id types.TimerID) (actors.TimerEffect, *program.Fault) {
	return timerEffectOf(t.inBlock(s).Cancel(by.Actor, id))
}

// Extend implements actors.Timers.
func (t timers) Extend(s *actors.State, by actors.TimerCaller, id types.TimerID,
	expiresAt types.Height) (actors.TimerEffect, *program.Fault) {
	block, written := t.inCountingBlock(s)
	effect, fault := timerEffectOf(block.Extend(by.Actor, id, expiresAt))
	effect.Cells = written.Cells
	return effect, fault
}

// SetGasBidder implements actors.Timers.
func (t timers) SetGasBidder(s *actors.State, by actors.TimerCaller, bidder *types.Address) (actors.TimerEffect, *program.Fault) {
	if fault := checkBidder(s, bidder); fault != nil {
		return actors.TimerEffect{}, fault
	}
	t.inBlock(s).SetGasBidder(by.Actor, bidder)
	return actors.TimerEffect{}, nil
}

// Pending implements actors.Timers.
func (timers) Pending(s *actors.State, actor types.Address, limit int) (pending []actors.PendingTimer) {
	scheduler.Named(s, actor, func(id types.TimerID, handler string) bool {
		pending = append(pending, actors.PendingTimer{ID: id, Handler: handler})
		return len(pending) < limit
	})
	return pending
}

// Payload implements actors.Timers.
func (timers) Payload(s *actors.State, id types.TimerID) []byte { return scheduler.Payload(s, id) }

// checkBidder refuses a gas bidding agent that is not an actor. A missing handler shows
// when the agent is asked (decision T15).
func checkBidder(s *actors.State, bidder *types.Address) *program.Fault {
	if bidder == nil || actors.ActorOf(s, *bidder) != nil {
		return nil
	}
	return &program.Fault{Status: types.StatusReverted, Code: scheduler.CodeBidderNoActor,
		Message: fmt.Sprintf("there is no actor at %s that could be asked for bids; deploy it before it is named", *bidder)}
}

func timerEffectOf(change types.TimerChange, err error) (actors.TimerEffect, *program.Fault) {
	if err != nil {
		return actors.TimerEffect{}, asFault(err)
	}
	return actors.TimerEffect{ID: change.Timer.ID, Changes: []types.TimerChange{change}}, nil
}

// asFault turns the scheduler's into one that a program may catch.
func asFault(err error) *program.Fault {
	refused := reasonOf(err)
	return &program.Fault{Status: types.StatusReverted, Code: refused.Code, Message: refused.Message}
}

// reasonOf is why the scheduler refused something.
func reasonOf(err error) *types.Fault {
	var refused *scheduler.Error
	if !errors.As(err, &refused) {
		panic(fmt.Sprintf("ledger: the scheduler refused without a reason: %v", err))
	}
	return &types.Fault{Code: refused.Code, Message: refused.Message}
}

// governedTimers is the scheduler as the system key reaches it: governance.Timers.
type governedTimers struct {
	timers
	state *actors.State
}

// Cancel implements governance.Timers.
func (t governedTimers) Cancel(id types.TimerID) (types.TimerChange, types.Event, *types.Fault) {
	change, event, err := t.inBlock(t.state).CancelByGovernance(id)
	if err != nil {
		return change, event, reasonOf(err)
	}
	return change, event, nil
}

// Extend implements governance.Timers.
func (t governedTimers) Extend(id types.TimerID, expiresAt types.Height) (types.TimerChange, types.Event, *types.Fault) {
	change, event, err := t.inBlock(t.state).ExtendByGovernance(id, expiresAt)
	if err != nil {
		return change, event, reasonOf(err)
	}
	return change, event, nil
}
