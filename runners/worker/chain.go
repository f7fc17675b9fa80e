package worker

import (
	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
)

// ID names an assignment: a job, and the block that drew its runners.
type ID = execution.ID

// Head is the newest final block known to the runner's view of the chain (decision
// J13).
type Head struct{ *chainview.Head }

// Standing is the chain's status of an assignment to this runner.
type Standing = chainview.Standing

// standingOf returns the head's status of an assignment; told is false without one,
// since the view is late or does not follow the assignment yet.
func (m *Machine) standingOf(id ID) (s Standing, told bool) {
	if m.head.Height < id.Drawn {
		return Standing{}, false
	}
	s, told = m.head.Assignments[id]
	return s, told
}
