package simplex

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// newestFinal is the newest final block, and the certificate that allows a newer one.
type newestFinal struct {
	root      Root
	gap       time.Duration      // how much later the root's children are stamped at least
	edge      Root               // the block before the last border
	final     *types.Certificate // the highest finalization that is not reported yet
	finalFrom types.Address      // who sent it
	broken    bool               // Conflict was reported
}

// Root returns the finalized block of the machine.
func (m *newestFinal) Root() Root { return m.root }

func (m *newestFinal) rootHeight() types.Height { return m.root.Block.Header.Height }
