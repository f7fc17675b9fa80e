package worker

import "github.com/cowboyinc/devnet/internal/base/types"

// ID names an assignment: a job, and the block that drew its runners.
type ID struct {
	Job   types.Hash
	Drawn types.Height
}

// Head is the newest final block that the runner's view of the chain knows of.
type Head struct {
	Height types.Height
	View   View
}

// View reads the runner's view of the chain at a head (decision J13). The same
// question has the same answer as long as the head stands.
type View interface {
	Assignment(ID) Standing
}

// Standing is what the chain says of an assignment to this runner.
type Standing struct {
	// Open says that it is this runner's, and that neither its result nor its
	// reveal is final. All else holds only then.
	Open        bool
	SpecHash    types.Hash
	Deadline    types.Height // the last block that takes a result
	Alone       bool         // a committee of one, which commits nothing
	Commitments []types.Hash // of this runner, by whomever they were brought
	// Reveals is the first height whose block takes the reveals: behind the time
	// to commit, or behind the block in which the last of the committee did. 0: it
	// is not known yet.
	Reveals types.Height
}
