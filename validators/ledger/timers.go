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

// schedulerBlock lends the scheduler this block.
func (r *run) schedulerBlock() *scheduler.Block {
	return &scheduler.Block{Params: r.params, KV: r.state, Height: r.header.Height, Books: books{r.state},
		Fees: r.timerFees()}
}

func (r *run) timerFees() scheduler.Fees {
	return scheduler.Fees{Cycle: r.header.BaseFeeCycle, Cell: r.header.BaseFeeCell, Lane: r.header.BaseFeeLaneTimer}
}

// books is a state's balances as the scheduler sees them: scheduler.Books.
type books struct{ state *actors.State }

func (b books) Balance(of types.Address) types.Wei { return actors.AccountOf(b.state, of).Balance }

func (b books) Move(from, to types.Address, amount types.Wei) bool {
	return b.state.Move(from, to, amount)
}

// fireTimers lends the scheduler the programs as well.
func (r *run) fireTimers() error {
	settled, err := r.schedulerBlock().RunLane(scheduler.Lane{
		CellsLeft:  r.params.CellsLimit.Sub(r.used.cells),
		LastCycles: r.parent.header.CyclesUsed,
		Ask:        r.ask,
		Fire:       r.fire,
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

// ask calls a gas bidding agent.
func (r *run) ask(scheduler.Question) (scheduler.Answer, error) {
	return scheduler.Answer{Fault: "no_bidder"}, nil
}

// fire charges the payer, runs the handler, and refunds what it did not use,
// also when it failed. Its error is an *EnvironmentError.
//
// Spec: CIP-1 §3 step 8, CIP-5 §§5.2, 6.2, decisions T2, T13, T20, T27.
func (r *run) fire(order scheduler.Fire) (scheduler.Fired, error) {
	t := &order.Timer
	charge, _ := feemarket.NewCharge(order.Price, order.Cycles, order.Cells)
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
	fees   scheduler.Fees
}

func (r *run) programTimers() timers {
	return timers{p: r.params, height: r.header.Height, fees: r.timerFees()}
}

func (t timers) block(s *actors.State) *scheduler.Block {
	return &scheduler.Block{Params: t.p, KV: s, Height: t.height, Fees: t.fees, Books: books{s}}
}

// Schedule implements actors.Timers.
func (t timers) Schedule(s *actors.State, by actors.TimerCaller, request program.TimerRequest) (actors.TimerEffect, *program.Fault) {
	var sender *types.Address
	if !by.Sender.IsZero() {
		sender = &by.Sender
	}
	timer, events, err := t.block(s).Schedule(by.Actor, sender, request)
	if err != nil {
		return actors.TimerEffect{}, refusal(err)
	}
	return actors.TimerEffect{ID: timer.ID, Changes: []types.TimerChange{scheduler.Scheduled(timer)}, Events: events}, nil
}

// Cancel implements actors.Timers.
func (t timers) Cancel(s *actors.State, by actors.TimerCaller, id types.TimerID) (actors.TimerEffect, *program.Fault) {
	return changed(t.block(s).Cancel(by.Actor, id))
}

// Extend implements actors.Timers.
func (t timers) Extend(s *actors.State, by actors.TimerCaller, id types.TimerID, expiresAt types.Height) (actors.TimerEffect, *program.Fault) {
	return changed(t.block(s).Extend(by.Actor, id, expiresAt))
}

// SetGasBidder implements actors.Timers.
func (t timers) SetGasBidder(s *actors.State, by actors.TimerCaller, bidder *types.Address) (actors.TimerEffect, *program.Fault) {
	t.block(s).SetGasBidder(by.Actor, bidder)
	return actors.TimerEffect{}, nil
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
	change, event, err := t.block(t.state).CancelByGovernance(id)
	if err != nil {
		return change, event, reason(err)
	}
	return change, event, nil
}

// Extend implements system.Timers.
func (t governedTimers) Extend(id types.TimerID, expiresAt types.Height) (types.TimerChange, types.Event, *types.Fault) {
	change, event, err := t.block(t.state).ExtendByGovernance(id, expiresAt)
	if err != nil {
		return change, event, reason(err)
	}
	return change, event, nil
}
