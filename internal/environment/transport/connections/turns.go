package connections

import (
	"context"
	"sync"
	"time"
)

// Turns bounds the handshakes that the nodes of one process have under way. A
// thousand that begin together would keep the processor from every one of them, until
// the time of all is over, and begin again.
type Turns struct{ free chan struct{} }

// turnTime is the time after which an unfinished handshake no longer delays others:
// a peer that never answers holds its turn only that long.
const turnTime = 250 * time.Millisecond

// NewTurns allows that many handshakes at once, besides those that exceed turnTime.
func NewTurns(together int) *Turns { return &Turns{make(chan struct{}, together)} }

// Take waits for a turn, which done ends. Nil Turns let everybody begin.
func (t *Turns) Take(ctx context.Context) (done func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	select {
	case t.free <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	end := sync.OnceFunc(func() { <-t.free })
	late := time.AfterFunc(turnTime, end)
	return func() {
		late.Stop()
		end()
	}, nil
}
