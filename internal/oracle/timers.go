package oracle

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/types"
)

// timers is every timer's life so far.
type timers struct {
	pending map[types.TimerID]*life
	ended   map[types.TimerID]types.TimerStatus
	nonces  map[types.Address]uint64
	lastSeq types.Seq
	any     bool // a timer was scheduled
}

// life is a pending timer.
type life struct {
	timer  types.Timer
	due    types.Height // 0: not yet known, until the key it watches changes
	judged types.Height // at which it was deferred last
}

func newTimers() timers {
	return timers{map[types.TimerID]*life{}, map[types.TimerID]types.TimerStatus{}, map[types.Address]uint64{}, 0, false}
}

// age judges what a block did to timers (decisions T1-T6, T9, T19, T20, T26):
// ids are made as told, each timer ends once, none fires before it is due or in
// the block that created it, those that fire do so in the order of the policy,
// at every height at which a timer is due it ends or is deferred, and the lane
// keeps its budgets.
func (j *Judge) age(o *Observation) {
	h := o.Block.Header.Height
	wrong := func(format string, args ...any) { j.report("timers", h, types.Address{}, format, args...) }
	var fired *types.TimerChange
	for i := range o.Timers {
		c := &o.Timers[i]
		if c.At != h {
			wrong("a change of timer %s says height %d", c.Timer.ID, c.At)
		}
		known := j.timers.pending[c.Timer.ID]
		switch {
		case j.timers.ended[c.Timer.ID] != "":
			wrong("timer %s is %s (%s), and had ended: %s", c.Timer.ID, c.Status, c.Reason, j.timers.ended[c.Timer.ID])
		case known == nil:
			j.scheduled(c, wrong)
		case c.Status == types.TimerPending:
			j.kept(known, c, wrong)
		default:
			j.ends(known, c, wrong)
			if c.Status == types.TimerFired {
				if fired != nil {
					j.turns(&o.Lane, fired, c, wrong)
				}
				fired = c
			}
		}
	}
	j.overdue(h, wrong)
	if used := uint64(o.Block.Header.TimerCyclesUsed); o.Lane.Budget > 0 && used > o.Lane.Budget {
		wrong("its fires used %d cycles, and the lane has %d", used, o.Lane.Budget)
	}
	if o.Lane.GCCycles > o.Lane.GCBudget {
		wrong("its cleanup lane used %d cycles of %d", o.Lane.GCCycles, o.Lane.GCBudget)
	}
}

// turns judges that second might fire after first: under fifo by when they were
// due, then sequence (decision T27); under eip1559 by priority × weight (CIP-1
// §3 step 7; ties are the tie break's). The auctions' orders are not judged.
func (j *Judge) turns(lane *Lane, first, second *types.TimerChange, wrong func(string, ...any)) {
	a, b := &first.Timer, &second.Timer
	switch lane.Policy {
	case "", "fifo":
		if b.Watch == nil && a.Watch == nil && (b.Height < a.Height || b.Height == a.Height && b.Seq < a.Seq) {
			wrong("timer %s (due %d, sequence %d) fired after %s (due %d, sequence %d)", b.ID, b.Height, b.Seq, a.ID, a.Height, a.Seq)
		}
	case "eip1559":
		if first.Weight.Den == 0 || second.Weight.Den == 0 {
			wrong("timer %s or %s fired without a weight", a.ID, b.ID)
			return
		}
		floor := lane.Floor.Big()
		before := times(times(floor.Add(floor, first.Priority.Big()), first.Weight.Num), second.Weight.Den)
		floor = lane.Floor.Big()
		after := times(times(floor.Add(floor, second.Priority.Big()), second.Weight.Num), first.Weight.Den)
		if before.Cmp(after) < 0 {
			wrong("timer %s (priority %s, weight %s) fired after %s (priority %s, weight %s)", b.ID, second.Priority, second.Weight,
				a.ID, first.Priority, first.Weight)
		}
	}
}

// scheduled judges a timer that is new.
func (j *Judge) scheduled(c *types.TimerChange, wrong func(string, ...any)) {
	t := &c.Timer
	if c.Status != types.TimerPending || c.Reason != "" {
		wrong("timer %s, which nobody scheduled, is %s (%s)", t.ID, c.Status, c.Reason)
		return
	}
	j.seen.Scheduled++
	nonce := j.timers.nonces[t.Actor]
	j.timers.nonces[t.Actor]++
	if want := keccak(t.Actor[:], be8(uint64(t.Height)), t.Payload, be8(nonce)); t.ID != want {
		wrong("the timer with nonce %d of %s has id %s, want %s", nonce, t.Actor, t.ID, want)
	}
	if t.ScheduledAt != c.At || t.Height <= c.At || t.ExpiresAt < t.Height {
		wrong("timer %s, scheduled at %d, is due at %d and expires at %d", t.ID, t.ScheduledAt, t.Height, t.ExpiresAt)
	}
	if j.timers.any && t.Seq <= j.timers.lastSeq {
		wrong("timer %s has sequence %d after %d", t.ID, t.Seq, j.timers.lastSeq)
	}
	j.timers.any, j.timers.lastSeq = true, t.Seq
	new := &life{timer: *t, due: t.Height}
	if t.Watch != nil {
		new.due = 0
	}
	j.timers.pending[t.ID] = new
}

// kept judges a change that ends nothing: a deferral, or an extension.
func (j *Judge) kept(known *life, c *types.TimerChange, wrong func(string, ...any)) {
	j.same(known, c, wrong)
	if c.Reason == "triggered" {
		if known.timer.Watch == nil || known.due != 0 || c.At < known.timer.Height || c.At == known.timer.ScheduledAt {
			wrong("timer %s, scheduled at %d for %d, is triggered", c.Timer.ID, known.timer.ScheduledAt, known.timer.Height)
		}
		known.due = c.At
		return
	}
	if extended := c.Timer.ExpiresAt > known.timer.ExpiresAt; extended {
		known.timer.ExpiresAt = c.Timer.ExpiresAt
		return
	}
	j.seen.Deferred++
	if c.Timer.ExpiresAt < known.timer.ExpiresAt {
		wrong("timer %s expires at %d, and did at %d", c.Timer.ID, c.Timer.ExpiresAt, known.timer.ExpiresAt)
	}
	if c.Reason == "" {
		wrong("timer %s is deferred, or scheduled again, without a reason", c.Timer.ID)
	}
	if known.early(c.At) && c.At <= known.timer.ExpiresAt {
		wrong("timer %s, scheduled at %d and due at %d, is deferred", c.Timer.ID, known.timer.ScheduledAt, known.due)
	}
	if known.judged == c.At {
		wrong("timer %s is deferred twice", c.Timer.ID)
	}
	if want := uint64(c.At-known.due) + 1; known.due != 0 && c.Timer.Deferrals != want {
		wrong("timer %s counts %d deferrals, want %d", c.Timer.ID, c.Timer.Deferrals, want)
	}
	known.judged = c.At
}

// early reports whether the timer may not fire at a height.
func (l *life) early(at types.Height) bool {
	return l.due == 0 || at < l.due || at == l.timer.ScheduledAt
}

// ends judges the end of a timer.
func (j *Judge) ends(known *life, c *types.TimerChange, wrong func(string, ...any)) {
	j.seen.Ended++
	j.same(known, c, wrong)
	delete(j.timers.pending, c.Timer.ID)
	j.timers.ended[c.Timer.ID] = c.Status
	t := &known.timer
	if known.judged == c.At {
		wrong("timer %s is deferred and ends in one block", t.ID)
	}
	early := known.early(c.At)
	switch c.Status {
	case types.TimerFired:
		j.seen.Fired++
		if early || c.At > t.ExpiresAt {
			wrong("timer %s, scheduled at %d, due at %d and expiring at %d, fired", t.ID, t.ScheduledAt, t.Height, t.ExpiresAt)
		}
		if c.CyclesUsed > t.GasLimit {
			wrong("timer %s used %d cycles of %d", t.ID, c.CyclesUsed, t.GasLimit)
		}
	case types.TimerExpired:
		j.seen.Expired++
		if c.At <= t.ExpiresAt {
			wrong("timer %s, which expires at %d, is expired", t.ID, t.ExpiresAt)
		}
	case types.TimerInsufficientFunds:
		j.seen.Insufficient++
		if early || j.rules.FreeFees {
			wrong("timer %s, due at %d, ended for want of funds", t.ID, t.Height)
		}
	case types.TimerCancelled:
		j.seen.Cancelled++
	default:
		wrong("timer %s is %q", t.ID, c.Status)
	}
}

// same judges that a change speaks of the timer that was scheduled.
func (j *Judge) same(known *life, c *types.TimerChange, wrong func(string, ...any)) {
	a, b := &known.timer, &c.Timer
	due := b.Height == a.Height || a.Watch != nil // deferrals of a watcher tell when it was triggered
	if a.Actor != b.Actor || !due || a.Seq != b.Seq {
		wrong("timer %s of %s, due at %d with sequence %d, became one of %s, due at %d with sequence %d",
			a.ID, a.Actor, a.Height, a.Seq, b.Actor, b.Height, b.Seq)
	}
}

// overdue judges that every timer that was due was spoken of: it ended, or it
// was deferred (decision T9).
func (j *Judge) overdue(h types.Height, wrong func(string, ...any)) {
	var forgotten []*life
	for _, l := range j.timers.pending {
		if l.due != 0 && l.due <= h && l.timer.ScheduledAt < h && l.judged != h {
			forgotten = append(forgotten, l)
		}
	}
	slices.SortFunc(forgotten, func(a, b *life) int { return int(a.timer.Seq) - int(b.timer.Seq) })
	for _, l := range forgotten {
		wrong("timer %s, due at %d, neither ended nor was deferred", l.timer.ID, l.timer.Height)
	}
}
