package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// verdict is why a timer ends without firing.
type verdict struct {
	expired   bool
	required  types.Wei // where not expired
	available types.Wei
}

// endingAt is the verdict on the timer at a place of due.
type endingAt struct {
	at int
	verdict
}

// classifyDue separates the due timers that may fire from those that end unfired:
// expired timers first, then timers whose payer, judged separately, cannot hold
// max_cost (decisions T9, T13).
func (r *laneRun) classifyDue() (ready []int, ending []endingAt) {
	ready = make([]int, 0, len(r.due))
	for i := range r.due {
		d := &r.due[i]
		if d.waiting != "" && !d.hasExpired(r.Height) {
			continue // its cost is unknown: its bidder was skipped
		}
		v, ends := r.judgeInsolvency(d)
		switch {
		case ends:
			ending = append(ending, endingAt{i, v})
		case d.waiting != "":
		case d.pricedOut != "":
			d.waiting = d.pricedOut
		default:
			ready = append(ready, i)
		}
	}
	return ready, ending
}

// judgeInsolvency reports whether a timer ends now, because it expired or its payer
// lacks the money. Under a policy in which insolvency does not end it, an insolvent
// one waits.
func (r *laneRun) judgeInsolvency(d *dueTimer) (verdict, bool) {
	if d.hasExpired(r.Height) {
		return verdict{expired: true}, true
	}
	if Free(r.Params) {
		return verdict{}, false
	}
	required, payable := r.maxCost(d)
	available := r.spendable(&d.Entry, d.payer)
	if payable && !available.Less(required) {
		return verdict{required: required, available: available}, false
	}
	if !r.policy.insolventEnds() {
		d.waiting = ReasonInsufficient
		return verdict{required: required, available: available}, false
	}
	return verdict{required: required, available: available}, true
}

// maxCost returns the maximum cost of a fire, in wei, without an auction's payment:
// the amount that its payer must hold to be charged before the handler runs. If the
// sum overflows it is types.MaxWei, which no account can pay.
func (r *laneRun) maxCost(d *dueTimer) (cost types.Wei, payable bool) {
	cycles, cells := r.policy.limitsOfFire(r.Params, d.GasLimit)
	return costOf(&d.price, cycles, cells)
}

func costOf(price *feemarket.Price, cycles types.Cycles, cells types.Cells) (types.Wei, bool) {
	cost, ok := price.Cost(cycles, cells)
	if !ok {
		return types.MaxWei, false
	}
	return cost.Total(), true
}

// runCleanup is the cleanup lane: it ends timers by trigger height, then sequence,
// as far as TIMER_GC_CYCLES reaches. The others wait, and are not fired
// meanwhile (decisions T19, T27).
func (r *laneRun) runCleanup(ending []endingAt) {
	for i := range ending {
		r.endWithoutFire(ending[i].at, &ending[i].verdict)
	}
}

// endWithoutFire ends one timer unfired if the cleanup lane has room for it.
func (r *laneRun) endWithoutFire(at int, v *verdict) {
	d := &r.due[at]
	if r.Params.GCCyclesPerTimer > r.Params.GCCyclesPerBlock.Sub(r.out.GCCycles) {
		d.waiting = ReasonGCFull
		return
	}
	r.out.GCCycles += r.Params.GCCyclesPerTimer
	d.waiting = ""
	change := types.TimerChange{Kind: types.ChangeEnded, Timer: loadTimer(r.KV, &d.Entry, uint64(r.Height-d.Height)), At: r.Height,
		Priority: d.offeredAmount(), Weight: lowestTerms(d.weight)}
	r.removeTimer(&d.Entry)
	r.releaseBid(&d.Entry, d.Bid)
	if v.expired {
		change.Status, change.Reason = types.TimerExpired, ReasonExpired
		r.out.Events = append(r.out.Events, newEvent(EventExpired,
			Expired{TimerID: d.ID, ExpiresAt: d.ExpiresAt, CurrentHeight: r.Height}))
	} else {
		change.Status, change.Reason = types.TimerInsufficientFunds, ReasonInsufficient
		r.out.Events = append(r.out.Events, newEvent(EventInsufficientFunds,
			InsufficientFunds{TimerID: d.ID, FeePayer: d.FeePayer, Required: v.required, Available: v.available}))
	}
	r.out.Changes = append(r.out.Changes, change)
}
