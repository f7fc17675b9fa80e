package api

import (
	"encoding/json"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// MaxFaultEvents and MaxSightings bound the faults, and what validators saw of jobs,
// that the event log remembers; the oldest are forgotten first. Of what comes before
// one block the latest beyond the bound are not told at all.
const (
	MaxFaultEvents = 1024
	MaxSightings   = 16_384
)

// noted is what happens beside the chain, as events: it is no part of a block, and
// told with the next one that is final, behind what that did.
type noted struct {
	faults, sightings remembered
}

// remembered is what is noted of one kind.
type remembered struct {
	max     int
	waiting []note // for the next height
	at      []notedAt
}

// note is an event whose height is not known yet.
type note struct {
	kind   string
	actors []types.Address
	data   func(types.Height) any
}

type notedAt struct {
	height types.Height
	event  event
}

// note tells of a fault with the next final block.
func (f *feed) note(m model.FaultReceipt) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noted.faults.add(note{kind: model.EventFault, data: func(types.Height) any { return m }}, MaxFaultEvents)
}

// sight tells of what a validator saw of a job.
func (f *feed) sight(e model.JobEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noted.sightings.add(note{kind: model.EventJob, actors: aboutJob(&e), data: func(h types.Height) any {
		e.Height = h
		return &e
	}}, MaxSightings)
}

func (r *remembered) add(n note, most int) {
	if r.max = most; len(r.waiting) < most {
		r.waiting = append(r.waiting, n)
	}
}

// settle gives what waits its height. It is called with the lock held.
func (n *noted) settle(h types.Height) {
	n.faults.settle(h)
	n.sightings.settle(h)
}

func (r *remembered) settle(h types.Height) {
	for _, one := range r.waiting {
		r.at = append(r.at, notedAt{h, event{height: h, kind: one.kind, actors: one.actors, data: must(json.Marshal(one.data(h)))}})
	}
	r.waiting = nil
	if over := len(r.at) - r.max; over > 0 {
		r.at = r.at[over:]
	}
}

// with adds what was noted at a height to its events.
func (n *noted) with(h types.Height, events []event) []event {
	for _, r := range []*remembered{&n.faults, &n.sightings} {
		for _, one := range r.at {
			if one.height == h {
				one.event.number = len(events)
				events = append(events, one.event)
			}
		}
	}
	return events
}

// remembered adds what was noted at a height to events read from the archive.
func (f *feed) remembered(h types.Height, events []event) []event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.noted.with(h, events)
}
