package roles

import (
	"slices"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// Part is a role in the list of a kind of node: its name, and what makes it.
type Part struct {
	Name string
	// make makes what the role does, and returns what starts it.
	make func() (start func(r *Runtime, name string, d actor.Dispatcher) (*role, error), err error)
}

// As is the part of a role that does what make returns. Its inbox is set when it
// has been started.
func As[E any](name string, inbox *Inbox[E], make func() (Steps[E], error)) Part {
	return Part{Name: name, make: func() (func(*Runtime, string, actor.Dispatcher) (*role, error), error) {
		steps, err := make()
		if err != nil {
			return nil, err
		}
		return func(r *Runtime, name string, d actor.Dispatcher) (*role, error) {
			spawned, err := Spawn(r, name, d, steps)
			*inbox = spawned
			return spawned.role, err
		}, nil
	}}
}

// Crew is the roles of one node, in the order in which they were started. It is safe
// for concurrent use.
type Crew struct {
	runtime *Runtime
	mu      sync.Mutex
	roles   []*role
}

// NewCrew returns a crew without a role.
func NewCrew(r *Runtime) *Crew { return &Crew{runtime: r} }

// Start makes all parts and then starts them, in the order of the list, each on the
// dispatcher that loop gives a role of its name. Where one cannot be made or started
// none is left.
func (c *Crew) Start(node string, loop func(role string) actor.Dispatcher, parts []Part) error {
	starts := make([]func(*Runtime, string, actor.Dispatcher) (*role, error), len(parts))
	for i, part := range parts {
		start, err := part.make()
		if err != nil {
			return err
		}
		starts[i] = start
	}
	for i, part := range parts {
		one, err := starts[i](c.runtime, node+"/"+part.Name, loop(part.Name))
		if err != nil {
			c.Stop()
			return err
		}
		c.mu.Lock()
		c.roles = append(c.roles, one)
		c.mu.Unlock()
	}
	return nil
}

// Stop stops the roles, the last first, each after its present step and with its
// children; the events that wait are dropped. It returns when they have stopped; a
// step of one of their loops must not call it (Dismiss is for that), unless that is
// Inline.
func (c *Crew) Stop() { c.runtime.stop(c.backwards()...) }

// Dismiss tells the roles to stop after their present steps, the last first, and
// does not wait. A role may call it.
func (c *Crew) Dismiss() {
	for _, one := range c.backwards() {
		c.runtime.dismiss(one)
	}
}

func (c *Crew) backwards() []*role {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.roles)
	slices.Reverse(all)
	return all
}
