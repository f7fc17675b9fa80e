package clock

import (
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// alarm is one deadline over one time.Timer, which is made when it is first
// set.
type alarm struct {
	clock *Clock
	ring  func()

	mu      sync.Mutex
	at      types.Time  // types.Never when not set
	timer   *time.Timer // nil until first set
	ringing bool        // ring is running
	again   bool        // it became due again meanwhile
}

// Set replaces the time; types.Never stops the alarm. It may be called from any
// goroutine, and from ring. A time that has passed rings at once. A ring that
// has already begun is not called back.
func (a *alarm) Set(at types.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at == a.at {
		return // a core states its deadline after every step; mostly it is the old one
	}
	unset := a.at == types.Never
	a.at = at
	a.again = false
	if at == types.Never {
		a.timer.Stop()
		a.clock.removeAlarm(a)
		return
	}
	if unset {
		a.clock.enterAlarm(a)
	}
	a.startTimer()
}

// armTimer fits the timer to the clock's offset.
func (a *alarm) armTimer() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at != types.Never {
		a.startTimer()
	}
}

func (a *alarm) startTimer() {
	wait := max(a.at.Sub(a.clock.Now()), 0)
	if a.timer == nil {
		a.timer = time.AfterFunc(wait, a.fireTimer)
		return
	}
	a.timer.Reset(wait)
}

// fireTimer runs on the timer's goroutine. A timer that was reset too late to hold
// it back, or whose clock was moved, is started again.
func (a *alarm) fireTimer() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at == types.Never {
		return
	}
	if a.clock.Now() < a.at {
		a.startTimer()
		return
	}
	a.at = types.Never
	a.clock.removeAlarm(a)
	if a.ringing {
		a.again = true
		return
	}
	a.ringing, a.again = true, true
	for a.again {
		a.again = false
		a.mu.Unlock()
		a.ring()
		a.mu.Lock()
	}
	a.ringing = false
}
