package session

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Event is what happens to a machine.
type Event interface{ isEvent() }

// The events, besides Head.
type (
	// Connection is an event of a connection. Its content is hostile.
	Connection struct{ connection.Event }
	// Fault says that a validator broke the wire on the stream of a job.
	Fault struct {
		ID     connection.ID
		Reason push.Reason
	}
	// Answers are what the worker does on the streams of jobs. Actions for a
	// connection that is no longer live are dropped.
	Answers struct{ Do []connection.Verb }
	// Load is what the runner has to do (CIP-11 §6.4).
	Load struct{ Signal push.BackpressureSignal }
	// Changed says that capabilities or entitlements came or went (CIP-11 §6.5).
	Changed struct {
		AddedCapabilities   []string
		RemovedCapabilities []string
		AddedEntitlements   []string
		RemovedEntitlements []string
	}
	// Stop leaves all validators and stops dialling.
	Stop struct{}
	// Tick says that the deadline has passed.
	Tick struct{}
)

func (Head) isEvent()       {}
func (Connection) isEvent() {}
func (Fault) isEvent()      {}
func (Answers) isEvent()    {}
func (Load) isEvent()       {}
func (Changed) isEvent()    {}
func (Stop) isEvent()       {}
func (Tick) isEvent()       {}

// Output is what has to be done, in this order.
type Output struct {
	Do     []connection.Verb
	Jobs   []Stream
	Report []Report
}

// Stream is an event on the stream of a job, of a connection that is live: Opened, Came
// or Ended, which stands for Cut too; or the Down of a connection that was.
type Stream struct {
	Validator types.PublicKey
	connection.Event
}

// Report is what others may want to know. Nothing depends on it.
type Report interface{ isReport() }

// The reports.
type (
	// Arrived says that the connection with a validator is live.
	Arrived struct{ Validator types.Address }
	// Left says that a connection is over that was live, or that an attempt failed.
	Left struct {
		Validator types.Address
		Live      bool   // it was
		Reason    string // of a Goodbye or a loss
		Ours      bool   // the Goodbye was
	}
)

func (Arrived) isReport() {}
func (Left) isReport()    {}
