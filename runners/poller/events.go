package poller

import (
	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Event is what happens to a machine.
type Event interface{ isEvent() }

// The events.
type (
	// Head is the newest final block known to the runner's view of the chain
	// (decision J13).
	Head struct{ *chainview.Head }
	// Missing says whether the view shows an assignment that no validator has delivered, and
	// the height of the first head that showed it.
	Missing struct {
		Is    bool
		Since types.Height
	}
	// Bring is a result that no stream is open for, or the refusal of an assignment that a
	// poll brought.
	Bring struct {
		ID      execution.ID
		Result  *push.JobResult
		Refusal *push.JobAck // in place of a result
	}
	// Over says that an assignment ended: nothing of it is brought any more.
	Over struct{ ID execution.ID }
	// Answer is a validator's answer. Its content is hostile.
	Answer struct{ polling.Answer }
	// Stop asks nothing any more.
	Stop struct{}
	// Tick says that the deadline has passed.
	Tick struct{}
)

func (Head) isEvent()    {}
func (Missing) isEvent() {}
func (Bring) isEvent()   {}
func (Over) isEvent()    {}
func (Answer) isEvent()  {}
func (Stop) isEvent()    {}
func (Tick) isEvent()    {}

// Output is what has to be done, in this order.
type Output struct {
	Ask    []polling.Question
	Jobs   []Job
	Report []Report
}

// Job is an assignment that a validator answered with.
type Job struct {
	Validator types.PublicKey
	polling.Job
}

// Report is what others may want to know. Nothing depends on it.
type Report interface{ isReport() }

// Brought is a report: a validator took a result or a refusal that was brought without a
// stream, or did not take it.
type Brought struct {
	ID        execution.ID
	Validator types.Address
	Refused   string // why; "": it was taken
}

func (Brought) isReport() {}
