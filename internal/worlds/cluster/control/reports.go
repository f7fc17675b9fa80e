package control

import (
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/worlds/observe"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Limits of the queue for a supervisor that is slow, or absent.
const (
	maxHeard      = 1 << 16
	maxHeardBytes = 32 << 20
)

// Kinds of a node's events.
const (
	heardVote       = "vote"
	heardEntered    = "entered"
	heardGaveUp     = "gave_up"
	heardNotarized  = "notarized"
	heardNullified  = "nullified"
	heardArrived    = "arrived"
	heardLeft       = "left"
	heardPushed     = "pushed"
	heardAccepted   = "accepted"
	heardClassified = "classified"
	heardProgressed = "progressed"
	heardRefused    = "refused"
	heardPressed    = "pressed"
	heardAmended    = "amended"
	heardNotTaken   = "not_taken"
	heardDropped    = "dropped"
)

// Report is one event of a node, with the fields of its kind.
type Report struct {
	Seq  uint64 `json:"seq"` // from 1, in one life
	Kind string `json:"kind"`

	Frame []byte `json:"frame,omitempty"` // of a vote, as it left

	Epoch  types.Epoch    `json:"epoch,omitempty"`
	View   types.View     `json:"view,omitempty"`
	Height types.Height   `json:"height,omitempty"`
	Leader *types.Address `json:"leader,omitempty"`
	Cause  simplex.Cause  `json:"cause,omitempty"`
	Detail string         `json:"detail,omitempty"`

	Runner   *types.Address  `json:"runner,omitempty"`
	Job      *execution.ID   `json:"job,omitempty"`
	Outcome  gateway.Outcome `json:"outcome,omitempty"`
	Fraction uint8           `json:"fraction,omitempty"`
	Words    *string         `json:"words,omitempty"` // of a runner, on how far it is
	// Rejected belongs to an ack; Load to a runner's signal; Registered to a refused
	// connection; Polled to a result that was not taken.
	Rejected   push.RejectReason `json:"rejected,omitempty"`
	Load       *gateway.Load     `json:"load,omitempty"`
	Registered bool              `json:"registered,omitempty"`
	Polled     bool              `json:"polled,omitempty"`
	After      time.Duration     `json:"after_ns,omitempty"` // of an ack: since the push

	Hash *types.Hash `json:"hash,omitempty"` // of a transaction that was dropped
}

// approximateSize is about what it takes, in bytes.
func (h *Report) approximateSize() int { return 200 + len(h.Frame) + len(h.Detail) }

// reports queues a node's events until a supervisor has read them. It is safe for
// concurrent use, and its callers never wait.
type reports struct {
	mu     sync.Mutex
	kept   []Report
	bytes  int
	seq    uint64
	missed bool  // unread events were dropped
	last   *byte // of the latest vote's frame, which goes to all peers in turn
	news   chan struct{}
}

func newReports() *reports { return &reports{news: make(chan struct{})} }

func (h *reports) addReport(one Report) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.enterReport(one)
}

func (h *reports) enterReport(one Report) {
	h.seq++
	one.Seq = h.seq
	h.kept = append(h.kept, one)
	h.bytes += one.approximateSize()
	for len(h.kept) > maxHeard || h.bytes > maxHeardBytes {
		h.missed = true
		h.dropOldest(1)
	}
	close(h.news)
	h.news = make(chan struct{})
}

func (h *reports) dropOldest(n int) {
	for i := range h.kept[:n] {
		h.bytes -= h.kept[i].approximateSize()
	}
	h.kept = h.kept[n:]
}

// recordVote records a frame that leaves the node, if it is a vote.
func (h *reports) recordVote(frame []byte) {
	if len(frame) == 0 || len(frame) > observe.MaxVoteBytes || !observe.IsVote(frame) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == &frame[0] {
		return
	}
	h.last = &frame[0]
	h.enterReport(Report{Kind: heardVote, Frame: frame})
}

// latestNumber returns the number of the latest event.
func (h *reports) latestNumber() heardAnswer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return heardAnswer{h.seq, h.missed}
}

// listAfter lists the events after a number, up to which the caller has read, and
// returns a channel that signals more.
func (h *reports) listAfter(seq uint64) (all []Report, more <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	read := 0
	for read < len(h.kept) && h.kept[read].Seq <= seq {
		read++
	}
	if read > 0 {
		h.dropOldest(read)
	}
	return append(all, h.kept...), h.news
}

// consensusReport is what a validator's consensus reports, as far as drivers are told.
func consensusReport(report simplex.Report) (one Report, is bool) {
	switch r := report.(type) {
	case simplex.Entered:
		return Report{Kind: heardEntered, Epoch: r.Epoch, View: r.View, Leader: &r.Leader}, true
	case simplex.GaveUp:
		return Report{Kind: heardGaveUp, Epoch: r.Epoch, View: r.View, Leader: &r.Leader, Cause: r.Cause, Detail: r.Detail}, true
	case simplex.Notarized:
		c := r.Certificate
		return Report{Kind: heardNotarized, Epoch: c.Epoch, View: c.View, Height: c.Height}, true
	case simplex.Nullified:
		c := r.Certificate
		return Report{Kind: heardNullified, Epoch: c.Epoch, View: c.View}, true
	}
	return one, false
}

// Consensus returns the event as the consensus report that it was; nil for another
// kind.
func (h *Report) Consensus() simplex.Report {
	leader := types.Address{}
	if h.Leader != nil {
		leader = *h.Leader
	}
	certificate := &types.Certificate{Epoch: h.Epoch, View: h.View, Height: h.Height}
	switch h.Kind {
	case heardEntered:
		return simplex.Entered{Epoch: h.Epoch, View: h.View, Leader: leader}
	case heardGaveUp:
		return simplex.GaveUp{Epoch: h.Epoch, View: h.View, Leader: leader, Cause: h.Cause, Detail: h.Detail}
	case heardNotarized:
		return simplex.Notarized{Certificate: certificate}
	case heardNullified:
		return simplex.Nullified{Certificate: certificate}
	}
	return nil
}

// gatewayReport is what a validator's gateway reports, as far as drivers are told.
func gatewayReport(report gateway.Report) (one Report, is bool) {
	of := func(kind string, runner types.Address, id gateway.AssignmentID) Report {
		return Report{Kind: kind, Runner: &runner, Job: &execution.ID{Job: id.Job, Drawn: id.Drawn}}
	}
	switch r := report.(type) {
	case gateway.Arrived:
		return Report{Kind: heardArrived, Runner: &r.Runner}, true
	case gateway.Left:
		return Report{Kind: heardLeft, Runner: &r.Runner, Detail: r.Reason}, true
	case gateway.Pushed:
		return of(heardPushed, r.Runner, r.Assignment), true
	case gateway.Accepted:
		one = of(heardAccepted, r.Runner, r.Assignment)
		one.Detail, one.After = r.Reason, r.After
		return one, true
	case gateway.Classified:
		one = of(heardClassified, r.Runner, r.Assignment)
		one.Outcome, one.Rejected, one.Detail, one.After = r.Outcome, r.Rejected, r.Reason, r.After
		return one, true
	case gateway.NotTaken:
		one = of(heardNotTaken, r.Runner, r.Assignment)
		one.Detail, one.Polled = r.Why, r.Polled
		return one, true
	case gateway.Refused:
		return Report{Kind: heardRefused, Runner: &r.Peer, Registered: r.Registered, Detail: string(r.Reason)}, true
	case gateway.Pressed:
		return Report{Kind: heardPressed, Runner: &r.Runner, Load: &r.Load}, true
	case gateway.Amended:
		return Report{Kind: heardAmended, Runner: &r.Runner, Detail: r.Said}, true
	case gateway.Progressed:
		one = of(heardProgressed, r.Runner, r.Assignment)
		one.Fraction, one.Words = r.Fraction, r.Detail
		return one, true
	}
	return one, false
}

// Gateway returns the event as the gateway report that it was; nil for another
// kind.
func (h *Report) Gateway() gateway.Report {
	if h.Runner == nil {
		return nil
	}
	runner, id := *h.Runner, gateway.AssignmentID{}
	if h.Job != nil {
		id = gateway.AssignmentID{Job: h.Job.Job, Drawn: h.Job.Drawn}
	}
	switch h.Kind {
	case heardArrived:
		return gateway.Arrived{Runner: runner}
	case heardLeft:
		return gateway.Left{Runner: runner, Reason: h.Detail}
	case heardPushed:
		return gateway.Pushed{Runner: runner, Assignment: id}
	case heardAccepted:
		return gateway.Accepted{Runner: runner, Assignment: id, Reason: h.Detail, After: h.After}
	case heardClassified:
		return gateway.Classified{Runner: runner, Assignment: id, Outcome: h.Outcome, Rejected: h.Rejected, Reason: h.Detail, After: h.After}
	case heardNotTaken:
		return gateway.NotTaken{Runner: runner, Assignment: id, Why: h.Detail, Polled: h.Polled}
	case heardRefused:
		return gateway.Refused{Peer: runner, Registered: h.Registered, Reason: push.Reason(h.Detail)}
	case heardPressed:
		if h.Load != nil {
			return gateway.Pressed{Runner: runner, Load: *h.Load}
		}
	case heardAmended:
		return gateway.Amended{Runner: runner, Said: h.Detail}
	case heardProgressed:
		return gateway.Progressed{Runner: runner, Assignment: id, Fraction: h.Fraction, Detail: h.Words}
	}
	return nil
}

// Vote is the frame of a vote that was sent, or nil.
func (h *Report) Vote() []byte {
	if h.Kind != heardVote {
		return nil
	}
	return h.Frame
}

// Dropped returns the transaction that was given up and why, if this event is one.
func (h *Report) Dropped() (hash types.Hash, why string, is bool) {
	if h.Kind != heardDropped || h.Hash == nil {
		return hash, "", false
	}
	return *h.Hash, h.Detail, true
}
