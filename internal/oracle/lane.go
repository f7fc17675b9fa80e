package oracle

import (
	"bytes"
	"math/big"
	"sort"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// judgeLane judges what the timer lane of a block did, as far as its changes and
// receipts show it (decisions T5, T10, T11, T16, T19, T21, T24):
//
//	budget   the cycles of fires stay within the lane's, and each fire's limit fitted
//	         into what the lane and the block's cells had left when its turn came
//	order    under fifo by due height, then sequence; under eip1559 by
//	         (priority + floor) × weight, ties as the parameter says, exactly
//	greed    under these two, who waits because the lane or the block's cells are full
//	         would not have fitted at its turn
//	weights  under eip1559 each weight is W(actor), counted again from all fires
//	caps     what one fire may use; an auction's fires a block and an actor
//	cleanup  ends unfired fit their budget, and who waits for it did not
//	examined at most max_examined beside the expired, and no due timer is left out
//	         that ranks before one that was examined
//
// The first revision's slices and the auctions' order depend on what bidders said
// and on state that no block shows: there the order is not judged.
func (j *Judge) judgeLane(o *Observation) {
	h := o.Block.Header.Height
	wrong := func(format string, args ...any) { j.reportViolation("lane", h, types.Address{}, format, args...) }
	r := &laneOf{Judge: j, o: o, rules: &o.Lane, wrong: wrong, woken: map[types.TimerID]types.Height{}}
	r.judgeShare()
	r.judgeBudget()
	if r.rules.Policy == eip1559 {
		r.judgeWeights()
	}
	if r.rules.Policy == eip1559 || r.rules.Policy == fifo {
		r.judgeOrder()
		r.judgeSkippedTimers()
	}
	if r.rules.isAuction() {
		r.judgeCaps()
	}
	r.judgeCleanup()
	r.gatherExaminedTimers()
	j.window.countFires(o, &j.books, r.fires)
}

// laneOf is lane under way.
type laneOf struct {
	*Judge
	o     *Observation
	rules *LaneRules
	wrong func(string, ...any)
	fires []*types.TimerChange
	waits []*types.TimerChange // examined and deferred
	ended uint64               // how many the lane ended unfired
	gone  uint64               // how many due timers a handler cancelled
	woken map[types.TimerID]types.Height
	used  []types.Cycles // the cycles of the fires before each, and of all
	cells []types.Cells
}

func (r *laneOf) judgeShare() {
	for i := range r.o.Timers {
		c := &r.o.Timers[i]
		switch {
		case c.Status == types.TimerFired:
			r.fires = append(r.fires, c)
		case c.Status == types.TimerExpired || c.Status == types.TimerInsufficientFunds:
			r.ended++
		case c.Status == types.TimerCancelled:
			if l := r.timers.pending[c.Timer.ID]; l != nil && l.isDue(c.At) {
				r.gone++
			}
		case c.Kind == types.ChangeTriggered:
			r.woken[c.Timer.ID] = c.At
		case r.isDeferral(c):
			r.waits = append(r.waits, c)
		}
	}
}

// isDeferral distinguishes a deferral from the other changes of a pending timer.
func (j *Judge) isDeferral(c *types.TimerChange) bool {
	return c.Kind == types.ChangeDeferred && j.timers.pending[c.Timer.ID] != nil
}

// scheduledTimer is the timer of a change as it was scheduled: a deferral tells only what
// examining read.
func (r *laneOf) scheduledTimer(c *types.TimerChange) *types.Timer {
	if l := r.timers.pending[c.Timer.ID]; l != nil {
		return &l.timer
	}
	return &c.Timer
}

func (r *laneOf) dueHeight(c *types.TimerChange) types.Height {
	if at, ok := r.woken[c.Timer.ID]; ok {
		return at
	}
	if l := r.timers.pending[c.Timer.ID]; l != nil {
		return l.dueHeight()
	}
	return c.Timer.Height
}

// cellsBefore is what the block had left of its cells when the lane began.
func (r *laneOf) cellsBefore() types.Cells {
	left := r.rules.CellsLimit
	if r.rules.Policy == firstRevision {
		return left // its lane comes before the transactions (decision T3)
	}
	for i := range r.o.Receipts {
		if r.o.Receipts[i].Origin == types.OriginTransaction {
			left = left.Sub(r.o.Receipts[i].Cells)
		}
	}
	return left
}

func (r *laneOf) judgeBudget() {
	var cycles types.Cycles
	var cells types.Cells
	left := r.cellsBefore()
	for _, c := range r.fires {
		limit := r.rules.limitOfFire(r.scheduledTimer(c))
		r.used, r.cells = append(r.used, cycles), append(r.cells, cells)
		if limit > r.rules.LaneBudget.Sub(cycles) {
			r.wrong("timer %s with a limit of %d cycles fired when %d of the lane's %d were used", c.Timer.ID, limit, cycles, r.rules.LaneBudget)
		}
		if r.rules.FireCells > left.Sub(cells) {
			r.wrong("timer %s fired when the block had %d cells left, of the %d that a fire may use", c.Timer.ID, left.Sub(cells), r.rules.FireCells)
		}
		if c.CyclesUsed > limit || c.CellsUsed > r.rules.FireCells {
			r.wrong("the fire of %s used %d cycles and %d cells, of %d and %d", c.Timer.ID, c.CyclesUsed, c.CellsUsed, limit, r.rules.FireCells)
		}
		cycles, cells = cycles.Add(c.CyclesUsed), cells.Add(c.CellsUsed)
	}
	r.used, r.cells = append(r.used, cycles), append(r.cells, cells)
	if cycles > r.rules.LaneBudget {
		r.wrong("fires used %d cycles, the lane has %d", cycles, r.rules.LaneBudget)
	}
	r.seen.Lanes++
}

// isAhead reports whether the turn of a comes before that of b.
func (r *laneOf) isAhead(a, b *types.TimerChange) bool {
	if r.rules.Policy == eip1559 {
		if c := urgencyOf(r.rules, a, b).Cmp(urgencyOf(r.rules, b, a)); c != 0 {
			return c > 0
		}
		if !r.rules.TieByAge {
			return bytes.Compare(a.Timer.ID[:], b.Timer.ID[:]) < 0
		}
	}
	if x, y := r.dueHeight(a), r.dueHeight(b); x != y {
		return x < y
	}
	return a.Timer.Seq < b.Timer.Seq
}

// urgencyOf is (priority + floor) × weight of c, times the denominator of the
// weight that it is compared with.
func urgencyOf(l *LaneRules, c, other *types.TimerChange) *big.Int {
	u := new(big.Int).Add(c.Priority.Big(), l.PriorityFloor.Big())
	u.Mul(u, new(big.Int).SetUint64(c.Weight.Num))
	return u.Mul(u, new(big.Int).SetUint64(max(1, other.Weight.Den)))
}

func (r *laneOf) judgeOrder() {
	for i := 1; i < len(r.fires); i++ {
		if a, b := r.fires[i-1], r.fires[i]; r.isAhead(b, a) {
			r.wrong("timer %s (priority %s, weight %s, due %d, sequence %d) fired after %s (priority %s, weight %s, due %d, sequence %d)",
				b.Timer.ID, b.Priority, b.Weight, r.dueHeight(b), b.Timer.Seq, a.Timer.ID, a.Priority, a.Weight, r.dueHeight(a), a.Timer.Seq)
		}
	}
}

// judgeSkippedTimers looks for timers that were skipped though they fitted.
func (r *laneOf) judgeSkippedTimers() {
	left := r.cellsBefore()
	for _, c := range r.waits {
		if c.Reason != reasonLaneFull && c.Reason != reasonCells {
			continue
		}
		turn := len(r.fires)
		if n := len(r.fires); n > 0 && r.isAhead(c, r.fires[n-1]) {
			turn = sort.Search(n, func(i int) bool { return r.isAhead(c, r.fires[i]) })
		}
		limit := r.rules.limitOfFire(r.scheduledTimer(c))
		fits := limit <= r.rules.LaneBudget.Sub(r.used[turn])
		if c.Reason == reasonLaneFull && fits || c.Reason == reasonCells && (!fits || r.rules.FireCells <= left.Sub(r.cells[turn])) {
			r.wrong("timer %s with a limit of %d cycles waits (%s) despite room: %d of %d cycles of the lane used, %d cells left",
				c.Timer.ID, limit, c.Reason, r.used[turn], r.rules.LaneBudget, left.Sub(r.cells[turn]))
		}
	}
}

// judgeCaps judges an auction's caps (CIP-5 §9.6); its winners are filled by their
// limits (decision T24).
func (r *laneOf) judgeCaps() {
	perActor := map[types.Address]uint64{}
	var limits types.Cycles
	for _, c := range r.fires {
		perActor[c.Timer.Actor]++
		limits = limits.Add(r.rules.limitOfFire(r.scheduledTimer(c)))
		if n := perActor[c.Timer.Actor]; n == r.rules.FiresActor+1 {
			r.wrong("actor %s won more than %d times", c.Timer.Actor, r.rules.FiresActor)
		}
	}
	if n := uint64(len(r.fires)); n > r.rules.FiresBlock {
		r.wrong("%d timers won, at most %d", n, r.rules.FiresBlock)
	}
	if limits > r.rules.LaneBudget {
		r.wrong("the winners' limits are %d cycles, the lane has %d", limits, r.rules.LaneBudget)
	}
}

func (r *laneOf) judgeCleanup() {
	room := uint64(r.rules.GCBudget / max(1, r.rules.GCPerTimer))
	if r.ended > room {
		r.wrong("%d timers ended unfired, the cleanup lane has room for %d", r.ended, room)
	}
	for _, c := range r.waits {
		if c.Reason == reasonGC && r.ended < room {
			r.wrong("timer %s waits for the cleanup lane, which ended %d and has room for %d", c.Timer.ID, r.ended, room)
			return
		}
	}
}
