package roles

import (
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// supervisorName is the id of the root supervisor, and the prefix of all roles'.
const supervisorName = "roles"

// spawnOrder asks the supervisor for a role.
type spawnOrder struct {
	role       *role
	dispatcher actor.Dispatcher
	done       chan error
}

// stopChild is the supervision of roles: a panic of ours ends the role.
var stopChild = actor.NewOneForOneStrategy(0, time.Duration(0),
	func(any) actor.Directive { return actor.StopDirective })

// spawnSupervisor starts the parent of all roles. It runs in place, so that
// spawning and supervising need no loop of their own.
func (r *Runtime) spawnSupervisor() *actor.PID {
	receive := func(ctx actor.Context) {
		switch message := ctx.Message().(type) {
		case *spawnOrder:
			message.done <- r.spawnChild(ctx, message)
		case *actor.Stopped:
			close(r.ended)
		}
	}
	pid, err := r.system.Root.SpawnNamed(actor.PropsFromFunc(receive,
		actor.WithDispatcher(InPlace),
		actor.WithMailbox(func() actor.Mailbox {
			return newMailbox(func(value any, stack []byte) { r.report(supervisorName, value, stack) })
		}),
		actor.WithSupervisor(stopChild),
	), supervisorName)
	if err != nil {
		panic(err) // the system is new, so the name is free
	}
	return pid
}

// spawnChild starts a role within the supervisor's step. The role is known to
// Post before it can step.
func (r *Runtime) spawnChild(ctx actor.Context, order *spawnOrder) error {
	one := order.role
	props := actor.PropsFromProducer(func() actor.Actor { return one },
		actor.WithDispatcher(order.dispatcher),
		actor.WithMailbox(func() actor.Mailbox { return one.mailbox }),
		actor.WithSupervisor(stopChild),
		actor.WithOnInit(func(ctx actor.Context) {
			one.pid = ctx.Self()
			r.enter(one)
		}),
	)
	_, err := ctx.SpawnNamed(props, one.name)
	return err
}

func stackNow() []byte { return debug.Stack() }
