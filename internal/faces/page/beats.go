package page

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// quiet is how many ticks may pass without a beat while nothing changes.
	quiet = 10
	// share bounds the time that questions take: one part in share.
	share = 10
	// perReader spaces beats, so that all readers cost about a hundredth of a core. Sending
	// one beat takes some 60 µs for each reader on a loaded machine. farthest bounds the space.
	perReader = 6 * time.Millisecond
	farthest  = time.Second
)

// beat is one state of the network, as all readers are sent it.
type beat struct {
	number uint64
	data   []byte        // the state as an event of the stream
	newer  chan struct{} // closed once there is a newer one
}

// The event of a beat is its state between these.
const eventHead, eventTail = "event: beat\ndata: ", "\n\n"

// stateJSON is the state as JSON.
func (b *beat) stateJSON() []byte { return b.data[len(eventHead) : len(b.data)-len(eventTail)] }

// beats makes beats while it has readers. It is safe for concurrent use.
type beats struct {
	sample func(first bool) []byte // the state as JSON, an object that is not empty; one call at a time
	clock  func() (ticks <-chan time.Time, stop func())
	latest atomic.Pointer[beat]

	mu      sync.Mutex
	readers int
	stop    context.CancelFunc // of the making, while there are readers
	made    chan struct{}      // full during the making: one that was stopped may still ask
}

func newBeats(sample func(bool) []byte, clock func() (<-chan time.Time, func())) *beats {
	b := &beats{sample: sample, clock: clock, made: make(chan struct{}, 1)}
	b.latest.Store(&beat{newer: make(chan struct{})})
	return b
}

// joinReaders counts one more reader, until it leaves; ok is false at the limit. The reader takes
// beats with a number above after: a beat from before the last pause is old.
func (b *beats) joinReaders() (after uint64, leave func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readers == MaxReaders {
		return 0, nil, false
	}
	if b.readers++; b.readers == 1 {
		ctx, stop := context.WithCancel(context.Background())
		after, b.stop = b.latest.Load().number, stop
		go b.makeBeats(ctx)
	}
	return after, b.leaveReaders, true
}

// beatInterval is how far beats are from each other, by their readers.
func (b *beats) beatInterval() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return min(time.Duration(b.readers)*perReader, farthest)
}

func (b *beats) leaveReaders() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readers--; b.readers == 0 {
		b.stop()
	}
}

// makeBeats makes a beat at once, and then one after each change. Some quiet ticks after a beat
// it repeats that beat, as a sign of life.
func (b *beats) makeBeats(ctx context.Context) {
	b.made <- struct{}{}
	defer func() { <-b.made }()
	ticks, stop := b.clock()
	defer stop()
	var before []byte
	var cost time.Duration
	begun, still := time.Time{}, quiet
	for at := time.Now(); ; still++ {
		if at.Sub(begun) >= max(share*cost, b.beatInterval()) {
			begun = at
			state := b.sample(before == nil)
			cost = time.Since(begun)
			if ctx.Err() != nil {
				return
			}
			if still >= quiet || !bytes.Equal(state, before) {
				b.putBeat(at, state)
				before, still = state, 0
			}
		}
		select {
		case <-ctx.Done():
			return
		case at = <-ticks:
		}
	}
}

// putBeat hands a state to all readers.
func (b *beats) putBeat(at time.Time, state []byte) {
	last := b.latest.Load()
	data := fmt.Appendf(nil, eventHead+"{\"t\":%d,%s"+eventTail, at.UnixMilli(), bytes.TrimPrefix(state, []byte("{")))
	b.latest.Store(&beat{number: last.number + 1, data: data, newer: make(chan struct{})})
	close(last.newer)
}

// nextBeat waits for a beat with a number above after, and returns the newest beat; nil when
// the context ends.
func (b *beats) nextBeat(ctx context.Context, after uint64) *beat {
	for {
		latest := b.latest.Load()
		if latest.number > after {
			return latest
		}
		select {
		case <-latest.newer:
		case <-ctx.Done():
			return nil
		}
	}
}
