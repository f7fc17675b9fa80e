package roles

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Part is a role in the list of a kind of node: its name, and what makes it.
type Part struct {
	Name string
	// alone means that the role can be made again without the others: nothing that
	// it held is needed, or it will be asked for again.
	alone bool
	// make makes what the role does, and returns what starts it.
	make func() (start func(c *Group, d actor.Dispatcher) (*role, error), err error)
}

// As is the part of a role that does what make returns. Its inbox is set when it
// has been started. A panic takes its node along (Failure).
func As[E any](name string, inbox *Inbox[E], make func() (Steps[E], error)) Part {
	return Part{Name: name, make: func() (func(*Group, actor.Dispatcher) (*role, error), error) {
		steps, err := make()
		if err != nil {
			return nil, err
		}
		return func(c *Group, d actor.Dispatcher) (*role, error) {
			spawned, err := spawnSteps(c.runtime, c.parent, c.node+"/"+name, name, d, steps, make)
			*inbox = spawned
			return spawned.role, err
		}, nil
	}}
}

// Alone returns the part of a role that is made again, without the others, when it
// panics. Its waiting events stay, and the event that it was in is lost.
func (p Part) Alone() Part {
	p.alone = true
	return p
}

// Parent is how the actor above the roles of a node is called among them.
const Parent = "parent"

// Group is the roles of one node, in the order in which they were started, and the actor
// above them: their supervisor. That actor ends with the last of them. It is safe for
// concurrent use.
type Group struct {
	runtime *Runtime
	by      Supervision
	node    string
	parent  *actor.PID    // nil before Start
	ended   chan struct{} // the parent has stopped
	dead    atomic.Uint64 // letters

	mu       sync.Mutex
	roles    []*role
	parts    map[string]Part
	restarts map[string]*Restarts // by role
	hanging  bool                 // the parent
	waiting  []func()             // failures of roles that wait for it
}

// NewGroup returns a group without a role.
func NewGroup(r *Runtime, by Supervision) *Group {
	return &Group{runtime: r, by: by, ended: make(chan struct{}), parts: map[string]Part{}, restarts: map[string]*Restarts{}}
}

// Start makes all parts and then starts them, in the order of the list. Each runs on the
// dispatcher that loop gives a role of its name, below a parent with the name of the
// node. Where one cannot be made or started none is left.
func (c *Group) Start(node string, loop func(role string) actor.Dispatcher, parts []Part) error {
	starts := make([]func(*Group, actor.Dispatcher) (*role, error), len(parts))
	for i, part := range parts {
		start, err := part.make()
		if err != nil {
			return err
		}
		starts[i] = start
	}
	c.node = node
	if err := c.runtime.spawnParent(c); err != nil {
		return err
	}
	for i, part := range parts {
		c.mu.Lock()
		c.parts[part.Name] = part
		c.mu.Unlock()
		one, err := starts[i](c, loop(part.Name))
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
func (c *Group) Stop() {
	c.runtime.stopRoles(c.rolesBackwards()...)
	if c.parent != nil {
		c.runtime.system.Root.Stop(c.parent) // it has ended, unless no role was started
		<-c.ended
	}
}

// Dismiss tells the roles to stop after their present steps, the last first, and
// does not wait. A role may call it.
func (c *Group) Dismiss() {
	for _, one := range c.rolesBackwards() {
		c.runtime.dismissRole(one)
	}
}

// DeadLetters is how many events were told a role that had stopped, or waited for it
// when it did.
func (c *Group) DeadLetters() uint64 { return c.dead.Load() }

// Upset makes a role misbehave, or with the name Parent the actor above the roles. With
// a duration it handles no event for that time. Without one it panics with the order.
// The error is that the node has no such role, or that the role has stopped.
func (c *Group) Upset(name string, hang time.Duration, order *Ordered) error {
	if name == Parent {
		return c.upsetParent(hang, order)
	}
	one := c.findRole(name)
	switch {
	case one == nil:
		return fmt.Errorf("%s has no role %.40q", c.node, name)
	case one.gone.Load():
		return fmt.Errorf("the role %s of %s has stopped", name, c.node)
	case hang > 0:
		one.mailbox.holdEvents(true)
		c.by.After(hang, func() { one.mailbox.holdEvents(false) })
	default:
		one.mailbox.PostUserMessage(order)
	}
	return nil
}

func (c *Group) upsetParent(hang time.Duration, order *Ordered) error {
	select {
	case <-c.ended:
		return fmt.Errorf("the actor above the roles of %s has stopped", c.node)
	default:
	}
	if hang <= 0 {
		c.runtime.system.Root.Send(c.parent, order)
		return nil
	}
	c.mu.Lock()
	c.hanging = true
	c.mu.Unlock()
	c.by.After(hang, func() { c.runtime.system.Root.Send(c.parent, wake{}) })
	return nil
}

// wake tells a parent that it hangs no more.
type wake struct{}

// findRole returns the role with a name, or nil.
func (c *Group) findRole(name string) *role {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.roles {
		if one.part == name {
			return one
		}
	}
	return nil
}

func (c *Group) rolesBackwards() []*role {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.roles)
	slices.Reverse(all)
	return all
}

// receiveMessage is the behaviour of the parent.
func (c *Group) receiveMessage(ctx actor.Context) {
	switch message := ctx.Message().(type) {
	case *spawnOrder:
		message.done <- c.runtime.spawnChild(ctx, message)
	case *Ordered:
		panic(message)
	case wake:
		c.wakeGroup()
	case *actor.Terminated:
		if len(ctx.Children()) == 0 {
			ctx.Stop(ctx.Self())
		}
	case *actor.Stopped:
		c.runtime.forgetGroup(c)
		close(c.ended)
	}
}

func (c *Group) wakeGroup() {
	c.mu.Lock()
	c.hanging = false
	waiting := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	for _, decide := range waiting {
		decide()
	}
}

// HandleFailure implements actor.SupervisorStrategy: a parent that hangs decides when it
// hangs no more, and the role waits for that.
func (c *Group) HandleFailure(_ *actor.ActorSystem, parent actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	decide := func() { c.decideFate(parent, child, reason) }
	c.mu.Lock()
	hanging := c.hanging
	if hanging {
		c.waiting = append(c.waiting, decide)
	}
	c.mu.Unlock()
	if !hanging {
		decide()
	}
}

// decideFate decides the effect of a role's panic.
func (c *Group) decideFate(parent actor.Supervisor, child *actor.PID, reason any) {
	name := ""
	for _, one := range c.rolesBackwards() {
		if one.pid.Id == child.Id {
			name = one.part
		}
	}
	if c.allowsRestart(name) {
		OrderOf(reason).thenFate(MadeAgain)
		if c.by.Restarted != nil {
			c.by.Restarted(name)
		}
		parent.RestartChildren(child)
		return
	}
	parent.StopChildren(child)
	c.takeNodeAlong(name, reason)
}

// allowsRestart reports whether a role is made again separately.
func (c *Group) allowsRestart(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by.Strategy != Restart || !c.parts[name].alone {
		return false
	}
	if c.restarts[name] == nil {
		c.restarts[name] = new(Restarts)
	}
	return c.restarts[name].Allow(c.by.Now())
}

// takeNodeAlong reports that a role takes its node along.
func (c *Group) takeNodeAlong(name string, reason any) {
	OrderOf(reason).thenFate(TakenAlong)
	if c.by.Along != nil {
		c.by.Along(&Failure{Role: name, Reason: reason, Strategy: c.by.Strategy})
	}
}
