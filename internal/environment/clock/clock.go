// Package clock is env.Clock over the machine's clocks, with an offset that time
// travel moves (decision C8).
//
// Invariants: Now runs backwards only by SetOffset and Advance, whatever happens to the
// machine's wall clock: that is read once, and time goes on by the clock that nobody sets
// (decision C7). An alarm rings at or after the time it is set to, once per
// setting, never concurrently with itself. An alarm that is not set holds no timer.
package clock

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Machine reads a machine's two clocks: the wall clock, which people and their tools set, and
// the time since a fixed instant, which nobody sets. A machine that sleeps may leave its sleep
// out of the second.
type Machine func() (wall types.Time, passed time.Duration)

// ThisMachine reads the clocks of the machine that this process runs on.
func ThisMachine() Machine {
	began := time.Now()
	return func() (types.Time, time.Duration) {
		now := time.Now()
		return types.Time(now.UnixNano()), now.Sub(began)
	}
}

// leastStep is the least difference between the two clocks that counts as a step.
const leastStep = time.Second

// Step is a step of the machine's wall clock.
type Step struct {
	Count uint64        // of the steps so far, this one included
	At    types.Time    // by the Clock, when it was noticed
	By    time.Duration // negative if the wall clock was put back
}

// Clock is the time that a machine's wall clock showed at the start, plus what has passed
// since, plus an offset. It is safe for concurrent use; the nodes of one process may share
// one, or have one each to be skewed separately.
type Clock struct {
	machine Machine
	began   types.Time   // by the wall clock, less what had passed then
	offset  atomic.Int64 // by time travel, in nanoseconds
	lift    atomic.Int64 // what Raise and Rejoin added, in nanoseconds
	back    atomic.Int64 // what moves of the offset took back, in nanoseconds

	apart atomic.Int64 // of the wall clock from what it would show without a step, in nanoseconds
	step  atomic.Pointer[Step]

	mu    sync.Mutex
	armed map[*alarm]struct{} // alarms that are set
}

var _ env.Clock = (*Clock)(nil)

// New returns a clock that begins with the time of this machine.
func New() *Clock { return NewOn(ThisMachine()) }

// NewOn returns a clock that begins with the time of a machine.
func NewOn(machine Machine) *Clock {
	wall, passed := machine()
	return &Clock{machine: machine, began: wall.Add(-passed), armed: map[*alarm]struct{}{}}
}

// Now is the time.
func (c *Clock) Now() types.Time {
	wall, passed := c.machine()
	now := c.began.Add(passed).Add(time.Duration(c.offset.Load() + c.lift.Load()))
	c.noticeStep(int64(wall.Sub(c.began)-passed), now)
	return now
}

// noticeStep notes a step if the wall clock is elsewhere than when it was last looked at. Only
// one of several readers notes it.
func (c *Clock) noticeStep(apart int64, now types.Time) {
	before := c.apart.Load()
	if by := time.Duration(apart - before); by.Abs() < leastStep || !c.apart.CompareAndSwap(before, apart) {
		return
	}
	step := Step{Count: 1, At: now, By: time.Duration(apart - before)}
	for {
		last := c.step.Load()
		if last != nil {
			step.Count = last.Count + 1
		}
		if c.step.CompareAndSwap(last, &step) {
			return
		}
	}
}

// LastStep returns the last step of the wall clock since this clock began; its Count is 0 if
// there was none.
func (c *Clock) LastStep() Step {
	if step := c.step.Load(); step != nil {
		return *step
	}
	return Step{}
}

// Raise puts the clock forward to a time; a clock that is there already stays as it is.
func (c *Clock) Raise(to types.Time) { c.raiseTo(to, types.Never) }

// Rejoin puts the clock forward to a time, but no further than to where it would be if it had
// followed the steps of the machine's wall clock, or if its offset had not been moved back. A
// machine that slept catches up with others, and a block that was under way when time travel was
// cut short is not ahead of all clocks.
func (c *Clock) Rejoin(to types.Time) {
	now := c.Now() // it looks at the wall clock
	left := time.Duration(max(c.apart.Load(), 0) + c.back.Load() - c.lift.Load())
	if left > 0 {
		c.raiseTo(to, now.Add(left))
	}
}

func (c *Clock) raiseTo(to, most types.Time) {
	to = min(to, most)
	for {
		lift := c.lift.Load()
		by := to.Sub(c.Now())
		if by <= 0 {
			return
		}
		if c.lift.CompareAndSwap(lift, lift+int64(by)) {
			c.rearmTimers()
			return
		}
	}
}

// Offset is by how much time travel moved the clock.
func (c *Clock) Offset() time.Duration { return time.Duration(c.offset.Load()) }

// SetOffset says by how much time travel moved the clock. Alarms that are due by the new time
// ring at once.
func (c *Clock) SetOffset(d time.Duration) {
	c.movedBack(c.offset.Swap(int64(d)) - int64(d))
	c.rearmTimers()
}

// Advance moves the clock by d.
func (c *Clock) Advance(d time.Duration) {
	c.offset.Add(int64(d))
	c.movedBack(-int64(d))
	c.rearmTimers()
}

func (c *Clock) movedBack(by int64) {
	if by > 0 {
		c.back.Add(by)
	}
}

// rearmTimers fits the timers to a new offset. The offset is stored before the list
// is read, and an alarm enters the list before it reads the offset: none is
// missed.
func (c *Clock) rearmTimers() {
	c.mu.Lock()
	armed := make([]*alarm, 0, len(c.armed))
	for a := range c.armed {
		armed = append(armed, a)
	}
	c.mu.Unlock()
	for _, a := range armed {
		a.armTimer()
	}
}

// NewAlarm returns an alarm that is not set. ring runs on a goroutine of the clock,
// never concurrently with itself, and may set the alarm again.
func (c *Clock) NewAlarm(ring func()) env.Alarm {
	return &alarm{clock: c, ring: ring, at: types.Never}
}

func (c *Clock) enterAlarm(a *alarm) {
	c.mu.Lock()
	c.armed[a] = struct{}{}
	c.mu.Unlock()
}

func (c *Clock) removeAlarm(a *alarm) {
	c.mu.Lock()
	delete(c.armed, a)
	c.mu.Unlock()
}
