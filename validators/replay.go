package validators

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// replay is what a validator executes again at its start: final blocks that its log has and its store has not.
type replay struct {
	to   types.Height
	once sync.Once
	done chan struct{} // closed when readers see height to, or never will
}

// planReplay finds out up to which height the log is executed again. A validator that executes no blocks replays none.
func (v *Validator) planReplay(records [][]byte, root simplex.Root) error {
	v.replay.to = root.Block.Header.Height
	if v.config.Unfit != "" {
		return nil
	}
	to, err := simplex.ReplayHeight(records, root)
	v.replay.to = max(v.replay.to, to)
	return err
}

// endAtHeight ends the replay when readers see its last block.
func (r *replay) endAtHeight(seen types.Height) {
	if seen >= r.to {
		r.end()
	}
}

func (r *replay) end() { r.once.Do(func() { close(r.done) }) }

// Replayed is closed when readers see all that was final here before the start and did not reach the store, or the
// validator has stopped by itself.
func (v *Validator) Replayed() <-chan struct{} { return v.replay.done }
