package roles

import (
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// Loop is the dispatcher of a live node: one goroutine that runs what is
// scheduled, in order. It has no limit itself: a mailbox has at most one run
// scheduled, so at most as many wait as roles share the loop.
type Loop struct {
	mu      sync.Mutex
	wake    *sync.Cond
	waiting []func()
	closed  bool
	frozen  bool
	killed  bool
	halted  atomic.Bool // frozen or killed: asked before each function
	done    chan struct{}
}

var _ actor.Dispatcher = (*Loop)(nil)

// NewLoop starts a loop.
func NewLoop() *Loop {
	l := &Loop{done: make(chan struct{})}
	l.wake = sync.NewCond(&l.mu)
	go l.runLoop()
	return l
}

// Schedule queues fn. It never blocks; after Close it does nothing.
func (l *Loop) Schedule(fn func()) {
	l.mu.Lock()
	if !l.closed {
		l.waiting = append(l.waiting, fn)
		if len(l.waiting) == 1 {
			l.wake.Signal()
		}
	}
	l.mu.Unlock()
}

// Throughput implements actor.Dispatcher: one event a run.
func (l *Loop) Throughput() int { return 1 }

// Close runs what is scheduled already and ends the loop; it returns when the
// loop has ended. A function of the loop must not call it. Stop the roles first:
// one that is left can neither step nor stop any more.
func (l *Loop) Close() {
	l.mu.Lock()
	l.closed = true
	l.wake.Signal()
	l.mu.Unlock()
	<-l.done
}

// Kill ends the loop after its present function; scheduled functions never run, and
// remaining roles are not notified of their end. It returns when the loop has
// ended.
func (l *Loop) Kill() {
	l.mu.Lock()
	l.closed, l.killed, l.waiting = true, true, nil
	l.halted.Store(true)
	l.wake.Signal()
	l.mu.Unlock()
	<-l.done
}

// Freeze lets the loop run nothing after its present function, until Thaw or
// Close. Scheduled functions wait.
func (l *Loop) Freeze() { l.holdSteps(true) }

// Thaw lets a frozen loop run on.
func (l *Loop) Thaw() { l.holdSteps(false) }

func (l *Loop) holdSteps(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = on
	l.halted.Store(on || l.killed)
	l.wake.Signal()
}

// isDead reports whether the loop was killed.
func (l *Loop) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.killed
}

// passGate waits while the loop is frozen; it is false where the loop was killed.
func (l *Loop) passGate() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.frozen && !l.closed {
		l.wake.Wait()
	}
	return !l.killed
}

func (l *Loop) runLoop() {
	defer close(l.done)
	var batch []func()
	for {
		l.mu.Lock()
		for (len(l.waiting) == 0 || l.frozen) && !l.closed {
			l.wake.Wait()
		}
		batch, l.waiting = l.waiting, batch[:0]
		l.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for i, fn := range batch {
			batch[i] = nil
			if l.halted.Load() && !l.passGate() {
				return
			}
			fn()
		}
	}
}

// Inline marks a dispatcher whose functions never run concurrently with the
// goroutine that calls Stop: the simulator's loop, and InPlace. Stop then finishes
// a role itself, in the caller, and steps no other role.
type Inline interface {
	actor.Dispatcher
	Inline()
}

// InPlace is the dispatcher of on-chain actors: who posts an event to an idle
// actor has handled it when the post returns. A post to an actor that is in a
// step waits until that step is over.
var InPlace Inline = inPlace{}

type inPlace struct{}

func (inPlace) Schedule(fn func()) { fn() }
func (inPlace) Throughput() int    { return 1 }
func (inPlace) Inline()            {}
