package oracle

import (
	"cmp"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// examinedTimers is which due timers a block examined, as far as it tells (decision T16).
type examinedTimers struct {
	full    bool  // as many as a block may, not counting expired timers
	live    *life // of those that had not expired, the last by rank; nil for none
	expired *life // of those that had, the same
	owing   bool  // as many in arrears as a block may
	last    *life // of those in arrears, the last by rank; nil for none
}

// leftOut reports whether a block that examined these may have left out a due
// timer. A place that a block gave to a timer was free for every earlier timer of
// the same kind. Expired timers may also take the places of the others.
func (e *examinedTimers) leftOut(l *life, h types.Height) bool {
	follows := func(last *life) bool { return last == nil || last.isExaminedBefore(l) }
	if e.owing && l.unpaid > 0 && follows(e.last) {
		return true
	}
	return e.full && follows(e.live) && (l.timer.ExpiresAt >= h || follows(e.expired))
}

// isExaminedBefore reports whether l is examined before m (decision T16): timers in arrears
// last, by the height of their last examination. Then the stated tip decides, then
// the sequence.
func (l *life) isExaminedBefore(m *life) bool {
	return cmp.Or(cmp.Compare(l.unpaid, m.unpaid), m.rank.Cmp(l.rank), cmp.Compare(l.timer.Seq, m.timer.Seq)) < 0
}

// noteCouldPay notes whether a timer that a block examined and deferred could pay, by the
// reason for which it waits (decision T16). Some reasons do not show that: the timer
// then stays in arrears, or out of them.
func (l *life) noteCouldPay(c *types.TimerChange) {
	switch c.Reason {
	case "insufficient_funds", "below_lane_basefee", "below_basefee_cycle":
		l.unpaid = c.At
	case "gc_lane_full", "not_begun", "host_failed":
		insolvent := c.Reason == reasonGC && c.Timer.ExpiresAt >= c.At
		if l.unpaid > 0 || insolvent {
			l.unpaid = c.At
		}
	default:
		l.unpaid = 0
	}
}

// gatherExaminedTimers gathers the timers that the block examined, and judges their number. There
// are at most max_examined, and in addition as many expired ones as the cleanup lane
// takes. At most max_arrears_examined of them are in arrears.
func (r *laneOf) gatherExaminedTimers() {
	var e examinedTimers
	var live, expired, owing uint64
	h := r.o.Block.Header.Height
	for i := range r.o.Timers {
		c := &r.o.Timers[i]
		lane := c.Status == types.TimerFired || c.Status == types.TimerExpired || c.Status == types.TimerInsufficientFunds || r.isDeferral(c)
		if !lane {
			continue
		}
		last, n := &e.live, &live
		l := r.timers.pending[c.Timer.ID]
		if c.Status == types.TimerExpired || c.Reason == reasonGC && l != nil && l.timer.ExpiresAt < h {
			last, n = &e.expired, &expired
		}
		*n++
		if l == nil {
			continue
		}
		as := *l // as the block found it
		if *last == nil || (*last).isExaminedBefore(l) {
			*last = &as
		}
		if l.unpaid > 0 {
			owing++
			if e.last == nil || e.last.isExaminedBefore(l) {
				e.last = &as
			}
		}
	}
	beside := min(expired, uint64(r.rules.GCBudget/max(1, r.rules.GCPerTimer)))
	if spoken := live + expired; spoken-beside > r.rules.Examined {
		r.wrong("the block examined %d due timers, at most %d and %d expired ones", spoken, r.rules.Examined, beside)
	}
	if owing > r.rules.Arrears {
		r.wrong("the block examined %d due timers in arrears, at most %d", owing, r.rules.Arrears)
	}
	e.owing = owing+r.gone >= r.rules.Arrears
	e.full = live+expired-beside+r.gone >= r.rules.Examined
	r.timers.examined = e
}
