package worker

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Limits of the memory that validators can make a runner use.
const (
	// MaxAssignments bounds those that are remembered: what runs, and what waits to
	// be final. Beyond it the runner has no capacity.
	MaxAssignments = 1_024
	// MaxSpecs bounds the specs of one assignment, only one of which is true. Specs
	// that more validators delivered stay.
	MaxSpecs = 4
	// maxDeclined bounds the refusals that are remembered until their deadlines.
	maxDeclined = 256
	// maxRemembered is for how many blocks, at most.
	maxRemembered = 1_000
	// MaxStreams bounds the streams of all connections together.
	MaxStreams = 4_096
	// MaxResultBytes bounds a result, so that its frame is one.
	MaxResultBytes = push.MaxFrame - 1<<10
	// maxAhead is how far above the head of the runner's own view a draw may be: a
	// view that is seconds late.
	maxAhead = 64
)

const (
	// patienceBlocks is for how long a commitment or a reveal may be on its way to
	// the chain, before another validator gets the result.
	patienceBlocks = 4
	// progressGap is the time between two frames of progress: with ack and result
	// they are half of the frames that a validator lets through in a second.
	progressGap = 100 * time.Millisecond
)
