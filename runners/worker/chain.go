package worker

import (
	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
)

// ID names an assignment: a job, and the block that drew its runners.
type ID = execution.ID

// Head is the newest final block that the runner's view of the chain knows of
// (decision J13).
type Head struct{ *chainview.Head }

// Standing is what the chain says of an assignment to this runner.
type Standing = chainview.Standing

// standing is what the head says of an assignment; told is false where it says
// nothing, since the view is late or does not follow it yet.
func (m *Machine) standing(id ID) (s Standing, told bool) {
	if m.head.Height < id.Drawn {
		return Standing{}, false
	}
	s, told = m.head.Assignments[id]
	return s, told
}
