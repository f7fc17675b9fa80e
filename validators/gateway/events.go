package gateway

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Event is an input of a machine: a Connection's event, a Head or a Tick.
type Event interface{ isEvent() }

// The events.
type (
	// Connection is an event of a connection. Its content is hostile.
	Connection struct{ connection.Event }
	// Foreseen is what a block draws that was executed here and is not final.
	Foreseen struct{ Drafts []Draft }
	// Polled is a result that a runner brought without a connection (decision J11), or an
	// ack that refuses a job, whose own signature is not needed. Nothing of it is checked.
	Polled struct {
		Runner types.Address
		Result *push.JobResult
		Ack    *push.JobAck // in place of a result
	}
	// Unkept says that what was submitted of a runner for a job is kept no more, and is in
	// no block (decision J24).
	Unkept struct {
		Runner types.Address
		Job    types.Hash
	}
	// Stop says Goodbye to everybody.
	Stop struct{}
	// Tick says that the deadline has passed.
	Tick struct{}
)

func (Connection) isEvent() {}
func (Foreseen) isEvent()   {}
func (Polled) isEvent()     {}
func (Unkept) isEvent()     {}
func (Stop) isEvent()       {}
func (Tick) isEvent()       {}
func (*Head) isEvent()      {}

// Output lists the actions of a step, in this order.
type Output struct {
	Submit []Submission
	Do     []connection.Verb
	Attest []Attests // what it attests of runners from now on
	Report []Report
}

// Submission is a transaction of the runner lane (decision J15): it is free, has no
// nonce, and its content proves it.
type Submission interface{ isSubmission() }

// The submissions.
type (
	// Heartbeat brings a ping on chain (decision J18).
	Heartbeat struct {
		Runner types.Address
		Ping   push.HeartbeatPing
	}
	// Commit brings the commitment to a result.
	Commit struct {
		Runner     types.Address
		Assignment AssignmentID
		Commitment types.Hash
		Signed     types.Signature // by the runner (push.CommitmentDigest)
	}
	// Refuse brings a runner's word that it does not take a job.
	Refuse struct {
		Runner  types.Address
		Refusal push.Refusal
		Signed  types.Signature // by the runner (push.Refusal.Digest)
	}
	// Reveal brings a result whose commitment is final, or, of a committee of one,
	// that has none.
	Reveal struct {
		Runner     types.Address
		Assignment AssignmentID
		Result     push.JobResult
		Alone      bool // there was no commitment to make
	}
)

func (Heartbeat) isSubmission() {}
func (Commit) isSubmission()    {}
func (Refuse) isSubmission()    {}
func (Reveal) isSubmission()    {}

// Report is what others may want to know. Nothing depends on it.
type Report interface{ isReport() }

// The reports.
type (
	// Arrived says that a runner's connection is live.
	Arrived struct {
		Runner types.Address
		Remote connection.Address
	}
	// Left says that it is live no more.
	Left struct {
		Runner types.Address
		Reason string // of the validator's Goodbye, or of the runner's; empty if the connection was lost
	}
	// Refused says that a connection that was not live ended with a Goodbye of ours.
	Refused struct {
		Peer       types.Address // of the key that its certificate proved
		Registered bool          // the peer is a runner of the registry
		Remote     connection.Address
		Reason     push.Reason
	}
	// Pressed is a runner's report on its load, if that changed (CIP-11 §6.4).
	Pressed struct {
		Runner types.Address
		Load   Load
	}
	// Amended is what one CapabilityDelta of a runner said (CIP-11 §6.5).
	Amended struct {
		Runner types.Address
		Said   string // the names, added ones after a +, removed ones after a -; a text that is kept
	}
	// Pushed says that an assignment was sent to its runner.
	Pushed struct {
		Runner     types.Address
		Assignment AssignmentID
	}
	// Accepted says that the runner took it (CIP-11 §10.2). Every other answer is an
	// outcome.
	Accepted struct {
		Runner     types.Address
		Assignment AssignmentID
		Reason     string        // that its ack gave, as it is kept; "" for none
		After      time.Duration // since the push
	}
	// Classified is a delivery's outcome (CIP-11 §10.6).
	Classified struct {
		Runner     types.Address
		Assignment AssignmentID
		Outcome    Outcome
		Rejected   push.RejectReason // of an ack that rejects; otherwise ""
		Reason     string            // that the ack gave, as it is kept; "" for none
		After      time.Duration     // of an ack: since the push; otherwise 0
	}
	// Progressed is a runner's word on how far it is (CIP-11 §10.4).
	Progressed struct {
		Runner     types.Address
		Assignment AssignmentID
		Fraction   uint8 // of a hundred
		Detail     *string
	}
	// NotTaken is a result that was dropped, and why.
	NotTaken struct {
		Runner     types.Address
		Assignment AssignmentID
		Why        string
		Polled     bool // it came without a connection: who brought it is anybody, and is answered
	}
)

func (Arrived) isReport()    {}
func (Left) isReport()       {}
func (Refused) isReport()    {}
func (Pressed) isReport()    {}
func (Amended) isReport()    {}
func (Pushed) isReport()     {}
func (Accepted) isReport()   {}
func (Classified) isReport() {}
func (Progressed) isReport() {}
func (NotTaken) isReport()   {}

// Outcome is the outcome of one delivery (CIP-11 §10.6).
type Outcome uint8

// The outcomes.
const (
	Pending     Outcome = iota // nothing was answered yet, or it was accepted and no result has come
	Success                    // accepted, and the result came
	Duplicate                  // another validator's came before
	SoftFailure                // any other answer: the runner is alive
	HardFailure                // no answer in time

	Outcomes = int(HardFailure) + 1 // that there are
)

func (o Outcome) String() string {
	return [...]string{"pending", "success", "duplicate", "soft failure", "hard failure"}[o]
}
