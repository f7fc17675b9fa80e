package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Faults is what may be done to a network's nodes and links. The methods refuse
// with an *Error, or a *fault.Unsupported where the verb is not there.
type Faults interface {
	Crash(node string) error
	Restart(node string) error
	Freeze(node string) error
	Thaw(node string) error
	Wipe(node string) error
	DiskFail(node string, on bool) error
	ClockSkew(node string, d time.Duration) error
	Misbehave(node, kind string) error
	Partition(groups [][]string) error
	Bridge(node string, left, right []string) error
	Link(a, b string, to fault.Link) error
	Heal() error
	// FaultReceipts says what each fault did so far, in the order they were made.
	FaultReceipts() []fault.Receipt
}

func (s *Server) registerFaults() {
	serve(s, operation{id: "fault", method: http.MethodPost, path: "/devnet/fault", tag: tagDevnet,
		summary: "Make a fault of a validator or of links; answers what it did so far",
		description: "crash, restart, freeze, thaw and wipe take node; misbehave takes node and kind; disk_fail and clock_skew are the simulator's; " +
			"partition takes groups; bridge takes node, left and right; link takes a, b and what happens to packets between them. " +
			"A partition or bridge replaces the one before. Each fault is an event of type fault in GET /events.",
		errors: []int{404, 409}, request: model.FaultRequest{Verb: "partition", Groups: [][]string{{"v0", "v1"}, {"v2", "v3"}}},
		response: exampleFault}, s.fault)
	serve(s, operation{id: "faults", method: http.MethodGet, path: "/devnet/faults", tag: tagDevnet,
		summary: "The faults so far, and what each did", response: []model.FaultReceipt{exampleFault}}, s.faults)
	serve(s, operation{id: "heal", method: http.MethodPost, path: "/devnet/heal", tag: tagDevnet,
		summary:     "Mend all links; answers the faults so far",
		description: "No partition or bridge, and all links as they are by themselves. Nodes that are down, frozen or misbehave stay so.",
		response:    []model.FaultReceipt{exampleFault}}, s.heal)
}

var exampleFault = model.FaultReceipt{Verb: "partition", Detail: "v0,v1 / v2,v3", Did: "4 connections cut, 61 packets dropped"}

type faultInput struct{ Body model.FaultRequest }

func (s *Server) fault(_ context.Context, in *faultInput) (m model.FaultReceipt, err error) {
	if err := s.cheat("/devnet/fault"); err != nil {
		return m, err
	}
	s.faulting.Lock() // so that the last receipt is this fault's
	defer s.faulting.Unlock()
	if err := makeFault(s.backend.Faults(), in.Body); err != nil {
		return m, unsupported(err)
	}
	m = model.FaultReceipt{Verb: in.Body.Verb, Detail: in.Body.Node, Did: "done", Ended: true}
	if all := s.receipts(); len(all) > 0 && all[len(all)-1].Verb == m.Verb {
		m = all[len(all)-1]
	}
	s.feed.note(m)
	return m, nil
}

// makeFault calls the verb of a request.
func makeFault(f Faults, r model.FaultRequest) error {
	switch r.Verb {
	case "crash":
		return f.Crash(r.Node)
	case "restart":
		return f.Restart(r.Node)
	case "freeze":
		return f.Freeze(r.Node)
	case "thaw":
		return f.Thaw(r.Node)
	case "wipe":
		return f.Wipe(r.Node)
	case "disk_fail":
		return f.DiskFail(r.Node, r.On)
	case "clock_skew":
		skew, err := duration(r.Skew, "skew")
		if err != nil {
			return err
		}
		return f.ClockSkew(r.Node, skew)
	case "misbehave":
		return f.Misbehave(r.Node, r.Kind)
	case "partition":
		return f.Partition(r.Groups)
	case "bridge":
		return f.Bridge(r.Node, r.Left, r.Right)
	case "link":
		to, err := linkOf(r)
		if err != nil {
			return err
		}
		return f.Link(r.A, r.B, to)
	}
	return Refuse(http.StatusBadRequest, "unknown_verb", "there is no fault %q", clip(r.Verb)).At("verb")
}

func linkOf(r model.FaultRequest) (l fault.Link, err error) {
	l = fault.Link{Loss: r.Loss, Duplicate: r.Duplicate, Reorder: r.Reorder, Bandwidth: r.Bandwidth, OneWay: r.OneWay}
	if l.Latency, err = duration(r.Latency, "latency"); err != nil {
		return l, err
	}
	l.Jitter, err = duration(r.Jitter, "jitter")
	return l, err
}

// duration reads a duration; none is 0.
func duration(text, field string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, Refuse(http.StatusBadRequest, "invalid_duration", "%q is no duration", clip(text)).
			Hint("Write it with its unit: 20ms, 1.5s.").At(field)
	}
	return d, nil
}

// unsupported answers a verb that is not there by its name.
func unsupported(err error) error {
	var missing *fault.Unsupported
	if errors.As(err, &missing) {
		return Refuse(http.StatusBadRequest, "unsupported", "%v", missing).At("verb")
	}
	return err
}

func (s *Server) receipts() []model.FaultReceipt {
	out := []model.FaultReceipt{}
	for _, r := range s.backend.Faults().FaultReceipts() {
		out = append(out, model.FaultReceipt(r))
	}
	return out
}

func (s *Server) faults(context.Context, *struct{}) ([]model.FaultReceipt, error) {
	if err := s.cheat("/devnet/faults"); err != nil {
		return nil, err
	}
	return s.receipts(), nil
}

func (s *Server) heal(context.Context, *struct{}) ([]model.FaultReceipt, error) {
	if err := s.cheat("/devnet/heal"); err != nil {
		return nil, err
	}
	if err := s.backend.Faults().Heal(); err != nil {
		return nil, unsupported(err)
	}
	s.feed.note(model.FaultReceipt{Verb: "heal", Did: "done", Ended: true})
	return s.receipts(), nil
}

// MaxFaultEvents bounds the faults that the event log remembers; the oldest are
// forgotten first.
const MaxFaultEvents = 1024

// noted are faults as events. A fault is no part of a block; it is told with the
// next one that is final, behind what that did.
type noted struct {
	waiting [][]byte // for the next height
	at      []notedAt
}

type notedAt struct {
	height types.Height
	data   []byte
}

// note tells of a fault with the next final block.
func (f *feed) note(m model.FaultReceipt) {
	data := must(json.Marshal(m))
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.noted.waiting) < MaxFaultEvents {
		f.noted.waiting = append(f.noted.waiting, data)
	}
}

// settle gives the faults that wait their height. It is called with the
// lock held.
func (n *noted) settle(h types.Height) {
	for _, data := range n.waiting {
		n.at = append(n.at, notedAt{h, data})
	}
	n.waiting = nil
	if over := len(n.at) - MaxFaultEvents; over > 0 {
		n.at = n.at[over:]
	}
}

// with adds the faults of a height to its events.
func (n *noted) with(h types.Height, events []event) []event {
	for _, one := range n.at {
		if one.height == h {
			events = append(events, event{height: h, number: len(events), kind: model.EventFault, data: one.data})
		}
	}
	return events
}

// remembered adds the faults of a height to events read from the archive.
func (f *feed) remembered(h types.Height, events []event) []event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.noted.with(h, events)
}
