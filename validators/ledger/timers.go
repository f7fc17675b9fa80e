package ledger

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/feemarket"
	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/program"
	"github.com/cowboyinc/devnet/internal/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// fireTimers lends the scheduler the books and the programs of this block.
func (r *run) fireTimers() error {
	settled, err := scheduler.RunLane(r.params, r.state, scheduler.Lane{
		Height:    r.header.Height,
		Fees:      scheduler.Fees{Cycle: r.header.BaseFeeCycle, Cell: r.header.BaseFeeCell},
		CellsLeft: r.params.CellsLimit.Sub(r.used.cells),
		Balance:   func(a types.Address) types.Wei { return actors.AccountOf(r.state, a).Balance },
		Fire:      r.fire,
	})
	if err != nil {
		return err
	}
	r.timers = append(r.timers, settled.Changes...)
	r.events = append(r.events, settled.Events...)
	r.used.timer += settled.Cycles
	r.used.cells += settled.Cells
	return nil
}

// fire charges the payer, runs the handler, and refunds what it did not use,
// also when it failed. Its error is an *EnvironmentError.
//
// Spec: CIP-1 §3 step 8, CIP-5 §§5.2, 6.2, decisions T2, T13, T20, T27.
func (r *run) fire(order scheduler.Fire) (scheduler.Fired, error) {
	t := &order.Timer
	charge := feemarket.Charge{Cycles: order.Cycles, Cells: order.Cells}
	if !scheduler.Free(r.params) {
		price := feemarket.Price{BaseFeeCycle: r.header.BaseFeeCycle, BaseFeeCell: r.header.BaseFeeCell}
		charge, _ = feemarket.NewCharge(price, order.Cycles, order.Cells)
	}
	if charge.Total != order.MaxCost || !r.state.Debit(t.FeePayer, charge.Total) {
		panic(fmt.Sprintf("ledger: timer %s was to be charged %s wei, the ledger says %s", t.ID, order.MaxCost, charge.Total))
	}
	cause := actors.Cause{Origin: types.OriginTimer, Hash: t.ID}
	msg := program.Message{Kind: program.Timer, Sender: t.Actor, Self: t.Actor, Handler: t.Handler, Payload: t.Payload}
	x, outcome, err := r.attempt("timer "+t.ID.String(), cause, order.Cycles, order.Cells,
		func(x *actors.Execution) (program.Outcome, error) { return x.Deliver(msg, types.Wei{}) })
	if err != nil {
		return scheduler.Fired{}, err
	}
	cost, refund := charge.Settle(x.Used())
	r.state.Credit(t.FeePayer, refund)
	r.burn(cost)
	r.tips.Timers = r.tips.Timers.Add(cost.Tip)
	r.record(types.Receipt{Hash: t.ID, Origin: types.OriginTimer, Sender: t.Actor, To: t.Actor, Handler: t.Handler,
		Fee: cost.Total(), Tip: cost.Tip}, x, outcome)
	cycles, cells := x.Used()
	return scheduler.Fired{Result: outcome.Status, Cycles: cycles, Cells: cells,
		FeePaid: cost.Total(), TipPaid: cost.Tip, Changes: x.Timers}, nil
}

// timers is the scheduler as programs reach it in a block: actors.Timers.
type timers struct {
	p      *params.Params
	height types.Height
}

// Schedule implements actors.Timers.
func (t timers) Schedule(s *actors.State, by actors.TimerCaller, request program.TimerRequest) (actors.TimerEffect, *program.Fault) {
	var sender *types.Address
	if !by.Sender.IsZero() {
		sender = &by.Sender
	}
	timer, events, err := scheduler.Schedule(t.p, s, t.height, by.Actor, sender, request)
	if err != nil {
		return actors.TimerEffect{}, refusal(err)
	}
	return actors.TimerEffect{ID: timer.ID, Changes: []types.TimerChange{scheduler.Scheduled(timer)}, Events: events}, nil
}

// Cancel implements actors.Timers.
func (t timers) Cancel(s *actors.State, by actors.TimerCaller, id types.TimerID) (actors.TimerEffect, *program.Fault) {
	return changed(scheduler.Cancel(s, t.height, by.Actor, id))
}

// Extend implements actors.Timers.
func (t timers) Extend(s *actors.State, by actors.TimerCaller, id types.TimerID, expiresAt types.Height) (actors.TimerEffect, *program.Fault) {
	return changed(scheduler.Extend(t.p, s, t.height, by.Actor, id, expiresAt))
}

func changed(change types.TimerChange, err error) (actors.TimerEffect, *program.Fault) {
	if err != nil {
		return actors.TimerEffect{}, refusal(err)
	}
	return actors.TimerEffect{ID: change.Timer.ID, Changes: []types.TimerChange{change}}, nil
}

// refusal turns the scheduler's into one that a program may catch.
func refusal(err error) *program.Fault {
	refused := reason(err)
	return &program.Fault{Status: types.StatusReverted, Code: refused.Code, Message: refused.Message}
}

// reason is why the scheduler refused something.
func reason(err error) *types.Fault {
	var refused *scheduler.Error
	if !errors.As(err, &refused) {
		panic(fmt.Sprintf("ledger: the scheduler refused without a reason: %v", err))
	}
	return &types.Fault{Code: refused.Code, Message: refused.Message}
}

// governedTimers is the scheduler as the system key reaches it: system.Timers.
type governedTimers struct {
	timers
	state *actors.State
}

// Cancel implements system.Timers.
func (t governedTimers) Cancel(id types.TimerID) (types.TimerChange, types.Event, *types.Fault) {
	change, event, err := scheduler.CancelByGovernance(t.state, t.height, id)
	if err != nil {
		return change, event, reason(err)
	}
	return change, event, nil
}

// Extend implements system.Timers.
func (t governedTimers) Extend(id types.TimerID, expiresAt types.Height) (types.TimerChange, types.Event, *types.Fault) {
	change, event, err := scheduler.ExtendByGovernance(t.p, t.state, t.height, id, expiresAt)
	if err != nil {
		return change, event, reason(err)
	}
	return change, event, nil
}
