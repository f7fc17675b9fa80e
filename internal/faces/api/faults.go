package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

func (s *Server) registerFaults() {
	serveBody(s, operation{id: "fault", path: "/devnet/fault", tag: tagDevnet,
		client:      "Fault(r FaultRequest) makes a fault by its verb, as docs/SCENARIOS.md tells them, and returns what it did so far.",
		summary:     "Make a fault of a validator or of links; answers what it did so far",
		description: describeVerbs() + ". A partition or bridge replaces the one before. Each fault is an event of type fault in GET /events.",
		errors:      []int{404, 409}, request: model.FaultRequest{Verb: "partition", Groups: [][]string{{"v0", "v1"}, {"v2", "v3"}}},
		response: exampleFault}, s.orderFault)
	s.enumerateVerbs()
	serveRoute(s, operation{id: "faults", path: "/devnet/faults", tag: tagDevnet,
		client:  "Faults() lists the faults so far, and what each did.",
		summary: "The faults so far, and what each did", response: []model.FaultReceipt{exampleFault}}, s.listFaults)
	serveRoute(s, operation{id: "heal", method: http.MethodPost, path: "/devnet/heal", tag: tagDevnet,
		client:      "Heal() restores all links.",
		summary:     "Remove the faults of all links; returns the faults so far",
		description: "No partition or bridge, and all links as they are by themselves. Nodes that are down, frozen or misbehave stay so.",
		response:    []model.FaultReceipt{exampleFault}}, s.healLinks)
}

var exampleFault = model.FaultReceipt{Verb: "partition", Detail: "v0,v1 / v2,v3", Did: "4 connections cut, 61 packets dropped",
	BeganMS: 1_700_000_012_000,
	Order:   &model.FaultRequest{Verb: "partition", Groups: [][]string{{"v0", "v1"}, {"v2", "v3"}}}}

func (s *Server) orderFault(_ context.Context, in *model.FaultRequest) (m model.FaultReceipt, err error) {
	if err := s.nameFaulty(in); err != nil {
		return m, err
	}
	order, err := OrderOf(in)
	if err != nil {
		return m, err
	}
	effect, err := s.backend.Do(order)
	if err != nil {
		return m, FaultRefused(err)
	}
	m = ShowFault(effect)
	s.feed.noteFault(m)
	return m, nil
}

// nameFaulty replaces the name of a fault's actor by its address.
func (s *Server) nameFaulty(r *model.FaultRequest) error {
	if _, err := types.ParseAddress(r.Actor); r.Actor == "" || err == nil {
		return nil // an address needs no validator that runs
	}
	v, err := s.backend.Reader("")
	if err != nil {
		return err
	}
	actor, err := s.findActor(v, r.Actor, "actor")
	if err != nil {
		return err
	}
	r.Actor = actor.Address.String()
	return nil
}

// FaultRefused answers why a fault was not made.
func FaultRefused(err error) error {
	if answer := Answer(err); answer != nil {
		return answer
	}
	return Refuse(http.StatusConflict, "fault_refused", "%v", err)
}

func (s *Server) faultReceipts() []model.FaultReceipt {
	out := []model.FaultReceipt{}
	for _, r := range s.backend.Faults() {
		out = append(out, ShowFault(r))
	}
	return out
}

func (s *Server) listFaults(context.Context, *struct{}) ([]model.FaultReceipt, error) {
	return s.faultReceipts(), nil
}

func (s *Server) healLinks(context.Context, *struct{}) ([]model.FaultReceipt, error) {
	effect, err := s.backend.Do(fault.Order{Verb: fault.Heal})
	if err != nil {
		return nil, FaultRefused(err)
	}
	s.feed.noteFault(ShowFault(effect))
	return s.faultReceipts(), nil
}

// MaxFaultEvents bounds the faults that the event log remembers, and as many failed views;
// the oldest are forgotten first.
const MaxFaultEvents = 1024

// pendingNotes are events of one kind from outside the chain. They follow the events of the next
// final block.
type pendingNotes struct {
	waiting [][]byte // those that wait for the next height
	at      []notedAt
}

type notedAt struct {
	height types.Height
	data   []byte
}

// noteFault sends a fault with the next final block.
func (f *feed) noteFault(m model.FaultReceipt) {
	data := mustSucceed(json.Marshal(m))
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.faults.waiting) < MaxFaultEvents {
		f.faults.waiting = append(f.faults.waiting, data)
	}
}

// setHeight gives what waits its height. It is called with the lock held.
func (n *pendingNotes) setHeight(h types.Height) {
	for _, data := range n.waiting {
		n.at = append(n.at, notedAt{h, data})
	}
	n.waiting = nil
	if over := len(n.at) - MaxFaultEvents; over > 0 {
		n.at = n.at[over:]
	}
}

// appendNotesOf adds what was noted at a height to its events.
func (n *pendingNotes) appendNotesOf(h types.Height, kind string, events []event) []event {
	mark := ""
	if len(events) > 0 {
		mark = events[0].mark
	}
	for _, one := range n.at {
		if one.height == h {
			events = append(events, newEvent(h, len(events), mark, kind, one.data))
		}
	}
	return events
}

// appendNotes adds the faults and the failed views of a height to its events. It is called
// with the lock held.
func (f *feed) appendNotes(h types.Height, events []event) []event {
	return f.failed.appendNotesOf(h, model.EventView, f.faults.appendNotesOf(h, model.EventFault, events))
}

// appendFromMemory adds the faults and the failed views of a height to events read from the
// archive.
func (f *feed) appendFromMemory(h types.Height, events []event) []event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.appendNotes(h, events)
}
