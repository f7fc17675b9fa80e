// Package roles runs the roles of nodes, and the on-chain actors under them, as
// proto-actor actors that are deterministic where their dispatcher is
// (docs/INSIDE.md, "A validator").
//
// A Runtime holds the one actor system of a process and its root supervisor.
// A Group is all roles of a node, started by a list, below an actor of the node's name.
// That actor, their parent, decides by a Strategy the effect of a role's panic. Each role
// runs on a dispatcher of the node's environment: a Loop when live, the seeded loop of the
// world in the simulator. Its mailbox handles one event a run, so that the dispatcher picks
// the role that steps next. A role gets events through its Inbox, which takes only those
// that the role knows. An ActorPool holds the on-chain actors of one execution role,
// contracts included, which run in place.
//
// Invariants: the events of a role are handled one at a time, in the order in which
// they were posted. A role that panics is reported with its stack, unless the panic was
// ordered. It is made again separately if its Part declares that this is sound, and
// otherwise takes its node along. Nothing here reads a clock, and nothing waits but
// Stop and Close.
//
// Spec: decision C21.
//
// These parts of proto-actor are not used, since they would not be deterministic or
// do not work: receive timeouts, futures, windowed supervision, Stash (returns in
// reverse), its own mailboxes (deliver a batch twice), Shutdown (stops no actor),
// metrics.
package roles

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
	cmap "github.com/orcaman/concurrent-map"
)

// Proto-actor keeps its actors in 1,024 tables by name, and makes each of these 32
// tables against contention: 32,768 locks and maps for some dozens of actors, made
// again for each world. The number can be set until the first is made.
func init() { cmap.SHARD_COUNT = 1 }

// MaxOffered bounds the events waiting for one role beyond which Offer refuses
// more: a quarter of MaxQueued, so that outside input leaves room for events
// between a node's own roles.
const MaxOffered = MaxQueued / 4

// Runtime is the actor system of a process. It is safe for concurrent use.
type Runtime struct {
	// OnPanic is called for a panic in a role or a contract, or for another bug of this
	// program, with the stack; it runs on the role's loop and must not wait for that
	// loop. The Group reports the effect on the node. Set it before the first Spawn. If
	// it is nil, the panic is logged as an error.
	OnPanic func(name string, value any, stack []byte)
	// Later returns a function that holds posted events back, or nil if they are
	// not: in the simulator, while the step that posts them takes virtual time. Set
	// it before the first Spawn; nil: nothing is held back.
	Later func() func(post func())

	log        *slog.Logger
	system     *actor.ActorSystem
	supervisor *actor.PID
	ended      chan struct{} // the supervisor has stopped

	mu     sync.Mutex
	order  []*role           // as they were spawned
	groups map[string]*Group // by the id of the parent
	closed bool
}

// role is one running role.
type role struct {
	runtime *Runtime
	name    string // of the process: node and role
	part    string // below its parent
	receive func(actor.Context)
	pid     *actor.PID
	mailbox *mailbox
	gone    atomic.Bool    // it has stopped: nothing is taken any more
	dead    *atomic.Uint64 // counts letters; nil: not counted
	done    chan struct{}
}

// New returns a runtime that logs to log. Proto-actor's chatter goes there at
// debug level.
func New(log *slog.Logger) *Runtime {
	chatter := slog.New(&demotedHandler{log.Handler()})
	r := &Runtime{
		log:    log,
		ended:  make(chan struct{}),
		groups: map[string]*Group{},
	}
	r.system = actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return chatter }),
		actor.WithDeadLetterRequestLogging(false),
	)
	r.supervisor = r.spawnSupervisor()
	return r
}

// spawnRole is Spawn for whatever events: receive gets *actor.Started first, then each
// event that is posted, and at the end *actor.Stopping and *actor.Stopped.
func (r *Runtime) spawnRole(name string, d actor.Dispatcher, receive func(actor.Context)) (*role, error) {
	return r.spawnBelow(r.supervisor, name, name, d, receive)
}

// spawnBelow is spawn under a parent, below which the role has the name part.
func (r *Runtime) spawnBelow(parent *actor.PID, name, part string, d actor.Dispatcher, receive func(actor.Context)) (*role, error) {
	one := &role{runtime: r, name: name, part: part, receive: receive, done: make(chan struct{})}
	r.mu.Lock()
	group := r.groups[parent.Id]
	r.mu.Unlock()
	one.mailbox = newMailbox(func(value any, stack []byte) { r.reportPanic(name, value, stack) })
	if group != nil {
		one.dead = &group.dead
		one.mailbox.full = func() { group.takeNodeAlong(part, overfull) }
	}
	order := &spawnOrder{role: one, name: part, dispatcher: d, done: make(chan error, 1)}
	if r.isClosed() {
		return nil, fmt.Errorf("roles: %s: the runtime is closed", name)
	}
	r.system.Root.Send(parent, order)
	if err := <-order.done; err != nil {
		return nil, fmt.Errorf("roles: %s: %w", name, err)
	}
	return one, nil
}

func (r *Runtime) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// postEvent is Inbox.Post.
func (r *Runtime) postEvent(one *role, event any) {
	if one.gone.Load() {
		one.countLostEvents(1)
		return
	}
	if r.Later != nil {
		if hold := r.Later(); hold != nil {
			hold(func() { one.mailbox.PostUserMessage(event) })
			return
		}
	}
	one.mailbox.PostUserMessage(event)
}

// offerEvent is Inbox.Offer.
func (r *Runtime) offerEvent(one *role, event any) bool {
	if one.gone.Load() {
		one.countLostEvents(1)
		return false
	}
	return one.mailbox.offerEvent(event, MaxOffered, false)
}

// countLostEvents counts events that a role which has stopped was told.
func (one *role) countLostEvents(n int) {
	if one.dead != nil {
		one.dead.Add(uint64(n))
	}
}

// countWaiting is Inbox.Waiting.
func (r *Runtime) countWaiting(one *role) int {
	if one.gone.Load() {
		return 0
	}
	return one.mailbox.UserMessageCount()
}

// dismissRole tells a role to stop after its present step and does not wait. A role
// may call it, for itself too.
func (r *Runtime) dismissRole(one *role) {
	if !one.gone.Load() {
		r.system.Root.Stop(one.pid)
	}
}

// stopRoles stops roles in the given order, each after its present step and with its
// children; the events that wait are dropped. It returns when they have stopped.
// On an Inline dispatcher it stops them in the caller; elsewhere a step of the
// same loop must not call it (dismiss is for that).
func (r *Runtime) stopRoles(all ...*role) {
	for _, one := range all {
		if !one.gone.Load() {
			r.system.Root.Stop(one.pid)
			one.waitForEnd()
		}
	}
}

// StopOn stops the roles whose dispatcher which selects, the youngest first: those
// of a simulated node that crashed and cannot stop them.
func (r *Runtime) StopOn(which func(actor.Dispatcher) bool) {
	r.mu.Lock()
	var named []*role
	for i := len(r.order) - 1; i >= 0; i-- {
		if which(r.order[i].mailbox.dispatcher) {
			named = append(named, r.order[i])
		}
	}
	r.mu.Unlock()
	r.stopRoles(named...)
}

func (one *role) waitForEnd() {
	switch d := one.mailbox.dispatcher.(type) {
	case Inline:
		one.mailbox.finishSystem()
	case *Loop:
		select {
		case <-one.done:
		case <-d.done:
			one.mailbox.finishSystem() // nothing can run concurrently any more
		}
	default:
		<-one.done
	}
}

// Close stops all roles, the youngest first, and the supervisor. Nothing can be
// spawned afterwards. A second Close does nothing.
func (r *Runtime) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	all := slices.Clone(r.order)
	slices.Reverse(all)
	r.mu.Unlock()
	r.stopRoles(all...)
	r.system.Root.Stop(r.supervisor)
	<-r.ended
}

func (r *Runtime) enterRole(one *role) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order = append(r.order, one)
}

func (r *Runtime) removeRole(one *role) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one.gone.Store(true)
	one.countLostEvents(one.mailbox.UserMessageCount())
	for i := range r.order {
		if r.order[i] == one {
			r.order = append(r.order[:i], r.order[i+1:]...)
			break
		}
	}
}

// Report reports a panic that was caught and has no outcome, like a panic in a role.
func (r *Runtime) Report(name string, panicked *ActorPanic) {
	r.reportPanic(name, panicked.Value, panicked.Stack)
}

func (r *Runtime) reportPanic(name string, value any, stack []byte) {
	if OrderOf(value) != nil {
		r.log.Info("an actor panicked, as it was told", "actor", name)
		return
	}
	if r.OnPanic != nil {
		r.OnPanic(name, value, stack)
		return
	}
	r.log.Error("a role panicked", "role", name, "panic", value, "stack", string(stack))
}

// Receive implements actor.Actor. A panic while stopping is reported and does
// not keep the role from stopping; one on a loop that was killed is not told.
func (one *role) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Stopping:
		one.handleLast(ctx)
	case *actor.Stopped:
		one.handleLast(ctx)
		one.runtime.removeRole(one)
		close(one.done)
	default:
		one.receive(ctx)
	}
}

func (one *role) handleLast(ctx actor.Context) {
	if l, ok := one.mailbox.dispatcher.(*Loop); ok && l.isDead() {
		return
	}
	defer func() {
		if value := recover(); value != nil {
			if _, ok := value.(Killed); !ok {
				one.mailbox.report(value, stackNow())
			}
		}
	}()
	one.receive(ctx)
}

// demotedHandler hands records on at debug level.
type demotedHandler struct{ slog.Handler }

func (d *demotedHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return d.Handler.Enabled(ctx, demoteLevel(level))
}

func (d *demotedHandler) Handle(ctx context.Context, record slog.Record) error {
	record.Level = demoteLevel(record.Level)
	return d.Handler.Handle(ctx, record)
}

func (d *demotedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &demotedHandler{d.Handler.WithAttrs(attrs)}
}
func (d *demotedHandler) WithGroup(name string) slog.Handler {
	return &demotedHandler{d.Handler.WithGroup(name)}
}

func demoteLevel(level slog.Level) slog.Level {
	if level < slog.LevelWarn {
		return slog.LevelDebug
	}
	return level
}
