package gateway

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// story is the history of one runner, from which a simple twin computes whether it
// is present: it keeps everything and computes nothing beforehand.
type story struct {
	live      bool
	accepting bool
	pings     []moment // since it is live
	failures  []moment // hard ones
	pushes    []pushOf
}

type moment struct {
	step   int
	blocks int
	at     types.Time
}

type pushOf struct {
	moment
	stream   connection.Stream
	id       AssignmentID
	answered bool
	failed   bool
}

// TestPresenceIsWhatTheDumbTwinSays under random pings, heads, skipped heights,
// signals, ends of connections, jobs, and acks that come or do not.
func TestPresenceIsWhatTheDumbTwinSays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t, func(p *params.Params) { p.ControlFramesPerSecond, p.HelloPerIdentity = 1000, 1000 })
		names := []string{"r0", "r1", "r2"}
		ends, stories := make([]*end, len(names)), make([]story, len(names))
		for _, name := range names {
			w.register(name)
		}
		blocks, step, job := 0, 0, byte(0)
		now := func() moment { return moment{step, blocks, w.now} }
		within := func(m moment) bool { return blocks-m.blocks < 3 || w.now < m.at.Add(300*time.Millisecond) }
		present := func(s *story) bool {
			if !s.live || !s.accepting || len(s.pings) == 0 {
				return false
			}
			last := s.pings[len(s.pings)-1]
			for _, f := range s.failures {
				if f.step > last.step {
					return false
				}
			}
			return within(last)
		}
		overdue := func() { // what the machine finds at a head or a tick
			for i := range stories {
				for j := range stories[i].pushes {
					p := &stories[i].pushes[j]
					if stories[i].live && !p.answered && !p.failed && !within(p.moment) {
						p.failed = true
						stories[i].failures = append(stories[i].failures, now())
					}
				}
			}
		}
		for step = range rapid.IntRange(1, 60).Draw(r, "steps") {
			i := rapid.IntRange(0, len(names)-1).Draw(r, "runner")
			e, s := ends[i], &stories[i]
			what := rapid.SampledFrom([]string{"connect", "ping", "ping", "load", "down", "block", "block", "skip", "time", "job", "ack"}).Draw(r,
				"what")
			switch {
			case what == "connect":
				ends[i] = w.reconnect(names[i])
				*s = story{live: true, accepting: true}
				for n, a := range w.open[ends[i].signer.Address()] { // pushed again
					if n < minJobStreams {
						s.pushes = append(s.pushes, pushOf{now(), connection.Job(uint64(n)), a.AssignmentID, false, false})
					}
				}
			case what == "block":
				w.block(nil)
				blocks++
				overdue()
			case what == "skip":
				w.block(func(h *Head) { h.Height, h.Skipped = h.Height+5, 5 })
				blocks++
				overdue()
			case what == "time":
				d := time.Duration(rapid.IntRange(1, 400).Draw(r, "ms")) * time.Millisecond
				for end := w.now.Add(d); w.now < end; {
					w.pass(min(d, time.Millisecond, end.Sub(w.now)))
					overdue()
				}
			case !s.live:
			case what == "ping":
				e.sent[0] = nil
				e.ping()
				s.pings = append(s.pings, now())
			case what == "load":
				s.accepting = rapid.Bool().Draw(r, "accepting")
				e.say(0, &push.BackpressureSignal{AcceptingNew: s.accepting})
			case what == "down":
				w.step(Connection{connection.Down{ID: e.id}})
				s.live = false
			case what == "job" && len(w.open[e.signer.Address()]) < minJobStreams:
				job++
				id := w.assign(e.signer, job, 1)
				w.at(e.signer, id).Deadline += 100_000
				before := w.peerOf(e).opens
				w.block(nil)
				blocks++
				overdue()
				s.pushes = append(s.pushes, pushOf{now(), connection.Job(before), id, false, false})
			case what == "ack":
				for j := range s.pushes {
					if p := &s.pushes[j]; !p.answered && !p.failed {
						status := rapid.SampledFrom([]push.AckStatus{accepted, duplicate, rejected()}).Draw(r, "status")
						e.ackJob(p.stream, p.id.Job, status)
						p.answered = true
						break
					}
				}
			}
			want := ""
			for i := range stories {
				if present(&stories[i]) {
					want += fmt.Sprint(i)
				}
			}
			if got := w.bits(); got != want {
				r.Fatalf("after step %d, %s of %s: bits %q, want %q", step, what, names[i], got, want)
			}
		}
	})
}

// TestWindowsAreWhatTheDumbTwinCounts.
func TestWindowsAreWhatTheDumbTwinCounts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var w window[int]
		var one recent
		var all []occurrence[int]
		now := types.Time(0)
		for range rapid.IntRange(1, 100).Draw(r, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(r, "ms")) * time.Millisecond)
			by := rapid.IntRange(0, 2).Draw(r, "by")
			count := 0
			for _, h := range all {
				if h.by == by && now-h.at < types.Time(time.Second) {
					count++
				}
			}
			if got := w.isWithin(now, by, 3); got != (count < 3) {
				r.Fatalf("within: %v with %d", got, count)
			}
			if by == 0 && one.allowsOne(now, 3) != (count < 3) {
				r.Fatalf("allowed: %v with %d", count >= 3, count)
			}
			if count < 3 {
				w.countOne(now, by)
				all = append(all, occurrence[int]{now, by})
			}
		}
		if len(w.counts) > 3 || len(w.queue) > 9 {
			r.Fatalf("%d keys, %d entries", len(w.counts), len(w.queue))
		}
	})
}
