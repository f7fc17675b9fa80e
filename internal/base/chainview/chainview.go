// Package chainview is what a runner learns of the chain, as plain values: the words
// that the runner's cores and the environment's views (env.ChainView) have in common.
// Who tells it is a stranger, one of many: what a view says may cost a runner work,
// and nothing that a runner signs says more than what it did itself.
package chainview

import (
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of what a view tells and is asked.
const (
	// MaxValidators bounds those of a head: two subsets of the greatest.
	MaxValidators = 2_000
	// MaxFollowed bounds the assignments that are followed, and those that a head
	// tells of.
	MaxFollowed = 4_096
)

// Head is the newest final block that a view knows of, and what the view says there
// of one runner (decision J13). It is never changed.
type Head struct {
	Height     types.Height
	Params     *params.Params
	Registered bool // the runner is in the registry, and not deregistered
	Staked     bool // with the stake that is asked for
	// Heartbeat is the height of the runner's last heartbeat on chain (decision J18).
	Heartbeat types.Height
	// Epoch is the subset epoch. Overlaps says that the subset of the one before it
	// holds as well.
	Epoch    uint64
	Overlaps bool
	// Validators are those whom the runner belongs to, with where they listen, "" for
	// who is known to be nowhere: its subset and, during the overlap behind it, those
	// of the former one that are in it alone. Each once, at most MaxValidators.
	Validators []types.Validator
	// Assignments says how assignments stand: each that was followed when the view
	// began to look, and any other of this runner's. One that is not there is not
	// known yet, or not followed. At most MaxFollowed.
	Assignments map[execution.ID]Standing
}

// Standing is what the chain says of an assignment to the runner.
type Standing struct {
	// Open says that it is this runner's, and that neither its result nor its
	// reveal is final. All else holds only then.
	Open        bool
	SpecHash    types.Hash
	Deadline    types.Height // the last block that takes a result
	Alone       bool         // a committee of one, which commits nothing
	Commitments []types.Hash // of this runner: none, or the one that counts
	// Reveals is the first height whose block takes the reveals: behind the time to
	// commit, or behind the block in which the last of the committee did. 0: it is
	// not known yet.
	Reveals types.Height
}
