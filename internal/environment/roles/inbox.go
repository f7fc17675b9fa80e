package roles

import (
	"github.com/asynkron/protoactor-go/actor"
)

// Steps is what a role does. E is the events it knows: mostly a sealed interface,
// whose types are plain data that can be written down and read back.
type Steps[E any] struct {
	First func(actor.Context) // its first step, before any event; may be nil
	Each  func(E)             // one event
	Last  func()              // its last step; may be nil
}

// Inbox passes events to a role, and by its type only events that the role knows.
// The zero Inbox has no role: its events are lost. It is safe for concurrent use.
type Inbox[E any] struct {
	runtime *Runtime
	role    *role
}

// Spawn starts a role under the root supervisor of r, on the dispatcher d. The name
// is unique in the process: node and role. On InPlace, its First must not spawn. A role
// of a node is a Part of its Group.
func Spawn[E any](r *Runtime, name string, d actor.Dispatcher, steps Steps[E]) (Inbox[E], error) {
	return spawnSteps(r, r.supervisor, name, name, d, steps, nil)
}

// spawnSteps starts a role under a parent, below which it has the name part. again makes
// what the role does when it is restarted; nil: it never is.
func spawnSteps[E any](r *Runtime, parent *actor.PID, name, part string, d actor.Dispatcher, steps Steps[E],
	again func() (Steps[E], error)) (Inbox[E], error) {
	one, err := r.spawnBelow(parent, name, part, d, func(ctx actor.Context) {
		switch event := ctx.Message().(type) {
		case *actor.Started:
			if steps.First != nil {
				steps.First(ctx)
			}
		case *actor.Restarting:
			made, err := again()
			if err != nil {
				panic(err)
			}
			steps = made
		case *actor.Stopping:
			if steps.Last != nil {
				steps.Last()
			}
		case *actor.Stopped:
		case *Ordered:
			panic(event)
		case E:
			steps.Each(event)
		}
	})
	if err != nil {
		return Inbox[E]{}, err
	}
	return Inbox[E]{r, one}, nil
}

// Post tells the role of an event of the node's own. An event for a stopped role is a dead letter, and counted
// (Group.DeadLetters). It never blocks; events from outside the node go through Offer.
func (b Inbox[E]) Post(event E) {
	if b.runtime != nil {
		b.runtime.postEvent(b.role, event)
	}
}

// Offer tells the role of an event from outside: it is refused, with false, when
// the role has stopped or MaxOffered events wait for it.
func (b Inbox[E]) Offer(event E) bool {
	return b.runtime != nil && b.runtime.offerEvent(b.role, event)
}

// Waiting is the number of events that wait for the role.
func (b Inbox[E]) Waiting() int {
	if b.runtime == nil {
		return 0
	}
	return b.runtime.countWaiting(b.role)
}

// Stop stops the role after its present step, with its children; the events that
// wait are dropped. It returns when the role has stopped. On an Inline dispatcher it
// stops it in the caller; elsewhere a step of the same loop must not call it.
func (b Inbox[E]) Stop() {
	if b.runtime != nil {
		b.runtime.stopRoles(b.role)
	}
}
