package validators

import (
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Trouble is what kept a validator from making, judging or executing a block, or
// part of one, when it last happened: for whoever asks why there is no block.
type Trouble struct {
	At   types.Time
	What string
}

// troubles keeps the last.
type troubles struct{ last atomic.Pointer[Trouble] }

func (t *troubles) note(now types.Time, what string) { t.last.Store(&Trouble{At: now, What: what}) }
