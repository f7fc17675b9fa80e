package scheduler

import (
	"fmt"
	"iter"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// runGreedy gives the timers of a plan their turns in its order, skipping timers that
// do not fit (decision T11). An error comes from the environment.
func (r *laneRun) runGreedy(p plan) error {
	for _, one := range p.passed {
		r.due[one.at].waiting = one.reason
	}
	turns := p.turns
	if plant.Planted == plant.MapOrder {
		turns = shuffleTurns(turns)
	}
	for t := range turns {
		if r.over {
			r.due[t.at].waiting = ReasonNotBegun
			continue
		}
		if reason := r.whyMisfit(t.at); reason != "" {
			r.due[t.at].waiting = reason
			continue
		}
		if err := r.runTurn(t); err != nil {
			return err
		}
	}
	return nil
}

// shuffleTurns is a planted fault.
func shuffleTurns(turns iter.Seq[turn]) iter.Seq[turn] {
	in := slices.Collect(turns)
	places := make([]int, len(in))
	for i := range places {
		places[i] = i
	}
	out := make([]turn, 0, len(in))
	for _, i := range plant.Shuffled(places) {
		out = append(out, in[i])
	}
	return slices.Values(out)
}

// whyMisfit returns why a timer does not fit into the rest of the lane and the block,
// or "" (decisions T11, T27).
func (r *laneRun) whyMisfit(at int) string {
	cycles, cells := r.policy.limitsOfFire(r.Params, r.due[at].GasLimit)
	switch {
	case cycles > r.Params.LaneTimerCycles.Sub(r.out.Cycles):
		return ReasonLaneFull
	case cells > r.host.CellsLeft.Sub(r.out.Cells):
		return ReasonCellsFull
	}
	return ""
}

// runTurn fires a timer that fits, unless an earlier fire of the block cancelled it
// or emptied its payer (decisions T9, T13).
func (r *laneRun) runTurn(t turn) error {
	d := &r.due[t.at]
	if !r.isStillPending(d) {
		return nil
	}
	d.waiting = ""
	v, ends := r.judgeInsolvency(d)
	if ends {
		r.endWithoutFire(t.at, &v)
	}
	if ends || d.waiting != "" {
		return nil
	}
	order := r.orderOf(d, v.required, t.payment)
	fired, err := r.fireTimer(d, &order)
	if err != nil {
		return err
	}
	if fired.Passed != "" {
		d.waiting, r.over = fired.Passed, fired.Over
		return nil
	}
	r.ran, d.fired = true, true
	r.restoreAllowance(&d.Entry, d.payer, order.MaxCost.Sub(fired.FeePaid.Sub(order.Payment)))
	r.releaseBid(&d.Entry, d.Bid.Sub(t.payment))
	r.reportFire(d, order.Timer, &fired)
	return nil
}

// orderOf is the fire of a timer, which its payer can pay.
func (r *laneRun) orderOf(d *dueTimer, maxCost, payment types.Wei) Fire {
	order := Fire{Timer: loadTimer(r.KV, &d.Entry, uint64(r.Height-d.Height)), Price: d.price, MaxCost: maxCost, Payment: payment}
	order.Cycles, order.Cells = r.policy.limitsOfFire(r.Params, d.GasLimit)
	order.Timer.FeePayer, order.Timer.Payload = d.payer, readPayload(r.KV, d.ID)
	order.Take = func() {
		r.drawAllowance(&d.Entry, d.payer, order.MaxCost)
		r.removeTimer(&d.Entry)
	}
	return order
}

// fireTimer runs the handler, or ends the timer at its full price if enough hosts failed
// on it (decision C18).
func (r *laneRun) fireTimer(d *dueTimer, order *Fire) (Fired, error) {
	fired, err := r.host.Fire(*order)
	if err == nil && fired.Passed == ReasonHostFailed && r.blameTimer(d.ID) {
		order.Failed = true
		fired, err = r.host.Fire(*order)
	}
	if err != nil {
		return Fired{}, fmt.Errorf("timer %s of actor %s: %w", d.ID, d.Actor, err)
	}
	if fired.Cycles > order.Cycles || fired.Cells > order.Cells {
		return Fired{}, fmt.Errorf("timer %s used %d cycles and %d cells of %d and %d: a bug of its host",
			d.ID, fired.Cycles, fired.Cells, order.Cycles, order.Cells)
	}
	return fired, nil
}

// reportFire reports a fire and counts what it used.
func (r *laneRun) reportFire(d *dueTimer, t types.Timer, fired *Fired) {
	t.Payload = nil
	d.used = fired.Cycles
	r.out.Cycles += fired.Cycles
	r.out.Cells += fired.Cells
	r.out.Changes = append(r.out.Changes, types.TimerChange{Kind: types.ChangeEnded,
		Timer: t, Status: types.TimerFired, At: r.Height, Priority: d.offeredAmount(), Weight: lowestTerms(d.weight),
		CyclesUsed: fired.Cycles, CellsUsed: fired.Cells, FeePaid: fired.FeePaid, TipPaid: fired.TipPaid, Result: fired.Result,
	})
	r.out.Changes = append(r.out.Changes, fired.Changes...)
}

// isStillPending looks whether a due timer still is, and brings its entry up to date:
// a handler of the block may have cancelled or extended it.
func (r *laneRun) isStillPending(d *dueTimer) bool {
	if d.fired {
		return false
	}
	if !r.ran {
		return true
	}
	current, pending := r.calendarOf().Find(d.Place)
	if pending {
		d.Entry = current
	}
	return pending
}
