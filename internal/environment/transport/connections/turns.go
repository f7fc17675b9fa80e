package connections

import (
	"context"
	"sync"
	"time"
)

// Turns bounds the handshakes that the runners of one process have under way. A
// thousand that begin together would keep the processor from every one of them, until
// the time of all is over, and begin again.
type Turns struct{ free chan struct{} }

// turnTime is after what time a handshake that is not done keeps nobody waiting any
// more: who does not answer at all does not do so for long.
const turnTime = 250 * time.Millisecond

// NewTurns lets so many handshakes be under way, and those that take longer than
// others.
func NewTurns(together int) *Turns { return &Turns{make(chan struct{}, together)} }

// take waits for a turn, which done ends. Nil Turns let everybody begin.
func (t *Turns) take(ctx context.Context) (done func(), err error) {
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
