package roles

import (
	"container/list"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"
)

// ErrOnStack refuses a message to an actor that is handling one.
var ErrOnStack = errors.New("roles: the actor is handling a message already")

// ActorPanic is the error of a message whose handler panicked. The actor has
// been restarted.
type ActorPanic struct {
	Value any
	Stack []byte
}

func (p *ActorPanic) Error() string { return fmt.Sprintf("roles: the actor panicked: %v", p.Value) }

// ActorPool is the on-chain actors in use under one execution role: each is a
// proto-actor actor that is made on its first message, handles one message at a
// time in place, is restarted when it panics, and is passivated when idle. The
// caller sets the order, never a mailbox.
//
// An ActorPool belongs to the role that made it and is not safe for concurrent use.
type ActorPool struct {
	runtime *Runtime
	limit   int
	make    func(name string) func(message any) any

	supervisor *actor.PID
	members    map[string]*list.Element // of *member
	used       *list.List               // most recently asked first
	round      uint64
	replies    *replies
	repliesPID *actor.PID
	spawned    *member // what the supervisor is to spawn
	err        error   // of that
	asks       []*ask  // the messages being handled, outermost first
}

// member is one on-chain actor in use.
type member struct {
	name    string
	handle  func(message any) any
	pid     *actor.PID
	mailbox *mailbox
	round   uint64 // in which it was last asked
}

// ask is one message being handled and its outcome.
type ask struct {
	reply    any
	answered bool
	panicked *ActorPanic
}

// NewActorPool makes a pool under the role whose context is given; it ends with that
// role. make returns the behaviour of the actor with a name, from message to
// reply; it is called again when the actor was passivated or restarted. At most
// limit actors are kept, the one that was idle for longest leaving first.
func (r *Runtime) NewActorPool(parent actor.Context, limit int, make func(name string) func(message any) any) (*ActorPool, error) {
	if limit < 1 {
		return nil, fmt.Errorf("roles: a pool of at most %d actors holds none: allow 1 or more", limit)
	}
	c := &ActorPool{runtime: r, limit: limit, make: make, members: map[string]*list.Element{}, used: list.New()}
	c.replies = &replies{pool: c}
	supervisor, err := parent.SpawnNamed(actor.PropsFromFunc(c.superviseActors,
		actor.WithDispatcher(InPlace),
		actor.WithMailbox(func() actor.Mailbox {
			return newMailbox(func(value any, stack []byte) { r.reportPanic("actors", value, stack) })
		}),
		actor.WithSupervisor(actor.RestartingSupervisorStrategy()),
	), "actors")
	if err != nil {
		return nil, fmt.Errorf("roles: actors: %w", err)
	}
	c.supervisor = supervisor
	c.repliesPID, _ = r.system.ProcessRegistry.Add(c.replies, supervisor.Id+"/replies")
	return c, nil
}

// spawnMember asks the pool's supervisor for the member in ActorPool.spawned.
type spawnMember struct{}

func (c *ActorPool) superviseActors(ctx actor.Context) {
	switch ctx.Message().(type) {
	case spawnMember:
		c.err = c.spawnMember(ctx, c.spawned)
	case *actor.Stopped:
		c.runtime.system.ProcessRegistry.Remove(c.repliesPID)
	}
}

func (c *ActorPool) spawnMember(ctx actor.Context, one *member) (err error) {
	one.mailbox = newMailbox(func(value any, stack []byte) {
		c.asks[len(c.asks)-1].panicked = &ActorPanic{value, stack}
	})
	one.pid, err = ctx.SpawnNamed(actor.PropsFromProducer(func() actor.Actor {
		one.handle = nil
		return one.newIncarnation(c)
	},
		actor.WithDispatcher(InPlace),
		actor.WithMailbox(func() actor.Mailbox { return one.mailbox }),
	), one.name)
	return err
}

// newIncarnation is a new incarnation: its first message makes its behaviour, so that a
// panic in making it counts for that message.
func (one *member) newIncarnation(c *ActorPool) actor.ReceiveFunc {
	return func(ctx actor.Context) {
		question, ok := ctx.Message().(question)
		if !ok {
			return
		}
		if one.handle == nil {
			one.handle = c.make(one.name)
		}
		ctx.Respond(answer{one.handle(question.message)})
	}
}

type (
	question struct{ message any }
	answer   struct{ reply any }
)

// Ask delivers a message to the actor with a name and returns its reply. The
// error is ErrOnStack, an *ActorPanic, or that the actor could not be made. The
// actor may ask others while it handles the message.
func (c *ActorPool) Ask(name string, message any) (any, error) {
	one, err := c.findOrAddMember(name)
	if err != nil {
		return nil, err
	}
	if one.mailbox.isBusy() {
		return nil, ErrOnStack
	}
	current := new(ask)
	c.asks = append(c.asks, current)
	c.runtime.system.Root.RequestWithCustomSender(one.pid, question{message}, c.repliesPID)
	c.asks = c.asks[:len(c.asks)-1]
	switch {
	case one.mailbox.wasKilled():
		panic(Killed{})
	case current.panicked != nil:
		return nil, current.panicked
	case !current.answered:
		panic(fmt.Sprintf("roles: actor %s did not answer", name))
	}
	return current.reply, nil
}

// findOrAddMember returns the actor with a name, made if it does not exist.
func (c *ActorPool) findOrAddMember(name string) (*member, error) {
	if e := c.members[name]; e != nil {
		c.used.MoveToFront(e)
		one := e.Value.(*member)
		one.round = c.round
		return one, nil
	}
	for e := c.used.Back(); e != nil && len(c.members) >= c.limit; {
		before := e.Prev()
		c.passivateActor(e)
		e = before
	}
	c.spawned, c.err = &member{name: name, round: c.round}, nil
	c.runtime.system.Root.Send(c.supervisor, spawnMember{})
	if c.err != nil {
		return nil, fmt.Errorf("roles: actor %s: %w", name, c.err)
	}
	if c.spawned.pid == nil {
		return nil, fmt.Errorf("roles: actor %s: its pool has stopped", name)
	}
	c.members[name] = c.used.PushFront(c.spawned)
	return c.spawned, nil
}

// EndRound ends a block: actors without a message for keep rounds are passivated.
func (c *ActorPool) EndRound(keep uint64) {
	c.round++
	for e := c.used.Back(); e != nil && e.Value.(*member).round+keep < c.round; {
		before := e.Prev()
		c.passivateActor(e)
		e = before
	}
}

// passivateActor stops an actor, unless it is handling a message.
func (c *ActorPool) passivateActor(e *list.Element) {
	one := e.Value.(*member)
	if one.mailbox.isBusy() {
		return
	}
	c.used.Remove(e)
	delete(c.members, one.name)
	c.runtime.system.Root.Stop(one.pid)
}

// Len is the number of actors in use.
func (c *ActorPool) Len() int { return len(c.members) }

// replies is the process to which the members of a pool respond. Messages nest
// like calls, so a reply belongs to the innermost one.
type replies struct{ pool *ActorPool }

// SendUserMessage implements actor.Process.
func (r *replies) SendUserMessage(_ *actor.PID, message any) {
	_, message, _ = actor.UnwrapEnvelope(message)
	reply, ok := message.(answer)
	if !ok || len(r.pool.asks) == 0 {
		r.pool.runtime.reportPanic("actors", fmt.Sprintf("an actor responded with %T outside a message", message), debug.Stack())
		return
	}
	current := r.pool.asks[len(r.pool.asks)-1]
	current.reply, current.answered = reply.reply, true
}

// SendSystemMessage implements actor.Process.
func (r *replies) SendSystemMessage(*actor.PID, any) {}

// Stop implements actor.Process.
func (r *replies) Stop(*actor.PID) {}
