package validators

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/program"
	"github.com/cowboyinc/devnet/internal/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// What a validator remembers of transactions over which its host of programs
// failed. They pay nothing, since nobody can prove what they would have used, so
// whoever sends one comes last for a while, and cannot send it again (decision
// C18).
const (
	maxRemembered = 1024 // senders, and as many transactions
	lastBlocks    = 256  // how long such a sender's transactions come behind all others
)

// recent is a bounded set: what comes beyond the bound replaces the oldest.
type recent[K comparable] struct {
	until map[K]types.Height
	order []K
}

func (r *recent[K]) add(key K, until types.Height) {
	if r.until == nil {
		r.until = map[K]types.Height{}
	}
	if _, held := r.until[key]; !held {
		if len(r.order) == maxRemembered {
			delete(r.until, r.order[0])
			r.order = r.order[1:]
		}
		r.order = append(r.order, key)
	}
	r.until[key] = until
}

func (r *recent[K]) holds(key K, now types.Height) bool { return now < r.until[key] }

// late is that memory.
type late struct {
	senders      recent[types.Address]
	transactions recent[types.Hash]
}

// ErrLate refuses a transaction over which the host of programs failed before.
var ErrLate = errors.New("host_failed: the host of programs failed over this transaction already; its program crashes the host or takes too long")

// leaveOut forgets a transaction that a block cannot hold, or has it wait behind
// all others where the proposer's time was over before it ended.
func (e *execution) leaveOut(drop *ledger.Dropped) {
	var environment *ledger.EnvironmentError
	if !errors.As(drop.Err, &environment) {
		e.drop(drop.Transaction.Hash, drop.Err)
		return
	}
	if errors.Is(drop.Err, program.ErrNotBegun) {
		return
	}
	height := e.v.head.Load().Block.Header.Height
	e.late.senders.add(drop.Transaction.Sender, height+lastBlocks)
	if drop.Waits {
		return
	}
	e.late.transactions.add(drop.Transaction.Hash, height+lastBlocks)
	e.v.log.Warn("the host of programs failed over a transaction", "hash", drop.Transaction.Hash, "error", drop.Err)
	e.drop(drop.Transaction.Hash, fmt.Errorf("host_failed: the host of programs failed twice over it: its program crashes the host or takes too long"))
}
