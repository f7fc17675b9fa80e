package validators

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// skipTo tells execution that the blocks after from, up to a height, skip what
// they may.
type skipTo struct{ from, height types.Height }

// SkipTo has this validator, when it leads, propose blocks up to a height
// without waiting for work, and skip all heights at which nothing is due
// (decision C8). Transactions that wait get a block before that. The clock is
// moved by whoever asks, once done was called; it may be nil. A lower height
// than that of the last block changes nothing.
func (v *Validator) SkipTo(height types.Height, done func()) {
	v.post(v.execution, skipTo{v.head.Load().State.Height(), height})
	v.post(v.consensus, simplex.Goal{Height: height})
	if done != nil {
		v.AskPool(func(*Pool) { done() })
	}
}

// Pause stops the making of blocks, or lets it go on. Transactions are still
// taken into the pool.
func (v *Validator) Pause(on bool) { v.post(v.consensus, simplex.Hold{On: on}) }
