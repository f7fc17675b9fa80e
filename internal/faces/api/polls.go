package api

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// pollCaller is the origin of a poll and the runner that it asks for. A poll that is not
// signed is in the ration of its origin, so that a stranger elsewhere uses up nothing of the
// runner's. A signed poll has no origin: its ration is the runner's alone.
type pollCaller struct {
	from   netip.Prefix
	runner types.Address
}

// polls is the ration of polls for jobs. Within it an answer is immediate, beyond it a
// caller waits in turn, and beyond PollWait it is refused. It is safe for concurrent use.
//
// Spec: decision J24.
type polls struct {
	mu    sync.Mutex
	full  map[pollCaller]time.Time // when each ration is full again
	last  map[types.Address]uint64 // the time of each runner's last signed poll
	swept int                      // entries after the last sweep
	waits bool                     // callers may wait: the backend is for many at a time
}

// minPollSweep is from how many entries on those that are over are looked for.
const minPollSweep = 256

// enterPoll takes a poll from the ration of its caller, and returns for how long the caller has
// to wait. ok is false if that is longer than PollWait, which takes nothing.
func (p *polls) enterPoll(now time.Time, c pollCaller) (wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	full := p.full[c]
	if full.Before(now) {
		full = now
	}
	full = full.Add(time.Second / PollsPerSecond)
	wait = max(full.Sub(now)-pollBurst, 0)
	if wait > PollWait || wait > 0 && !p.waits {
		return wait, false
	}
	p.full[c] = full
	p.forgetFull(now)
	return wait, true
}

// renewsTime takes the time of a signed poll. It is false for a time up to the last one's: such a
// poll is in the ration of its origin.
func (p *polls) renewsTime(runner types.Address, at uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at <= p.last[runner] {
		return false
	}
	if p.last == nil {
		p.last = map[types.Address]uint64{}
	}
	p.last[runner] = at // at most one entry a registered runner
	return true
}

// chargeBytes takes the bytes of an answer from the ration, which they may overdraw.
func (p *polls) chargeBytes(now time.Time, c pollCaller, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	full := p.full[c]
	if full.Before(now) {
		full = now
	}
	p.full[c] = full.Add(time.Second * time.Duration(bytes) / PollBytesPerSecond)
}

// forgetFull forgets the rations that are full, when the entries have doubled.
func (p *polls) forgetFull(now time.Time) {
	if len(p.full) < max(2*p.swept, minPollSweep) {
		return
	}
	for c, full := range p.full { // order: each is judged by itself
		if !full.After(now) {
			delete(p.full, c)
		}
	}
	p.swept = len(p.full)
}

// waitForTurn lets a poll in when its turn has come.
func (p *polls) waitForTurn(ctx context.Context, c pollCaller) error {
	wait, ok := p.enterPoll(time.Now(), c)
	if !ok {
		return Refuse(http.StatusTooManyRequests, "too_many_polls", "this address polled for %s at more than %d polls and %d bytes a second",
			c.runner, PollsPerSecond, PollBytesPerSecond).Hint("Poll once a block, and ask again after Retry-After seconds.")
	}
	if wait == 0 {
		return nil
	}
	turn := time.NewTimer(wait)
	defer turn.Stop()
	select {
	case <-turn.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
