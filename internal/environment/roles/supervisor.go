package roles

import (
	"fmt"
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"
)

// supervisorName is the id of the root supervisor, and the prefix of all roles'.
const supervisorName = "roles"

// spawnOrder asks a parent, or the root supervisor, for a role below it.
type spawnOrder struct {
	role       *role
	name       string // below the parent
	dispatcher actor.Dispatcher
	done       chan error
}

// parentOrder asks the root supervisor for the parent of a group.
type parentOrder struct {
	group *Group
	done  chan error
}

// HandleFailure implements actor.SupervisorStrategy, as the root supervisor does: what
// panics right below it is stopped, and a parent takes its node along.
func (r *Runtime) HandleFailure(_ *actor.ActorSystem, root actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	root.StopChildren(child)
	r.mu.Lock()
	group := r.groups[child.Id]
	r.mu.Unlock()
	if group != nil {
		group.takeNodeAlong(Parent, reason)
	}
}

// spawnSupervisor starts the actor above all nodes. It runs in place, so that spawning
// and supervising need no separate loop.
func (r *Runtime) spawnSupervisor() *actor.PID {
	receive := func(ctx actor.Context) {
		switch message := ctx.Message().(type) {
		case *spawnOrder:
			message.done <- r.spawnChild(ctx, message)
		case *parentOrder:
			message.done <- r.spawnGroup(ctx, message.group)
		case *actor.Stopped:
			close(r.ended)
		}
	}
	pid, err := r.system.Root.SpawnNamed(r.inPlace(supervisorName, receive, r), supervisorName)
	if err != nil {
		panic(err) // the system is new, so the name is free
	}
	return pid
}

// inPlace returns the props of an actor that supervises others in place.
func (r *Runtime) inPlace(name string, receive actor.ReceiveFunc, by actor.SupervisorStrategy) *actor.Props {
	return actor.PropsFromFunc(receive,
		actor.WithDispatcher(InPlace),
		actor.WithMailbox(func() actor.Mailbox {
			return newMailbox(func(value any, stack []byte) { r.reportPanic(name, value, stack) })
		}),
		actor.WithSupervisor(by),
	)
}

// spawnParent starts the parent of a group below the root supervisor.
func (r *Runtime) spawnParent(c *Group) error {
	if r.isClosed() {
		return fmt.Errorf("roles: %s: the runtime is closed", c.node)
	}
	order := &parentOrder{c, make(chan error, 1)}
	r.system.Root.Send(r.supervisor, order)
	if err := <-order.done; err != nil {
		return fmt.Errorf("roles: %s: %w", c.node, err)
	}
	return nil
}

func (r *Runtime) spawnGroup(ctx actor.Context, c *Group) (err error) {
	pid, err := ctx.SpawnNamed(r.inPlace(c.node, c.receiveMessage, c), c.node)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.parent = pid
	r.groups[pid.Id] = c
	return nil
}

// forgetGroup lets a group go whose parent has stopped.
func (r *Runtime) forgetGroup(c *Group) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.parent != nil {
		delete(r.groups, c.parent.Id)
	}
}

// spawnChild starts a role within its supervisor's step. The role is known to Post
// before it can step.
func (r *Runtime) spawnChild(ctx actor.Context, order *spawnOrder) error {
	one := order.role
	props := actor.PropsFromProducer(func() actor.Actor { return one },
		actor.WithDispatcher(order.dispatcher),
		actor.WithMailbox(func() actor.Mailbox { return one.mailbox }),
		actor.WithSupervisor(stopChild),
		actor.WithOnInit(func(ctx actor.Context) {
			one.pid = ctx.Self()
			r.enterRole(one)
		}),
	)
	_, err := ctx.SpawnNamed(props, order.name)
	return err
}

// stopChild is the default supervision of a role's own children.
var stopChild = actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective })

func stackNow() []byte { return debug.Stack() }
