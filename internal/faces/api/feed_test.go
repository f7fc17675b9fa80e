package api

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// fed is a feed whose blocks the test makes.
func fed() *feed {
	f := newFeed(nil)
	f.oldest = 1
	return f
}

// add makes the next block, with two events.
func (f *feed) add() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head++
	f.ring[f.head] = []event{newEvent(f.head, 0, "", "block", nil), newEvent(f.head, 1, "", "tx", nil)}
	f.wakeCallers()
}

// followed is what one stream got.
type followed struct {
	times  []time.Duration // of its wakes
	events []string
}

// crowd has streams follow the first blocks of a feed, of which one comes each time every has
// passed, and returns what each got.
func crowd(t *testing.T, streams int, blocks types.Height, every time.Duration) []followed {
	t.Helper()
	all := make([]followed, streams)
	synctest.Test(t, func(t *testing.T) {
		f, began := fed(), time.Now()
		for i := range all {
			go func() {
				for h := types.Height(1); h <= blocks; {
					events, through, at := f.followEvents(t.Context(), h, blocks)
					if at != ready || through < h {
						t.Errorf("height %d: %d through %d", h, at, through)
						return
					}
					all[i].times = append(all[i].times, time.Since(began))
					for _, e := range events {
						all[i].events = append(all[i].events, fmt.Sprint(e.height, ".", e.number))
					}
					h = through + 1
				}
			}()
		}
		for range blocks {
			synctest.Wait()
			time.Sleep(every)
			f.add()
		}
		time.Sleep(time.Second) // the last wake is due
		synctest.Wait()
		f.closeFeed()
	})
	return all
}

// A few streams get each block when it is final. A crowd gets every event too, in order, and
// is woken at most EventWrites times a second.
func TestACrowdOfStreamsIsWokenMoreRarely(t *testing.T) {
	const blocks, every = 300, 10 * time.Millisecond
	for _, streams := range []int{1, 4, 100} {
		wakes, latest := 0, time.Duration(0)
		for i, got := range crowd(t, streams, blocks, every) {
			for n := range 2 * blocks {
				if want := fmt.Sprint(n/2+1, ".", n%2); n >= len(got.events) || got.events[n] != want {
					t.Fatalf("stream %d of %d lacks event %s in %d events", i, streams, want, len(got.events))
				}
			}
			wakes, latest = wakes+len(got.times), max(latest, got.times[len(got.times)-1])
		}
		most := EventWrites*int((blocks*every+time.Second)/time.Second) + streams
		if streams*int(time.Second/every) <= EventWrites {
			most = streams * blocks
			if wakes != most || latest != blocks*every {
				t.Errorf("%d streams were woken %d times, the last after %v: want each block at once", streams, wakes, latest)
			}
		}
		if wakes > most {
			t.Errorf("%d streams were woken %d times, want at most %d", streams, wakes, most)
		}
	}
}

// A caller of next gets its block at once, whatever the number of streams.
func TestNextIsWokenBeforeTheStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fed()
		for range 100 {
			go f.followEvents(t.Context(), 3, 0)
		}
		for h := types.Height(1); h <= 2; h++ {
			answered := make(chan time.Time)
			go func() {
				f.nextEvents(t.Context(), h)
				answered <- time.Now()
			}()
			synctest.Wait()
			began := time.Now()
			f.add()
			if took := (<-answered).Sub(began); took != 0 {
				t.Errorf("an answer waited %v", took)
			}
		}
		f.closeFeed()
	})
}

// One write holds the blocks up to its bytes, and no height after the stream's last.
func TestOneWriteHasItsBound(t *testing.T) {
	f := fed()
	for range 2000 {
		f.add()
	}
	if events, through, _ := f.followEvents(context.Background(), 5, 9); len(events) != 10 || through != 9 {
		t.Errorf("%d events through %d, want 10 through 9", len(events), through)
	}
	events, through, _ := f.followEvents(context.Background(), 1, 0)
	if n := eventBytes(events); n < EventWriteBytes || n > EventWriteBytes+1000 || through >= 2000 {
		t.Errorf("one write has %d bytes through %d", n, through)
	}
	if len(f.ring[1]) != 2 {
		t.Errorf("the ring has %d events of height 1 now", len(f.ring[1]))
	}
}

// A stream whose client left waits no longer, and counts no longer.
func TestAStreamThatLeftIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fed()
		ctx, leave := context.WithCancel(t.Context())
		go f.followEvents(ctx, 1, 0)
		synctest.Wait()
		leave()
		synctest.Wait()
		if f.calls.waiting != 0 {
			t.Errorf("%d streams wait", f.calls.waiting)
		}
	})
}
