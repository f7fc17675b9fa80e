// Package chainview has a runner's view of the chain, as plain values: the terms that
// the runner's cores and the environment's views (env.ChainView) share. A view's
// source is one stranger among many: its statements may cost a runner work, and no
// runner signs a statement on their word.
package chainview

import (
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of a view's answers and questions.
const (
	// MaxValidators bounds the validators of a head: two subsets of the maximum
	// size.
	MaxValidators = 2_000
	// MaxFollowed bounds the followed assignments, and those in a head.
	MaxFollowed = 4_096
)

// Head is the newest final block known to a view, with the view's statements about
// one runner in it (decision J13). It is never changed.
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
	// Validators are those that the runner belongs to, with their endpoints, "" if
	// unknown: its subset and, during the overlap after a rotation, those that are
	// only in the former one. No duplicates, at most MaxValidators.
	Validators []types.Validator
	// Assignments has the status of assignments: each that was followed when the
	// view began to look, and any other of this runner's. A missing assignment is
	// not known yet, or not followed. At most MaxFollowed.
	Assignments map[execution.ID]Standing
}

// Standing is the chain's status of an assignment to the runner.
type Standing struct {
	// Open reports that the assignment belongs to this runner, and that neither its
	// result nor its reveal is final. The other fields are valid only if it is
	// true.
	Open        bool
	SpecHash    types.Hash
	Deadline    types.Height // the last block that takes a result
	Alone       bool         // a committee of one, which commits nothing
	Commitments []types.Hash // of this runner: none, or the one that counts
	// Reveals is the first height whose block takes the reveals: after the time to
	// commit, or after the block in which the last of the committee committed. 0:
	// it is not known yet.
	Reveals types.Height
}
