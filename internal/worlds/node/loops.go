package node

import (
	"fmt"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// loops are the goroutines of a process: one a role, so that neither programs nor
// disks keep a vote waiting. A role's is made when the role asks for it.
type loops struct {
	mu    sync.Mutex
	of    map[string]*roles.Loop // the loop of each role
	ended bool
}

func newLoops() *loops { return &loops{of: map[string]*roles.Loop{}} }

// Loop implements env.Loops.
func (l *loops) Loop(role string) actor.Dispatcher {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		panic(fmt.Sprintf("node: the role %s begins in a process that has ended", role))
	}
	if l.of[role] == nil {
		l.of[role] = roles.NewLoop()
	}
	return l.of[role]
}

func (l *loops) freezeAll() { l.eachLoop((*roles.Loop).Freeze) }
func (l *loops) thawAll()   { l.eachLoop((*roles.Loop).Thaw) }

func (l *loops) eachLoop(do func(*roles.Loop)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, loop := range l.of {
		do(loop)
	}
}

// killAll ends the loops after the steps they are in, all at once.
func (l *loops) killAll() { l.endAll((*roles.Loop).Kill) }

// closeAll ends the loops when they have done what they were given.
func (l *loops) closeAll() { l.endAll((*roles.Loop).Close) }

// endAll waits without the lock, which a step may need on its way to an end.
func (l *loops) endAll(how func(*roles.Loop)) {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	var all sync.WaitGroup
	for _, loop := range l.of {
		all.Go(func() { how(loop) })
	}
	all.Wait()
}
