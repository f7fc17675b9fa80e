package worker

import (
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Event is what happens to a machine.
type Event interface{ isEvent() }

// The events, besides Head.
type (
	// Stream is an event on a job's stream of a live connection with a validator,
	// or the Down of such a connection. Its content is hostile.
	Stream struct {
		Validator types.PublicKey
		connection.Event
	}
	// Polled is an assignment that a validator answered a poll with (decision J11). It
	// has no signature.
	Polled struct {
		Validator types.PublicKey
		Job       polling.Job
	}
	// Advanced is the executor's word on how far it is with an assignment.
	Advanced struct {
		ID       ID
		Fraction uint8 // of a hundred
		Detail   string
	}
	// Finished is its result.
	Finished struct {
		ID     ID
		Result []byte
	}
	// Broke says that it has none and will have none.
	Broke struct {
		ID      ID
		Why     string
		Refusal *execution.Refusal // of a job that cannot be done, by no fault of the runner's; else nil
	}
	// Drain takes no new assignment from now on, or does so again.
	Drain struct {
		On     bool
		Reason string
	}
)

func (Head) isEvent()     {}
func (Stream) isEvent()   {}
func (Polled) isEvent()   {}
func (Advanced) isEvent() {}
func (Finished) isEvent() {}
func (Broke) isEvent()    {}
func (Drain) isEvent()    {}

// Output is what has to be done, in this order.
type Output struct {
	Do     []connection.Verb // on streams of jobs
	Faults []Fault
	Ask    []Ask
	Bring  []Bring
	// Follow lists the assignments that the view is to report from now on, if they
	// changed: not nil then, even if empty.
	Follow []ID
	Load   *push.BackpressureSignal // where it changed
	Report []Report
}

// Bring is a result for which no stream is open, the refusal of an assignment that a
// poll brought, or the refusal of one that the work showed to be impossible. It goes to a validator without a connection (decision J11).
type Bring struct {
	ID      ID
	Result  *push.JobResult
	Refusal *push.JobAck // in place of a result
}

// Fault says that a validator broke the wire: Goodbye says which way.
type Fault struct {
	ID     connection.ID
	Reason push.Reason
}

// Ask is a question to the executor.
type Ask interface{ isAsk() }

// The asks.
type (
	// Execute asks for a result; Finished or Broke answers.
	Execute struct {
		ID       ID
		Spec     *push.JobSpec
		Deadline types.Height
	}
	// Abandon takes the question back. A later answer is ignored.
	Abandon struct{ ID ID }
)

func (Execute) isAsk() {}
func (Abandon) isAsk() {}

// Report is what others may want to know. Nothing depends on it.
type Report interface{ isReport() }

// The reports.
type (
	// Answered is an ack that was sent.
	Answered struct {
		ID        ID
		Validator types.PublicKey
		Status    push.AckStatus
		Why       string // of a rejection
	}
	// Fetched is an assignment that a poll brought, with why it is not taken.
	Fetched struct {
		ID        ID
		Validator types.PublicKey
		Why       string // "": it is taken
	}
	// Sent says that a result was sent, for the Try-th time: to a validator, or with the
	// zero key without a connection.
	Sent struct {
		ID        ID
		Validator types.PublicKey
		Try       int
	}
	// Over says how an assignment ended for this runner.
	Over struct {
		ID     ID
		Why    string
		Failed bool // the executor failed, or another result was committed
	}
	// Conflict says that two validators signed other specs for one assignment.
	Conflict struct {
		ID        ID
		Validator types.PublicKey
	}
)

func (Answered) isReport() {}
func (Fetched) isReport()  {}
func (Sent) isReport()     {}
func (Over) isReport()     {}
func (Conflict) isReport() {}
