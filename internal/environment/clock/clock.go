// Package clock is env.Clock over the machine's clock, with an offset that time
// travel moves (decision C8).
//
// Invariants: Now runs backwards only by SetOffset, whatever happens to the
// machine's clock. An alarm rings at or after the time it is set to, once per
// setting, never concurrently with itself. An alarm that is not set holds no timer.
package clock

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Clock is the machine's time plus an offset. It is safe for concurrent use; the
// nodes of one process may share one, or have one each to be skewed separately.
type Clock struct {
	latest atomic.Int64 // the latest reading of the machine's clock, in nanoseconds since 1970
	offset atomic.Int64 // added to every reading, in nanoseconds

	mu    sync.Mutex
	armed map[*alarm]struct{} // alarms that are set
}

var _ env.Clock = (*Clock)(nil)

// New returns a clock that shows the machine's time.
func New() *Clock { return &Clock{armed: map[*alarm]struct{}{}} }

// Now is the machine's time plus the offset. Where the machine's clock is put
// back, Now stands still until it has caught up.
func (c *Clock) Now() types.Time {
	wall := time.Now().UnixNano()
	for {
		latest := c.latest.Load()
		if wall <= latest {
			wall = latest
			break
		}
		if c.latest.CompareAndSwap(latest, wall) {
			break
		}
	}
	return types.Time(wall).Add(time.Duration(c.offset.Load()))
}

// Offset is what the clock is ahead of the machine's.
func (c *Clock) Offset() time.Duration { return time.Duration(c.offset.Load()) }

// SetOffset sets the clock d ahead of the machine's, or back if d is negative.
// Alarms that are due by the new time ring at once.
func (c *Clock) SetOffset(d time.Duration) {
	c.offset.Store(int64(d))
	c.rearm()
}

// Advance moves the clock by d.
func (c *Clock) Advance(d time.Duration) {
	c.offset.Add(int64(d))
	c.rearm()
}

// rearm fits the timers to a new offset. The offset is stored before the list
// is read, and an alarm enters the list before it reads the offset: none is
// missed.
func (c *Clock) rearm() {
	c.mu.Lock()
	armed := make([]*alarm, 0, len(c.armed))
	for a := range c.armed {
		armed = append(armed, a)
	}
	c.mu.Unlock()
	for _, a := range armed {
		a.arm()
	}
}

// NewAlarm returns an alarm that is not set. ring runs on a goroutine of the clock,
// never concurrently with itself, and may set the alarm again.
func (c *Clock) NewAlarm(ring func()) env.Alarm {
	return &alarm{clock: c, ring: ring, at: types.Never}
}

func (c *Clock) enter(a *alarm) {
	c.mu.Lock()
	c.armed[a] = struct{}{}
	c.mu.Unlock()
}

func (c *Clock) leave(a *alarm) {
	c.mu.Lock()
	delete(c.armed, a)
	c.mu.Unlock()
}
