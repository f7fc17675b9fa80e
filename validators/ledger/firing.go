package ledger

import (
	"fmt"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// schedulerBlock lends the scheduler this block.
func (r *run) schedulerBlock() *scheduler.InBlock { return r.programTimers().inBlock(r.state) }

// books is a state's balances as the scheduler sees them: scheduler.Books.
type books struct{ state *actors.State }

func (b books) Balance(of types.Address) types.Wei { return actors.AccountOf(b.state, of).Balance }

func (b books) Move(from, to types.Address, amount types.Wei) bool {
	return b.state.Move(from, to, amount)
}

func (b books) Deployer(actor types.Address) types.Address {
	if record := actors.ActorOf(b.state, actor); record != nil {
		return record.Owner
	}
	return actor
}

// fireTimers is the timer lane: it lends the scheduler the programs as well.
func (r *run) fireTimers() error {
	settled, err := r.schedulerBlock().RunLane(scheduler.LaneHost{
		CellsLeft:  r.params.CellsLimit.Sub(r.used.cells),
		LastCycles: r.cyclesBefore(),
		Proposer:   r.header.Proposer,
		Validators: r.parent.set,
		Ask:        r.askBidder,
		Fire:       r.fireTimer,
	})
	if err != nil {
		return err
	}
	if len(r.timers) == 0 {
		r.timers = settled.Changes
	} else {
		r.timers = append(r.timers, settled.Changes...)
	}
	r.events = append(r.events, settled.Events...)
	r.spendCycles(laneTimer, settled.Cycles)
	r.spendCycles(laneBidders, settled.AskCycles)
	r.used.cells += settled.Cells
	r.summary.Policy, r.summary.Examined = r.params.Policy, uint64(settled.Examined)
	if r.summary.Examined >= r.params.MaxExamined {
		r.summary.Unexamined = r.timersDue() - uint64(settled.Deferred)
	}
	r.laneOver = true
	r.shared.Timers = r.programTimers()
	r.summary.Cycles, r.summary.GCCycles, r.summary.AskCycles = settled.Cycles, settled.GCCycles, settled.AskCycles
	return nil
}

// timersDue is the number of timers that are due now and have not ended.
func (r *run) timersDue() uint64 {
	return scheduler.DueNow(r.params, reader{r.parent.tree}, r.parent.due, r.header.Height, r.state)
}

// cyclesBefore returns the cycles used at the height before this one: 0 if that was
// skipped (decision C8).
func (r *run) cyclesBefore() types.Cycles {
	if r.header.Skipped > 0 {
		return 0
	}
	return r.parent.header.CyclesUsed
}

// askBidder calls get_gas_bid of a bidder, read-only, and charges the payer what it
// used at the cycle base fee, which is burned; or it passes the question over. A
// bidder may use as many cells as cycles: they bound its answer and are not
// charged, nor counted.
// Its error is an *EnvironmentError.
//
// Spec: CIP-1 §7, decisions C18, T14, T15, T27.
func (r *run) askBidder(q scheduler.BidCall) (answer scheduler.Answer, err error) {
	if q.Failed {
		charge := r.priceOf(q)
		cost, _ := charge.Settle(q.Cycles, 0)
		r.countBurn(cost)
		return scheduler.Answer{Fault: string(types.StatusHostFailed), Cycles: q.Cycles}, nil
	}
	which := types.AgentQuestion{Bidder: q.Bidder, Actor: q.Actor, Trigger: q.Trigger}
	left, err := attemptItem(r, &r.passing.questions, which, types.Keccak(q.Bidder[:], q.Actor[:]), q.Bidder, func() error {
		before := r.state.Snapshot()
		if answer, err = r.callBidder(q); err != nil {
			r.state.Revert(before)
		}
		return err
	})
	answer.Passed, answer.Over = left.reason, left.over
	return answer, err
}

// priceOf charges the payer of a question for all that it may use.
func (r *run) priceOf(q scheduler.BidCall) feemarket.Charge {
	charge, ok := feemarket.NewCharge(feemarket.Price{BaseFeeCycle: r.header.BaseFeeCycle}, q.Cycles, 0)
	if !ok || !r.state.Debit(q.Payer, charge.Total) {
		panic(fmt.Sprintf("ledger: %s was to hold the price of asking %s, and does not", q.Payer, q.Bidder))
	}
	return charge
}

// callBidder asks a bidder and settles what it used.
func (r *run) callBidder(q scheduler.BidCall) (scheduler.Answer, error) {
	charge := r.priceOf(q)
	msg := program.Message{Kind: program.Read, Sender: types.GovernanceAddress, Self: q.Bidder, Handler: program.BidHandler,
		Payload: q.Context}
	x, outcome, err := r.executeWithin(func() string { return "gas bidder " + q.Bidder.String() },
		actors.Cause{Origin: types.OriginTimer, ReadOnly: true}, q.Cycles, types.Cells(q.Cycles),
		r.deliverUnsent(msg))
	if err != nil {
		return scheduler.Answer{}, err
	}
	cycles, _ := x.Used()
	cost, refund := charge.Settle(cycles, 0)
	r.state.Credit(q.Payer, refund)
	r.countBurn(cost)
	r.logs = append(r.logs, x.Logs...)
	answer := scheduler.Answer{Output: outcome.Output, Cycles: cycles}
	if outcome.Status != types.StatusOK {
		answer = scheduler.Answer{Fault: outcome.Fault.Code, Cycles: cycles}
	}
	return answer, nil
}

// deliverUnsent delivers a message that no transaction sent, at the base cost of every
// call of an actor. Without it, a handler that is refused at once would use
// nothing, and neither the lane nor a price would bound how often a block runs it.
func (r *run) deliverUnsent(msg program.Message) func(*actors.Execution) (program.Outcome, error) {
	return func(x *actors.Execution) (program.Outcome, error) {
		if spent := x.Spend(r.params.CostActorCall, 0); spent != nil {
			return program.Outcome{Status: spent.Status, Fault: &types.Fault{Code: spent.Code, Message: spent.Message}}, nil
		}
		return x.Deliver(msg, types.Wei{})
	}
}

// fireTimer runs a timer's handler, or passes the timer over, and leaves it where it
// is. Its error is an *EnvironmentError.
//
// Spec: CIP-1 §3 step 8, decision C18.
func (r *run) fireTimer(order scheduler.Fire) (fired scheduler.Fired, err error) {
	if order.Failed {
		return r.failFire(order), nil
	}
	left, err := attemptItem(r, &r.passing.fires, order.Timer.ID, order.Timer.ID, order.Timer.Actor, func() error {
		before := r.state.Snapshot()
		if fired, err = r.handleFire(order); err != nil {
			r.state.Revert(before)
		}
		return err
	})
	fired.Passed, fired.Over = left.reason, left.over
	return fired, err
}

// chargeForFire takes a timer out of state, and charges its payer for all that its fire
// may use.
func (r *run) chargeForFire(order scheduler.Fire) feemarket.Charge {
	t := &order.Timer
	order.Take()
	charge, _ := feemarket.NewCharge(order.Price, order.Cycles, order.Cells)
	if charge.Total != order.MaxCost || !r.state.Debit(t.FeePayer, charge.Total) {
		panic(fmt.Sprintf("ledger: timer %s was to be charged %s wei, the ledger says %s", t.ID, order.MaxCost, charge.Total))
	}
	return charge
}

// handleFire charges the payer, runs the handler, refunds what it did not use, also
// when it failed, and takes an auction's payment from the escrow. Its error is an
// *EnvironmentError.
//
// Spec: CIP-1 §3 step 8, CIP-5 §§5.2, 6.2, 9.5, decisions T2, T13, T20, T24, T27.
func (r *run) handleFire(order scheduler.Fire) (scheduler.Fired, error) {
	t := &order.Timer
	charge := r.chargeForFire(order)
	cause := actors.Cause{Origin: types.OriginTimer, Hash: t.ID}
	msg := program.Message{Kind: program.Timer, Sender: t.Actor, Self: t.Actor, Handler: t.Handler, Payload: t.Payload}
	x, outcome, err := r.executeWithin(func() string { return "timer " + t.ID.String() }, cause, order.Cycles, order.Cells,
		r.deliverUnsent(msg))
	if err != nil {
		return scheduler.Fired{}, err
	}
	cycles, cells := x.Used()
	fired := r.settleFire(order, charge, cycles, cells)
	fired.Result, fired.Changes = outcome.Status, x.Timers
	r.recordReceipt(receiptOfFire(t, &fired), x, outcome)
	return fired, nil
}

// failFire ends a timer over which the hosts of f + 1 validators failed: it is
// charged as for full use (decision C18).
func (r *run) failFire(order scheduler.Fire) scheduler.Fired {
	fired := r.settleFire(order, r.chargeForFire(order), order.Cycles, order.Cells)
	fired.Result = types.StatusHostFailed
	r.recordHostFailure(receiptOfFire(&order.Timer, &fired), fired.Cycles, fired.Cells)
	return fired
}

// settleFire subtracts a fire's use from its charge, and takes an auction's payment
// from the escrow.
func (r *run) settleFire(order scheduler.Fire, charge feemarket.Charge, cycles types.Cycles, cells types.Cells) scheduler.Fired {
	cost, refund := charge.Settle(cycles, cells)
	r.state.Credit(order.Timer.FeePayer, refund)
	r.countBurn(cost)
	if !r.state.Debit(types.TimerEscrow, order.Payment) {
		panic(fmt.Sprintf("ledger: the escrow does not hold the payment of timer %s, %s wei", order.Timer.ID, order.Payment))
	}
	fee, tip := cost.Total().Add(order.Payment), cost.Tip.Add(order.Payment)
	r.tips.Timers = r.tips.Timers.Add(tip)
	return scheduler.Fired{Cycles: cycles, Cells: cells, FeePaid: fee, TipPaid: tip}
}

func receiptOfFire(t *types.Timer, fired *scheduler.Fired) types.Receipt {
	return types.Receipt{Hash: t.ID, Origin: types.OriginTimer, Sender: t.Actor, To: t.Actor, Handler: t.Handler, Fee: fired.FeePaid,
		Tip: fired.TipPaid}
}
