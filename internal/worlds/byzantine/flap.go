package byzantine

import (
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// flapping is connections that come and go.
type flapping struct {
	alarm  env.Alarm
	up     time.Duration
	down   time.Duration
	left   int // times that they go yet
	gone   bool
	counts *fault.Counts
	over   func()
}

// Flap lets the connections stay for up and be gone for down, times times, replacing
// its earlier order; over is called when they stay.
func (m *RunnerMask) Flap(up, down time.Duration, times int, counts *fault.Counts, over func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.flap.alarm != nil {
		m.flap.alarm.Set(types.Never)
	}
	m.flap = flapping{up: up, down: down, left: times, counts: counts, over: over}
	m.flap.alarm = m.clock.NewAlarm(m.nextFlap)
	m.flap.alarm.Set(m.clock.Now().Add(up))
}

// isUnreachable reports whether no peer is reachable now.
func (m *RunnerMask) isUnreachable() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.flap.gone
}

// nextFlap is the next coming or going.
func (m *RunnerMask) nextFlap() {
	for _, id := range m.flapOnce() {
		m.links.Connections.Do(connection.Close{ID: id, Code: connection.CodeDone})
	}
}

// flapOnce lets them come or go, and returns the connections that end.
func (m *RunnerMask) flapOnce() (ends []connection.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &m.flap
	if f.gone = !f.gone; f.gone {
		f.left--
		for id := range m.links.up { // order: each ends alike, and below they are sorted
			ends = append(ends, id)
		}
		slices.Sort(ends)
		f.counts.Cut.Add(int64(len(ends)))
		f.alarm.Set(m.clock.Now().Add(f.down))
		return ends
	}
	if f.left > 0 {
		f.alarm.Set(m.clock.Now().Add(f.up))
	} else if f.over != nil {
		f.over()
	}
	return nil
}
