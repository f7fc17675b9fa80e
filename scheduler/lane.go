package scheduler

import (
	"cmp"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/calendar"
)

// LaneHost lends RunLane the parts of the state transition outside the block: room,
// and the programs.
type LaneHost struct {
	CellsLeft  types.Cells  // what is left of the block's limit when the lane begins
	LastCycles types.Cycles // what the block before used
	Proposer   types.Address
	Validators *types.ValidatorSet // whose hosts may fail (decision C18)
	// Ask calls get_gas_bid of a bidder, read-only, and charges what it used; or
	// it passes the question over. An error comes from the environment, and ends
	// the block without a result.
	Ask func(BidCall) (Answer, error)
	// Fire takes the timer out of state by order.Take, charges the payer
	// order.MaxCost, runs the handler, refunds what was not used, whatever the
	// handler's end (decision T2), and pays order.Payment from the escrow to the
	// proposer. Or it passes the fire over, and state is as before. An error comes
	// from the environment, and ends the block without a result.
	Fire func(order Fire) (Fired, error)
}

// BidCall is a read-only call of get_gas_bid.
type BidCall struct {
	Bidder  types.Address
	Payer   types.Address // charged for the cycles used, at the cycle base fee; it holds Cycles of them
	Actor   types.Address // whose timers it prices
	Trigger types.Height  // the height of these timers
	Context []byte        // the payload (CIP-1 §7.2)
	Cycles  types.Cycles  // limit
	Failed  bool          // enough hosts failed on it: it is not asked, and all of Cycles is charged
}

// Answer is the answer of a bidder.
type Answer struct {
	Output []byte
	Fault  string       // why there is no output, or ""
	Cycles types.Cycles // used, at most BidCall.Cycles
	Passed string       // why it was skipped, uncharged, or ""
	Over   bool         // no other bidder is asked
}

// Fire is one fire to be settled.
type Fire struct {
	Timer   types.Timer // whole, payload included
	Cycles  types.Cycles
	Cells   types.Cells
	Price   feemarket.Price // all zero where fires are free
	MaxCost types.Wei       // Price of Cycles and Cells
	Payment types.Wei       // amount that an auction's winner pays on top of the price
	// Take takes the timer out of state and of its actor's count, which comes
	// before its handler (decision T18).
	Take func()
	// Failed is true if enough hosts failed on it. No handler runs, and all of
	// Cycles and Cells is charged (decision C18).
	Failed bool
}

// Fired is the outcome of a fire.
type Fired struct {
	Result  types.Status
	Cycles  types.Cycles        // used, at most Fire.Cycles
	Cells   types.Cells         // used, at most Fire.Cells
	FeePaid types.Wei           // all of it, tip and payment included
	TipPaid types.Wei           // the part that the proposer got
	Changes []types.TimerChange // what the handler did to timers, where it kept its effects
	Passed  string              // why it was skipped, uncharged and still in state, or ""
	Over    bool                // no other is begun
}

// LaneResult is the effect of the lane in a block.
type LaneResult struct {
	// Changes has the ends of the cleanup lane, then the fires in the order of
	// turns, each followed by the effects of its handler, and timers that could not
	// pay at their turn, then the deferrals by trigger height and sequence. Only
	// what a fire's handler scheduled has its payload: a reader has it from there.
	// A deferral has the timer's id, actor, height, sequence, fee payer, limit,
	// expiry and deferrals, since examining a timer reads no more. Timers beyond
	// MaxExamined are deferred unreported; DueNow counts them.
	Changes   []types.TimerChange
	Events    []types.Event
	Cycles    types.Cycles // what fires used: the lane's utilisation (decision T11)
	Cells     types.Cells  // what fires used
	GCCycles  types.Cycles // what the cleanup lane used
	AskCycles types.Cycles // what bidders used
	Examined  int
	Deferred  int // how many of Changes are deferrals
}

// RunLane runs the lane's part of the block. It takes the due timers, prices and
// classifies them, and ends in the cleanup lane those that expired or cannot pay.
// The others get their turns in the order of the policy as long as they fit, each
// settled before the next. Timers that do not end stay due.
//
// Spec: CIP-5 §5, CIP-1 §3 steps 4-10; decisions T6, T9, T11, T13, T16, T19, T27.
func (b *InBlock) RunLane(lane LaneHost) (LaneResult, error) {
	policy, err := policyOf(b.Params)
	if err != nil {
		return LaneResult{}, err
	}
	r := &laneRun{InBlock: b, host: lane, policy: policy}
	run := policy.openRun(r)
	r.takeDue()
	if err := run.quotePrices(); err != nil {
		return LaneResult{}, err
	}
	ready, ending := r.classifyDue()
	r.runCleanup(ending)
	if err := r.runGreedy(run.fillLane(ready)); err != nil {
		return LaneResult{}, err
	}
	run.closeRun()
	r.deferRest()
	if !r.more {
		r.calendarOf().Settle(r.Height)
	}
	return r.out, nil
}

// laneRun is RunLane under way. Timers are spoken of by their places in due.
type laneRun struct {
	*InBlock
	host   LaneHost
	policy policy
	due    []dueTimer
	more   bool // whether timers may be due that the block does not examine
	ran    bool // whether any handler ran, and may have cancelled what waits
	over   bool // the proposer's time: nothing more is begun (decision C18)
	out    LaneResult
}

// dueTimer is a timer that the block examines.
type dueTimer struct {
	Entry
	quote
	payer   types.Address // charged for the fire and for its bidder's call
	waiting string        // why it was skipped so far, or ""
	fired   bool
	used    types.Cycles // what its fire used
}

// offeredAmount returns the amount that its change reports: an auction's bid, otherwise
// the tip.
func (d *dueTimer) offeredAmount() types.Wei {
	if d.price.TipCycle.IsZero() {
		return d.Bid
	}
	return d.price.TipCycle
}

func (d *dueTimer) hasExpired(now types.Height) bool { return now > d.ExpiresAt }

// takeDue examines the due timers: max_examined_timers of them, as many expired timers,
// which can only end, as the cleanup lane takes (decision T16), and at most
// max_arrears_examined of those in arrears. Their places in due are in the order of
// trigger height, then sequence.
func (r *laneRun) takeDue() {
	room, beside := r.Params.MaxExamined, r.cleanupRoom()
	limit := max(room, room+beside) // a sum that wraps is beyond all there are
	items, inArrears := r.calendarOf().tiers.DueOf(r.Height, limit, r.Params.MaxArrears)
	found := len(items)
	if uint64(found) > room {
		items = r.keepExaminable(items, room, beside)
	}
	r.more = len(items) < found || uint64(found) == limit || inArrears == r.Params.MaxArrears
	slices.SortFunc(items, func(a, b calendar.Item) int {
		return cmp.Or(cmp.Compare(a.Height, b.Height), cmp.Compare(a.Seq, b.Seq))
	})
	r.due = make([]dueTimer, len(items))
	for i := range items {
		d := &r.due[i]
		d.Entry = mustDecodeEntry(items[i].Place, items[i].Value)
		d.payer = d.FeePayer
	}
	r.out.Examined = len(items)
	r.out.Changes = make([]types.TimerChange, 0, len(items)) // one each, besides those of handlers
}

// keepExaminable keeps the first room items, and after these at most as many expired
// items as the second limit admits.
func (r *laneRun) keepExaminable(items []calendar.Item, room, beside uint64) []calendar.Item {
	kept := items[:0]
	for _, item := range items {
		e := mustDecodeEntry(item.Place, item.Value)
		switch {
		case beside > 0 && r.Height > e.ExpiresAt:
			beside--
		case room > 0:
			room--
		default:
			continue
		}
		kept = append(kept, item)
	}
	return kept
}

// cleanupRoom is the number of timers that the cleanup lane can end in a block.
func (r *laneRun) cleanupRoom() uint64 {
	if r.Params.GCCyclesPerTimer == 0 {
		return r.Params.MaxExamined
	}
	return uint64(r.Params.GCCyclesPerBlock / r.Params.GCCyclesPerTimer)
}

// deferRest reports the due timers that did not end, whatever the reason
// (decision T9), and puts each where the next block looks for it. Timers that a fire
// cancelled after they were skipped ended.
func (r *laneRun) deferRest() {
	for i := range r.due {
		d := &r.due[i]
		if d.waiting == "" || !r.isStillPending(d) {
			continue
		}
		if plant.Planted == plant.ForgetsCarried && r.Height > d.Height {
			r.removeTimer(&d.Entry)
			continue
		}
		r.shiftArrears(&d.Entry, r.examinedOf(d))
		r.out.Deferred++
		r.out.Changes = append(r.out.Changes, types.TimerChange{Kind: types.ChangeDeferred,
			Timer: types.Timer{ID: d.ID, Actor: d.Actor, Height: d.Height, FeePayer: d.FeePayer, GasLimit: d.GasLimit,
				ExpiresAt: d.ExpiresAt, Seq: d.Seq, Deferrals: Deferrals(d.Height, r.Height)},
			Status: types.TimerPending, At: r.Height, Reason: d.waiting, Priority: d.offeredAmount(), Weight: lowestTerms(d.weight),
		})
	}
}
