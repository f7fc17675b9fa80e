package scheduler

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/types"
)

// Lane is what the state transition lends RunLane: the block's figures, the
// books, and the programs.
type Lane struct {
	Height    types.Height
	Fees      Fees
	CellsLeft types.Cells // of the block's limit, when the lane begins
	// Balance returns what an account holds now.
	Balance func(types.Address) types.Wei
	// Fire charges the payer order.MaxCost, runs the handler, and refunds what
	// was not used, whatever the handler's end (decision T2). Its error is the
	// environment's, and ends the block without a result.
	Fire func(order Fire) (Fired, error)
}

// Fire is one fire to be settled. The timer is out of state and of its actor's
// count already (decision T18).
type Fire struct {
	Timer   types.Timer // whole, payload included
	Cycles  types.Cycles
	Cells   types.Cells
	MaxCost types.Wei // 0 where fires are free
}

// Fired is how a fire went.
type Fired struct {
	Result  types.Status
	Cycles  types.Cycles // used, at most Fire.Cycles
	Cells   types.Cells  // used, at most Fire.Cells
	FeePaid types.Wei
	TipPaid types.Wei
	Changes []types.TimerChange // what the handler did to timers, where it kept its effects
}

// Settled is what the lane did in a block.
type Settled struct {
	// Changes has the ends of the cleanup lane, then the fires each followed by
	// what its handler did, then the deferrals by trigger height and sequence.
	// Only what a fire's handler scheduled has its payload: a reader has it from
	// there. A deferral has the timer's id, actor, height, sequence, fee payer,
	// limit, expiry and deferrals, since examining a timer reads no more. Timers
	// beyond MaxExamined are deferred unreported.
	Changes  []types.TimerChange
	Events   []types.Event
	Cycles   types.Cycles // of fires: the lane's utilisation (decision T11)
	Cells    types.Cells  // of fires
	GCCycles types.Cycles // of the cleanup lane
	Examined int
}

// RunLane does the lane's part of the block at lane.Height, after its
// transactions: it takes the due timers, classifies them, ends in the cleanup
// lane those that expired or cannot pay, and fires the others in the order of
// the policy as long as they fit, settling each before the next. What does not
// end stays due.
//
// Spec: CIP-5 §5, CIP-1 §3 steps 4-9; decisions T6, T9, T11, T13, T16, T19, T27.
func RunLane(p *params.Params, kv KV, lane Lane) (Settled, error) {
	policy, err := PolicyOf(p)
	if err != nil {
		return Settled{}, err
	}
	run := laneRun{p: p, kv: kv, lane: lane, policy: policy}
	run.due = CalendarOf(kv).Due(lane.Height, p.MaxExamined)
	run.out.Examined = len(run.due)

	ready, ending := run.classify()
	run.collect(ending)
	policy.Order(ready)
	if err := run.fill(ready); err != nil {
		return Settled{}, err
	}
	run.deferRest()
	return run.out, nil
}

// laneRun is RunLane under way.
type laneRun struct {
	p      *params.Params
	kv     KV
	lane   Lane
	policy Policy
	due    []Entry
	// waiting has the reason of each due timer that was passed over so far, by
	// sequence; ended marks those that ended.
	waiting map[types.Seq]string
	out     Settled
}

// verdict is why a timer ends without firing.
type verdict struct {
	entry     Entry
	expired   bool
	required  types.Wei // where not expired
	available types.Wei
}

// classify parts the due timers into those that may fire and those that end
// unfired: expired ones first, then those whose payer, judged alone, cannot hold
// max_cost (decisions T9, T13).
func (r *laneRun) classify() (ready []Entry, ending []verdict) {
	for i := range r.due {
		if v, ends := r.judge(&r.due[i]); ends {
			ending = append(ending, v)
		} else {
			ready = append(ready, r.due[i])
		}
	}
	return ready, ending
}

func (r *laneRun) judge(e *Entry) (verdict, bool) {
	if r.lane.Height > e.ExpiresAt {
		return verdict{entry: *e, expired: true}, true
	}
	if Free(r.p) {
		return verdict{}, false
	}
	required, available := r.policy.MaxCost(r.p, r.lane.Fees, e.GasLimit), r.lane.Balance(e.FeePayer)
	return verdict{entry: *e, required: required, available: available}, available.Less(required)
}

// collect is the cleanup lane: it ends timers by trigger height, then sequence,
// as far as TIMER_GC_CYCLES reaches. The others wait, and are not fired
// meanwhile (decision T19).
func (r *laneRun) collect(ending []verdict) {
	for i := range ending {
		r.end(&ending[i])
	}
}

// end ends one timer unfired if the cleanup lane has room for it.
func (r *laneRun) end(v *verdict) {
	if r.out.GCCycles.Add(r.p.GCCyclesPerTimer) > r.p.GCCyclesPerBlock {
		r.wait(&v.entry, ReasonGCFull)
		return
	}
	r.out.GCCycles += r.p.GCCyclesPerTimer
	e := &v.entry
	change := types.TimerChange{Timer: load(r.kv, e, uint64(r.lane.Height-e.Height)), At: r.lane.Height}
	remove(r.kv, e)
	if v.expired {
		change.Status, change.Reason = types.TimerExpired, ReasonExpired
		r.out.Events = append(r.out.Events, event(EventExpired,
			Expired{TimerID: e.ID, ExpiresAt: e.ExpiresAt, CurrentHeight: r.lane.Height}))
	} else {
		change.Status, change.Reason = types.TimerInsufficientFunds, ReasonInsufficient
		r.out.Events = append(r.out.Events, event(EventInsufficientFunds,
			InsufficientFunds{TimerID: e.ID, FeePayer: e.FeePayer, Required: v.required, Available: v.available}))
	}
	r.out.Changes = append(r.out.Changes, change)
}

// fill gives each timer its turn: greedily, passing over what does not fit
// (decisions T11, T27).
func (r *laneRun) fill(ready []Entry) error {
	for i := range ready {
		e := &ready[i]
		cycles, cells := FireLimit(r.p, e.GasLimit)
		switch {
		case cycles > r.p.LaneTimerCycles.Sub(r.out.Cycles):
			r.wait(e, ReasonLaneFull)
		case cells > r.lane.CellsLeft.Sub(r.out.Cells):
			r.wait(e, ReasonCellsFull)
		default:
			if err := r.turn(e, cycles, cells); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn fires a timer that fits, unless an earlier fire of the block cancelled it
// or emptied its payer (decisions T9, T13).
func (r *laneRun) turn(e *Entry, cycles types.Cycles, cells types.Cells) error {
	current, pending := CalendarOf(r.kv).Find(e.Height, e.Seq)
	if !pending {
		return nil
	}
	e = &current // an earlier fire may have extended it
	v, ends := r.judge(e)
	if ends {
		r.end(&v)
		return nil
	}
	order := Fire{Timer: load(r.kv, e, uint64(r.lane.Height-e.Height)), Cycles: cycles, Cells: cells, MaxCost: v.required}
	order.Timer.Payload = readPayload(r.kv, e.ID)
	remove(r.kv, e)
	fired, err := r.lane.Fire(order)
	if err != nil {
		return fmt.Errorf("timer %s of actor %s: %w", e.ID, e.Actor, err)
	}
	if fired.Cycles > cycles || fired.Cells > cells {
		return fmt.Errorf("timer %s used %d cycles and %d cells of %d and %d: a bug of whoever ran it",
			e.ID, fired.Cycles, fired.Cells, cycles, cells)
	}
	r.settle(order.Timer, &fired)
	return nil
}

func (r *laneRun) settle(t types.Timer, fired *Fired) {
	t.Payload = nil
	r.out.Cycles += fired.Cycles
	r.out.Cells += fired.Cells
	r.out.Changes = append(r.out.Changes, types.TimerChange{
		Timer: t, Status: types.TimerFired, At: r.lane.Height,
		CyclesUsed: fired.Cycles, CellsUsed: fired.Cells, FeePaid: fired.FeePaid, TipPaid: fired.TipPaid, Result: fired.Result,
	})
	r.out.Changes = append(r.out.Changes, fired.Changes...)
}

// wait notes why a timer does not end in this block.
func (r *laneRun) wait(e *Entry, reason string) {
	if r.waiting == nil {
		r.waiting = make(map[types.Seq]string)
	}
	r.waiting[e.Seq] = reason
}

// deferRest reports the due timers that did not end, whatever the reason
// (decision T9). Those that a fire cancelled after they were passed over ended.
func (r *laneRun) deferRest() {
	calendar := CalendarOf(r.kv)
	for i := range r.due {
		e := &r.due[i]
		reason, waits := r.waiting[e.Seq]
		if !waits {
			continue
		}
		now, pending := calendar.Find(e.Height, e.Seq)
		if !pending {
			continue
		}
		r.out.Changes = append(r.out.Changes, types.TimerChange{
			Timer: types.Timer{ID: now.ID, Actor: now.Actor, Height: now.Height, FeePayer: now.FeePayer, GasLimit: now.GasLimit,
				ExpiresAt: now.ExpiresAt, Seq: now.Seq, Deferrals: Deferrals(now.Height, r.lane.Height)},
			Status: types.TimerPending, At: r.lane.Height, Reason: reason,
		})
	}
}
