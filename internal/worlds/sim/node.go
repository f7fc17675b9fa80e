package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/runners"
)

// node is a machine of the world: it outlives the processes that run on it.
type node struct {
	// The fields that each frame and each step reads are adjacent: among ten thousand
	// nodes they are not in the cache.
	world   *World
	index   int
	process *process      // nil while no process runs
	frozen  *fault.Counts // nil unless it is frozen
	skew    time.Duration // how far its clock is ahead
	started uint32

	name    string
	kind    fault.Whose
	parts   Parts
	address types.Address
	boot    func(*process) (stop func(), err error)
	disk    *disk
	links   map[*node]*linkState // the links to other nodes; looked up only
	death   *fault.Counts        // of its latest crash, or nil
	held    []event              // what happened to it while frozen
	runs    []run                // roles that can step when it thaws
	crashes []crashPoint

	lag      time.Duration // how much longer each step takes; 0: no longer
	cpuSlow  *fault.Counts // of that, or nil
	diskSlow *fault.Counts // of its disk's slowness, or nil

	programs *fault.Programs // nil without any
	restarts roles.Restarts  // by supervision
}

// process is one run of a node's program, from boot to stop or crash.
type process struct {
	node    *node
	number  uint32
	dead    bool
	struck  bool // it dies within its own step
	diedAt  types.Time
	loops   []*roleLoop
	alarms  []*alarm
	stop    func()
	receive func(from types.Address, frame []byte)
	peers   []*node // sorted by address
	// connections holds the connections with runners or validators; nil without
	// any.
	connections *connections
	// views returns a validator's answer to a runner's view: its head, or nil if
	// enough reports that its height is too low. It is nil where it tells nothing.
	views  func(runner *node, follow []execution.ID, enough func(types.Height) bool) *chainview.Head
	parked []*question // of views that wait for the next head
	// polled is what a validator answers a runner that polls; nil where it answers none.
	polled func(runner *node, q polling.Question, answer func(polling.Answer))
	// executor does a runner's jobs; nil for a validator.
	executor  *doer
	contracts *fault.Contracts // nil of a runner
	runner    *runners.Runner  // nil of a validator
	does      doing            // faults of its process; nil without any
	mask      *byzantine.Mask  // of a validator
}

// doing does the faults of a process.
type doing interface {
	Do(o *fault.Order, counts *fault.Counts, over func(after time.Duration)) error
}

// roleLoop is the world's loop as one role of one process sees it.
type roleLoop struct {
	process *process
	role    string
	index   int
	busy    types.Time    // the role, or its disk, is busy until then
	owed    time.Duration // work whose time has not passed yet, less than a quantum
}

// run is a role that can step.
type run struct {
	loop *roleLoop
	fn   func()
}

var _ roles.Inline = (*roleLoop)(nil)

// Schedule implements actor.Dispatcher.
func (l *roleLoop) Schedule(fn func()) {
	if l.process.dead {
		return
	}
	w := l.process.node.world
	w.scheduled++
	if l.busy > w.now {
		w.enterEvent(event{at: l.busy, what: run{l, fn}})
		return
	}
	l.queueStep(fn)
}

func (l *roleLoop) queueStep(fn func()) {
	n := l.process.node
	switch {
	case l.process.dead:
	case n.frozen != nil:
		n.runs = append(n.runs, run{l, fn})
	default:
		n.world.runnable = append(n.world.runnable, run{l, fn})
	}
}

// Throughput implements actor.Dispatcher: one event a run.
func (l *roleLoop) Throughput() int { return 1 }

// Inline implements roles.Inline.
func (l *roleLoop) Inline() {}

func (l *roleLoop) roleName() string { return l.process.node.name + "/" + l.role }

// Loop implements env.Loops.
func (l *process) Loop(role string) actor.Dispatcher {
	for _, one := range l.loops {
		if one.role == role {
			return one
		}
	}
	one := &roleLoop{process: l, role: role, index: len(l.loops)}
	l.loops = append(l.loops, one)
	return one
}

// programHost is the node's host of programs, or nil.
func (n *node) programHost() program.Host {
	if n.programs == nil {
		return nil
	}
	return n.programs
}

// waitForHost has the role whose step it is wait for a host that hangs.
func (n *node) waitForHost(d time.Duration) {
	w := n.world
	if loop := w.current; loop != nil && loop.process == n.process {
		loop.busy = max(loop.busy, w.now).Add(d)
	}
}

// Boot starts a process on a node: the first one, or one after a Crash or Stop.
// It finds on the disk what the one before had synced. A crash that CrashAt
// planned may strike within it, and is an error that is ErrCrashed.
func (w *World) Boot(name string) (err error) {
	n := w.findNode(name)
	if n.process != nil {
		return fmt.Errorf("%s runs already", name)
	}
	n.started++
	l := &process{node: n, number: n.started}
	n.process = l
	w.trace.tracePlain(w.now, kindBoot, n)
	var stop func()
	w.runOutsideStep(func() { stop, err = n.boot(l) })
	switch {
	case l.dead:
		return fmt.Errorf("sim: booting %s: %w", name, ErrCrashed)
	case w.bug != nil:
		return w.bug
	case err != nil:
		l.endProcess()
		return fmt.Errorf("sim: booting %s: %w", name, err)
	}
	l.stop = stop
	return nil
}

// Stop ends a node's process in good order, by the function that its boot returned.
func (w *World) Stop(name string) error {
	n := w.findNode(name)
	if n.process == nil {
		return fmt.Errorf("%s does not run", name)
	}
	if n.frozen != nil {
		return fmt.Errorf("%s is frozen: thaw it, or crash it", name)
	}
	w.trace.tracePlain(w.now, kindStop, n)
	w.runOutsideStep(func() {
		if n.process.stop != nil {
			n.process.stop()
		}
		if n.process != nil && n.process.connections != nil {
			n.process.connections.Close()
		}
	})
	if n.process != nil {
		n.process.endProcess()
	}
	if w.bug != nil {
		return w.bug
	}
	return nil
}

// ErrCrashed is the error of every call by a dead process.
var ErrCrashed = errors.New("sim: the node has crashed")

// killProcess ends a process within its own step, or between steps. Its roles are
// cleared away by reap when the step is over.
func (l *process) killProcess() {
	if l.dead {
		return
	}
	w := l.node.world
	if l.connections != nil {
		l.connections.notifyPeersOfDeath()
	}
	l.dead, l.diedAt, w.troubled = true, w.now, true
	n := l.node
	if l.contracts != nil {
		l.contracts.End()
	}
	n.process, n.held, n.runs, n.frozen, n.crashes = nil, nil, nil, nil, nil
	n.disk.loseUnsyncedWrites()
	kept := w.runnable[:0]
	for _, r := range w.runnable {
		if r.loop.process != l {
			kept = append(kept, r)
		}
	}
	clear(w.runnable[len(kept):])
	w.runnable = kept
	w.crashed = append(w.crashed, l)
}

// endProcess ends a process and its roles.
func (l *process) endProcess() {
	l.killProcess()
	l.node.world.stopDeadRoles()
}

// clock is a node's clock: the world's time, plus what time travel has moved all
// clocks by, plus its skew.
type clock struct{ process *process }

// Now implements env.Clock. Within a step that has worked, or written, it is later
// than the world's.
func (c clock) Now() types.Time {
	return c.process.timeAfterWork().Add(c.process.node.clockOffset())
}

// clockOffset is by how much the node's clock is before the world's time.
func (n *node) clockOffset() time.Duration { return n.world.offset + n.skew }

// NewAlarm implements env.Clock.
func (c clock) NewAlarm(ring func()) env.Alarm {
	a := &alarm{process: c.process, ring: ring, at: types.Never, next: types.Never}
	c.process.alarms = append(c.process.alarms, a)
	return a
}

// alarm is one deadline. It has at most one event that counts under way.
type alarm struct {
	process  *process
	ring     func()
	at       types.Time // in the node's time
	next     types.Time // the world's time of its event, Never without one
	sequence uint64     // the sequence of its event
}

// Set implements env.Alarm.
func (a *alarm) Set(at types.Time) {
	if a.process.dead || at == a.at {
		return
	}
	a.at = at
	a.ensureEvent()
}

// ensureEvent ensures an event at or before the deadline. An event that is too early is
// kept, and set again when it comes: deadlines mostly move to later times.
func (a *alarm) ensureEvent() {
	if a.at == types.Never {
		return
	}
	w := a.process.node.world
	at := max(a.at.Add(-a.process.node.clockOffset()), w.now)
	if a.next <= at {
		return
	}
	w.enterEvent(event{at: at, what: a})
	a.next, a.sequence = at, w.sequence
}

// happenAt rings, unless the alarm was set to another time meanwhile.
func (a *alarm) happenAt(e event) {
	n := a.process.node
	if a.process.dead || a.sequence != e.sequence {
		return
	}
	if n.frozen != nil {
		n.holdEvent(e)
		return
	}
	a.next = types.Never
	if a.at == types.Never {
		return
	}
	if n.world.now.Add(n.clockOffset()) < a.at {
		a.ensureEvent()
		return
	}
	a.at = types.Never
	n.world.trace.tracePlain(n.world.now, kindAlarm, n)
	a.ring()
}
