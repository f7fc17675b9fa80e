package scheduler

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/plant"
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
	due := CalendarOf(kv).Due(lane.Height, p.MaxExamined)
	run := laneRun{p: p, kv: kv, lane: lane, policy: policy, due: due, waiting: make([]string, len(due))}
	run.out.Examined = len(due)

	ready, ending := run.classify()
	run.collect(ending)
	policy.Order(due, ready)
	if plant.Planted == plant.MapOrder {
		ready = plant.Shuffled(ready)
	}
	if err := run.fill(ready); err != nil {
		return Settled{}, err
	}
	run.deferRest()
	return run.out, nil
}

// laneRun is RunLane under way. Timers are spoken of by their places in due.
type laneRun struct {
	p       *params.Params
	kv      KV
	lane    Lane
	policy  Policy
	due     []Entry
	waiting []string // why the timer was passed over so far, or ""
	ran     bool     // whether any handler ran, and may have cancelled what waits
	out     Settled
}

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

// classify parts the due timers into those that may fire and those that end
// unfired: expired ones first, then those whose payer, judged alone, cannot hold
// max_cost (decisions T9, T13).
func (r *laneRun) classify() (ready []int, ending []endingAt) {
	ready = make([]int, 0, len(r.due))
	for i := range r.due {
		if v, ends := r.judge(&r.due[i]); ends {
			ending = append(ending, endingAt{i, v})
		} else {
			ready = append(ready, i)
		}
	}
	return ready, ending
}

func (r *laneRun) judge(e *Entry) (verdict, bool) {
	if r.lane.Height > e.ExpiresAt {
		return verdict{expired: true}, true
	}
	if Free(r.p) {
		return verdict{}, false
	}
	required, available := r.policy.MaxCost(r.p, r.lane.Fees, e.GasLimit), r.lane.Balance(e.FeePayer)
	return verdict{required: required, available: available}, available.Less(required)
}

// collect is the cleanup lane: it ends timers by trigger height, then sequence,
// as far as TIMER_GC_CYCLES reaches. The others wait, and are not fired
// meanwhile (decision T19).
func (r *laneRun) collect(ending []endingAt) {
	for i := range ending {
		r.end(ending[i].at, &ending[i].verdict)
	}
}

// end ends one timer unfired if the cleanup lane has room for it.
func (r *laneRun) end(at int, v *verdict) {
	if r.out.GCCycles.Add(r.p.GCCyclesPerTimer) > r.p.GCCyclesPerBlock {
		r.waiting[at] = ReasonGCFull
		return
	}
	r.out.GCCycles += r.p.GCCyclesPerTimer
	e := &r.due[at]
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
func (r *laneRun) fill(ready []int) error {
	for _, at := range ready {
		cycles, cells := FireLimit(r.p, r.due[at].GasLimit)
		switch {
		case cycles > r.p.LaneTimerCycles.Sub(r.out.Cycles):
			r.waiting[at] = ReasonLaneFull
		case cells > r.lane.CellsLeft.Sub(r.out.Cells):
			r.waiting[at] = ReasonCellsFull
		default:
			if err := r.turn(at, cycles, cells); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn fires a timer that fits, unless an earlier fire of the block cancelled it
// or emptied its payer (decisions T9, T13).
func (r *laneRun) turn(at int, cycles types.Cycles, cells types.Cells) error {
	e := &r.due[at]
	if !r.pending(e) {
		return nil
	}
	v, ends := r.judge(e)
	if ends {
		r.end(at, &v)
		return nil
	}
	order := Fire{Timer: load(r.kv, e, uint64(r.lane.Height-e.Height)), Cycles: cycles, Cells: cells, MaxCost: v.required}
	order.Timer.Payload = readPayload(r.kv, e.ID)
	remove(r.kv, e)
	r.ran = true
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

// pending looks whether a due timer still is, and brings its entry up to date:
// a handler of the block may have cancelled or extended it.
func (r *laneRun) pending(e *Entry) bool {
	if !r.ran {
		return true
	}
	current, pending := CalendarOf(r.kv).Find(e.Height, e.Seq)
	if pending {
		*e = current
	}
	return pending
}

// deferRest reports the due timers that did not end, whatever the reason
// (decision T9). Those that a fire cancelled after they were passed over ended.
func (r *laneRun) deferRest() {
	r.out.Changes = slices.Grow(r.out.Changes, len(r.due)) // at most as many, and nearly so in a backlog
	for at, reason := range r.waiting {
		e := &r.due[at]
		if reason == "" || !r.pending(e) {
			continue
		}
		if plant.Planted == plant.ForgetsCarried && r.lane.Height > e.Height {
			remove(r.kv, e)
			continue
		}
		r.out.Changes = append(r.out.Changes, types.TimerChange{
			Timer: types.Timer{ID: e.ID, Actor: e.Actor, Height: e.Height, FeePayer: e.FeePayer, GasLimit: e.GasLimit,
				ExpiresAt: e.ExpiresAt, Seq: e.Seq, Deferrals: Deferrals(e.Height, r.lane.Height)},
			Status: types.TimerPending, At: r.lane.Height, Reason: reason,
		})
	}
}
