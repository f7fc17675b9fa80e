package validators

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// SkipTo has this validator, when it leads, propose blocks up to a height
// without waiting for work, and skip all heights at which nothing is due
// (decision C8). Transactions that wait get a block before that. The caller moves
// the clock, once done was called; done may be nil. A lower height than that of the
// last block changes nothing.
func (v *Validator) SkipTo(height types.Height, done func()) { v.travelTo(height, false, done) }

// MakeTo has this validator, when it leads, propose a block for every height up to one,
// without waiting for work. The clock is moved as with SkipTo.
func (v *Validator) MakeTo(height types.Height, done func()) { v.travelTo(height, true, done) }

func (v *Validator) travelTo(height types.Height, every bool, done func()) {
	v.execution.Post(skipTo{v.head.Load().State.Height(), height, every})
	v.consensus.Post(asSimplexEvent(simplex.Goal{Height: height, Every: every}))
	if done == nil {
		return
	}
	if t := v.requests.enterRequest(func(any) { done() }); t != 0 {
		v.execution.Post(askCaughtOn{t})
	}
}

// Pause stops the making of blocks, or resumes it. Transactions are still taken
// into the pool.
func (v *Validator) Pause(on bool) { v.consensus.Post(asSimplexEvent(simplex.Hold{On: on})) }
