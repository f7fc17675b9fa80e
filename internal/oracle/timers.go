package oracle

import (
	"cmp"
	"math"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// timers is every timer's life so far.
type timers struct {
	pending map[types.TimerID]*life
	ended   map[types.TimerID]types.TimerStatus
	nonces  map[types.Address]uint64
	lastSeq types.Seq
	any     bool // a timer was scheduled

	examined examinedTimers // by the block that is judged
}

// life is a pending timer.
type life struct {
	timer     types.Timer
	rank      types.Wei    // the tip it stated, where tips counted when it was scheduled
	triggered types.Height // in which block what it watches changed; 0 before
	judged    types.Height // the height at which it was deferred last
	unpaid    types.Height // its last examination, if it could not pay in that block; 0 if it is not in arrears
}

// dueHeight is the height from which the timer is due: of one that watches a key that
// has not changed the first at which it has expired (decision T26).
func (l *life) dueHeight() types.Height {
	switch {
	case l.timer.Watch == nil:
		return l.timer.Height
	case l.triggered != 0:
		return l.triggered
	}
	return l.timer.ExpiresAt + 1
}

func (l *life) isDue(h types.Height) bool { return l.dueHeight() <= h && l.timer.ScheduledAt < h }

func newTimers() timers {
	return timers{map[types.TimerID]*life{}, map[types.TimerID]types.TimerStatus{}, map[types.Address]uint64{}, 0, false, examinedTimers{}}
}

// judgeTimerChanges judges a block's changes of timers (decisions T1-T6, T9, T19, T20, T26). Ids
// are made as specified, and each timer ends once. None fires before its height, in
// the block that created it or before its watched key changed. At every height at
// which a timer is due it ends or is deferred, unless the block reached its limit
// of examined timers.
func (j *Judge) judgeTimerChanges(o *Observation) {
	h := o.Block.Header.Height
	wrong := func(format string, args ...any) { j.reportViolation("timers", h, types.Address{}, format, args...) }
	for i := range o.Timers {
		c := &o.Timers[i]
		if c.At != h {
			wrong("a change of timer %s says height %d", c.Timer.ID, c.At)
		}
		known := j.timers.pending[c.Timer.ID]
		if (c.Kind == types.ChangeEnded) != (c.Status != types.TimerPending) {
			wrong("timer %s is %s (%s), but its change has the kind %d", c.Timer.ID, c.Status, c.Reason, c.Kind)
		}
		switch {
		case j.timers.ended[c.Timer.ID] != "":
			wrong("timer %s is %s (%s), and had ended: %s", c.Timer.ID, c.Status, c.Reason, j.timers.ended[c.Timer.ID])
		case known == nil:
			j.judgeNewTimer(&o.Lane, c, wrong)
		case c.Kind == types.ChangeTriggered:
			j.judgeWake(known, c, wrong)
		case c.Kind == types.ChangeExtended:
			j.judgeExtension(known, c, wrong)
		case c.Kind == types.ChangeDeferred:
			j.judgeDeferral(known, c, wrong)
		case c.Kind == types.ChangeEnded:
			j.judgeTimerEnd(o.Lane.Policy, known, c, wrong)
		default:
			wrong("timer %s is scheduled again", c.Timer.ID)
		}
	}
	j.judgeOverdue(h, wrong)
}

// judgeNewTimer judges a timer that is new.
func (j *Judge) judgeNewTimer(rules *LaneRules, c *types.TimerChange, wrong func(string, ...any)) {
	t := &c.Timer
	if c.Kind != types.ChangeScheduled || c.Reason != "" {
		wrong("timer %s, which was never scheduled, is %s (%s)", t.ID, c.Status, c.Reason)
		return
	}
	j.seen.Scheduled++
	nonce := j.timers.nonces[t.Actor]
	j.timers.nonces[t.Actor]++
	if want := keccak256(t.Actor[:], be8(uint64(t.Height)), t.Payload, be8(nonce)); t.ID != want {
		wrong("the timer with nonce %d of %s has id %s, want %s", nonce, t.Actor, t.ID, want)
	}
	if t.ScheduledAt != c.At || t.Height <= c.At || t.ExpiresAt < t.Height {
		wrong("timer %s, scheduled at %d, is due at %d and expires at %d", t.ID, t.ScheduledAt, t.Height, t.ExpiresAt)
	}
	if j.timers.any && t.Seq <= j.timers.lastSeq {
		wrong("timer %s has sequence %d after %d", t.ID, t.Seq, j.timers.lastSeq)
	}
	j.timers.any, j.timers.lastSeq = true, t.Seq
	l := &life{timer: *t}
	if rules.Policy == eip1559 && t.MaxPriorityFeePerCycle != nil && t.MaxFeePerCycle != nil {
		l.rank = t.MaxPriorityFeePerCycle.Min(*t.MaxFeePerCycle).Min(types.WeiOf(math.MaxUint64))
	}
	j.timers.pending[t.ID] = l
}

// judgeWake judges that what a timer watches changed: once, at its height at the
// earliest, in a block after the one that scheduled it (decision T26).
func (j *Judge) judgeWake(known *life, c *types.TimerChange, wrong func(string, ...any)) {
	j.seen.Triggered++
	j.judgeSameTimer(known, c, wrong)
	t := &known.timer
	if t.Watch == nil || known.triggered != 0 || c.At < t.Height || c.At <= t.ScheduledAt || c.At > t.ExpiresAt {
		wrong("timer %s, scheduled at %d for %d and expiring at %d, is triggered (watching: %v, triggered before at %d)",
			t.ID, t.ScheduledAt, t.Height, t.ExpiresAt, t.Watch != nil, known.triggered)
	}
	known.triggered = c.At
}

// judgeExtension judges that expires_at was moved: it only lengthens (decision T18).
func (j *Judge) judgeExtension(known *life, c *types.TimerChange, wrong func(string, ...any)) {
	j.judgeSameTimer(known, c, wrong)
	if c.Timer.ExpiresAt <= known.timer.ExpiresAt {
		wrong("timer %s is extended to %d, and expires at %d", c.Timer.ID, c.Timer.ExpiresAt, known.timer.ExpiresAt)
	}
	j.judgeDeferralCount(known, c, wrong)
	known.timer.ExpiresAt = c.Timer.ExpiresAt
}

// judgeDeferral judges that a block left a timer for a later one.
func (j *Judge) judgeDeferral(known *life, c *types.TimerChange, wrong func(string, ...any)) {
	j.judgeSameTimer(known, c, wrong)
	j.seen.Deferred++
	if c.Timer.ExpiresAt != known.timer.ExpiresAt {
		wrong("timer %s expires at %d, and did at %d", c.Timer.ID, c.Timer.ExpiresAt, known.timer.ExpiresAt)
	}
	if c.Reason == "" {
		wrong("timer %s is deferred without a reason", c.Timer.ID)
	}
	if !known.isDue(c.At) {
		wrong("timer %s, scheduled at %d and due at %d, is deferred", c.Timer.ID, known.timer.ScheduledAt, known.dueHeight())
		return
	}
	if known.judged == c.At {
		wrong("timer %s is deferred twice", c.Timer.ID)
	}
	if want := uint64(c.At-known.dueHeight()) + 1; c.Timer.Deferrals != want {
		wrong("timer %s counts %d deferrals, want %d", c.Timer.ID, c.Timer.Deferrals, want)
	}
	known.judged = c.At
	known.noteCouldPay(c)
}

// judgeTimerEnd judges the end of a timer.
func (j *Judge) judgeTimerEnd(policy string, known *life, c *types.TimerChange, wrong func(string, ...any)) {
	j.seen.Ended++
	j.judgeSameTimer(known, c, wrong)
	delete(j.timers.pending, c.Timer.ID)
	j.timers.ended[c.Timer.ID] = c.Status
	t := &known.timer
	// A transaction under gba, and a delivery under every policy, follow the lane
	// and may cancel its deferred timers.
	if known.judged == c.At && c.Status != types.TimerCancelled {
		wrong("timer %s is deferred and ends in one block", t.ID)
	}
	j.judgeDeferralCount(known, c, wrong)
	early := !known.isDue(c.At)
	switch c.Status {
	case types.TimerFired:
		j.seen.Fired++
		if early || c.At > t.ExpiresAt {
			wrong("timer %s, scheduled at %d, due at %d and expiring at %d, fired", t.ID, t.ScheduledAt, known.dueHeight(), t.ExpiresAt)
		}
		if t.GasLimit > 0 && c.CyclesUsed > t.GasLimit {
			wrong("timer %s used %d cycles of %d", t.ID, c.CyclesUsed, t.GasLimit)
		}
	case types.TimerExpired:
		j.seen.Expired++
		if c.At <= t.ExpiresAt {
			wrong("timer %s, which expires at %d, is expired", t.ID, t.ExpiresAt)
		}
	case types.TimerInsufficientFunds:
		j.seen.Insufficient++
		if early || j.rules.FreeFees && policy == fifo {
			wrong("timer %s, due at %d, ended for lack of funds", t.ID, known.dueHeight())
		}
	case types.TimerCancelled:
		j.seen.Cancelled++
	default:
		wrong("timer %s is %q", t.ID, c.Status)
	}
}

// judgeDeferralCount judges how many deferrals a timer that ends or is extended reports. A
// deferral is every block from the due height on, with the present one if that
// deferred the timer before. A block that reached its limit of examined timers does
// not report its deferrals.
func (j *Judge) judgeDeferralCount(known *life, c *types.TimerChange, wrong func(string, ...any)) {
	if known.dueHeight() > known.timer.ExpiresAt {
		return // it watches, and is due only because its time is over: to extend it takes that back
	}
	var want uint64
	if known.isDue(c.At) {
		want = uint64(c.At - known.dueHeight())
	}
	unsaid := known.isDue(c.At) && (j.timers.examined.full || j.timers.examined.owing) && c.Timer.Deferrals == want+1
	if known.judged == c.At {
		want++
	}
	if c.Timer.Deferrals != want && !unsaid {
		wrong("timer %s (%s %s) counts %d deferrals, want %d", c.Timer.ID, c.Status, c.Reason, c.Timer.Deferrals, want)
	}
}

// judgeSameTimer judges that a change speaks of the timer that was scheduled.
func (j *Judge) judgeSameTimer(known *life, c *types.TimerChange, wrong func(string, ...any)) {
	a, b := &known.timer, &c.Timer
	if a.Actor != b.Actor || b.Height != a.Height && b.Height != known.dueHeight() || a.Seq != b.Seq {
		wrong("timer %s of %s, due at %d with sequence %d, became one of %s, due at %d with sequence %d",
			a.ID, a.Actor, a.Height, a.Seq, b.Actor, b.Height, b.Seq)
	}
}

// judgeOverdue judges that every timer that was due was spoken of: it ended, or it
// was deferred (decision T9). A block that examined as many as it may leaves out
// only what ranks after these (decision T16).
func (j *Judge) judgeOverdue(h types.Height, wrong func(string, ...any)) {
	var forgotten []*life
	for _, l := range j.timers.pending {
		if l.isDue(h) && l.judged != h && !j.timers.examined.leftOut(l, h) {
			forgotten = append(forgotten, l)
		}
	}
	slices.SortFunc(forgotten, func(a, b *life) int { return cmp.Compare(a.timer.Seq, b.timer.Seq) })
	for _, l := range forgotten {
		wrong("timer %s, due at %d, neither ended nor was deferred", l.timer.ID, l.dueHeight())
	}
}
