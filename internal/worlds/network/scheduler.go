package network

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// How a wait ends without its signal.
var (
	ErrLate   = errors.New("the wait took too long")
	ErrClosed = errors.New("the network is closed")
)

// Forever is the patience of a wait that only its signal or the network's end can end.
const Forever time.Duration = math.MaxInt64

// Scheduler is how operator code waits and starts tasks. All methods are
// safe for concurrent use where the network is live.
type Scheduler interface {
	// Now is the clock of deadlines. Time travel does not move it.
	Now() types.Time
	// Wait returns nil once the signal has fired, ErrLate after the patience, ErrClosed at
	// the network's end, or the context's error.
	Wait(ctx context.Context, s *Signal, patience time.Duration) error
	// Go starts a task and returns. The network's end ends the task's waits, and comes
	// after the task. The task's error is a failure of the network.
	Go(name string, task func() error)
}
