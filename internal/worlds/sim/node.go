package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// node is a machine of the world: it outlives the processes that run on it.
type node struct {
	world   *World
	index   int
	name    string
	parts   Parts
	address types.Address
	boot    Boot
	disk    *disk
	skew    time.Duration
	life    *life    // nil while no process runs
	frozen  *Receipt // nil unless it is frozen
	death   *Receipt // of its latest crash, or nil
	held    []event  // what happened to it while frozen
	runs    []run    // roles that can step when it thaws
	lives   uint32
	crashes []crashPoint

	programs *fault.Programs            // nil where there are none
	broken   map[types.Address]*Receipt // by the actors over which they fail
}

// life is one process on a node, from boot to stop or crash.
type life struct {
	node    *node
	number  uint32
	dead    bool
	diedAt  types.Time
	loops   []*roleLoop
	alarms  []*alarm
	stop    func()
	receive func(from types.Address, frame []byte)
	peers   []*node // sorted by address
}

// roleLoop is the world's loop as one role of one life sees it.
type roleLoop struct {
	life  *life
	role  string
	index int
	busy  types.Time    // it or its disk is, until then
	owed  time.Duration // work whose time has not passed yet, less than a quantum
}

// run is a role that can step.
type run struct {
	loop *roleLoop
	fn   func()
}

var _ roles.Inline = (*roleLoop)(nil)

// Schedule implements actor.Dispatcher.
func (l *roleLoop) Schedule(fn func()) {
	if l.life.dead {
		return
	}
	w := l.life.node.world
	if l.busy > w.now {
		w.push(event{at: l.busy, kind: eventRun, run: run{l, fn}})
		return
	}
	l.ready(fn)
}

func (l *roleLoop) ready(fn func()) {
	n := l.life.node
	switch {
	case l.life.dead:
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

func (l *roleLoop) label() string { return l.life.node.name + "/" + l.role }

// Loop implements env.Loops.
func (l *life) Loop(role string) actor.Dispatcher {
	for _, one := range l.loops {
		if one.role == role {
			return one
		}
	}
	one := &roleLoop{life: l, role: role, index: len(l.loops)}
	l.loops = append(l.loops, one)
	return one
}

// AddNode adds a machine; Boot starts a process on it. The name and the
// signer's address are unique in the world.
func (w *World) AddNode(name string, parts Parts, boot Boot) error {
	address := parts.Signer.Address()
	switch {
	case w.byName[name] != nil:
		return fmt.Errorf("sim: there is a node %s already", name)
	case w.byAddress[address] != nil:
		return fmt.Errorf("sim: node %s has the address of %s", name, w.byAddress[address].name)
	case len(w.nodes) == MaxNodes:
		return fmt.Errorf("sim: a world has at most %d nodes", MaxNodes)
	}
	n := &node{world: w, index: len(w.nodes), name: name, parts: parts, address: address, boot: boot}
	n.disk = newDisk(n, w.disk)
	if parts.Programs != nil {
		n.programs, n.broken = &fault.Programs{Host: parts.Programs, Wait: n.wait}, map[types.Address]*Receipt{}
	}
	w.nodes = append(w.nodes, n)
	w.byName[name], w.byAddress[address] = n, n
	w.growLinks()
	w.divide(n)
	return nil
}

// host is the node's host of programs, or nil.
func (n *node) host() program.Host {
	if n.programs == nil {
		return nil
	}
	return n.programs
}

// wait has the role whose step it is wait for a host that hangs.
func (n *node) wait(d time.Duration) {
	w := n.world
	if loop := w.current; loop != nil && loop.life == n.life {
		loop.busy = max(loop.busy, w.now).Add(d)
	}
}

// find returns a node by name. That a test names a node that is not there is
// its own mistake, so it panics.
func (w *World) find(name string) *node {
	n := w.byName[name]
	if n == nil {
		panic(fmt.Sprintf("sim: there is no node %q", name))
	}
	return n
}

// Running says whether a process runs on a node, frozen or not.
func (w *World) Running(name string) bool { return w.find(name).life != nil }

// Boot starts a process on a node: the first one, or one after a Crash or Stop.
// It finds on the disk what the one before had synced. A crash that CrashAt
// planned may strike within it, and is an error that is ErrCrashed.
func (w *World) Boot(name string) (err error) {
	n := w.find(name)
	if n.life != nil {
		return fmt.Errorf("%s runs already", name)
	}
	n.lives++
	l := &life{node: n, number: n.lives}
	n.life = l
	w.trace.plain(w.now, kindBoot, n)
	var stop func()
	w.guard(func() { stop, err = n.boot(l.env()) })
	switch {
	case l.dead:
		return fmt.Errorf("sim: booting %s: %w", name, ErrCrashed)
	case w.bug != nil:
		return w.bug
	case err != nil:
		w.end(l)
		return fmt.Errorf("sim: booting %s: %w", name, err)
	}
	l.stop = stop
	return nil
}

// Stop ends a node's process in good order, by what its boot returned.
func (w *World) Stop(name string) error {
	n := w.find(name)
	if n.life == nil {
		return fmt.Errorf("%s does not run", name)
	}
	if n.frozen != nil {
		return fmt.Errorf("%s is frozen: thaw it, or crash it", name)
	}
	w.trace.plain(w.now, kindStop, n)
	w.guard(func() {
		if n.life.stop != nil {
			n.life.stop()
		}
	})
	if n.life != nil {
		w.end(n.life)
	}
	if w.bug != nil {
		return w.bug
	}
	return nil
}

// env is the world as one process sees it.
func (l *life) env() env.Node {
	n := l.node
	return env.Node{
		Work: l, Clock: clock{l}, Loops: l, Transport: &transport{l},
		Log: &nodeLog{l}, Store: &nodeStore{l},
		Signer: signer{n.parts.Signer, l}, Verifier: n.parts.Verifier, Programs: n.host(),
	}
}

// ErrCrashed is what the dead see of the world.
var ErrCrashed = errors.New("sim: the node has crashed")

// kill ends a process within its own step, or between steps. Its roles are
// cleared away by bury when the step is over.
func (w *World) kill(l *life) {
	if l.dead {
		return
	}
	l.dead, l.diedAt = true, w.now
	n := l.node
	n.life, n.held, n.runs, n.frozen, n.crashes = nil, nil, nil, nil, nil
	n.disk.crash()
	kept := w.runnable[:0]
	for _, r := range w.runnable {
		if r.loop.life != l {
			kept = append(kept, r)
		}
	}
	clear(w.runnable[len(kept):])
	w.runnable = kept
	w.crashed = append(w.crashed, l)
}

// end ends a process whose roles have stopped, or are to.
func (w *World) end(l *life) {
	w.kill(l)
	w.bury()
}

// bury stops the roles of the dead; they run no more code than what proto-actor
// tells them about their end, and that has no effect on the world.
func (w *World) bury() {
	for len(w.crashed) > 0 {
		l := w.crashed[0]
		w.crashed = w.crashed[1:]
		w.runtime.StopOn(func(d actor.Dispatcher) bool {
			loop, ok := d.(*roleLoop)
			return ok && loop.life == l
		})
	}
}

// clock is a node's clock: the world's time, plus what time travel has moved all
// clocks by, plus its skew.
type clock struct{ life *life }

// Now implements env.Clock. Within a step that has worked, or written, it is later
// than the world's.
func (c clock) Now() types.Time {
	w := c.life.node.world
	now := w.now
	if w.current != nil && w.current.life == c.life {
		now = max(now, w.current.busy)
	}
	return now.Add(c.life.node.ahead())
}

// ahead is by how much the node's clock is before the world's time.
func (n *node) ahead() time.Duration { return n.world.offset + n.skew }

// NewAlarm implements env.Clock.
func (c clock) NewAlarm(ring func()) env.Alarm {
	a := &alarm{life: c.life, ring: ring, at: types.Never, next: types.Never}
	c.life.alarms = append(c.life.alarms, a)
	return a
}

// alarm is one deadline. It has at most one event that counts under way.
type alarm struct {
	life     *life
	ring     func()
	at       types.Time // in the node's time
	next     types.Time // the world's time of its event, Never where there is none
	sequence uint64     // of that event
}

// Set implements env.Alarm.
func (a *alarm) Set(at types.Time) {
	if a.life.dead || at == a.at {
		return
	}
	a.at = at
	a.arm()
}

// arm sees to an event at or before the deadline. One that is too early is
// kept, and armed again when it comes: deadlines mostly move back.
func (a *alarm) arm() {
	if a.at == types.Never {
		return
	}
	w := a.life.node.world
	at := max(a.at.Add(-a.life.node.ahead()), w.now)
	if a.next <= at {
		return
	}
	w.push(event{at: at, kind: eventAlarm, alarm: a})
	a.next, a.sequence = at, w.sequence
}

// due rings, unless the alarm was set to another time meanwhile.
func (a *alarm) due(e *event) {
	n := a.life.node
	if a.life.dead || a.sequence != e.sequence {
		return
	}
	if n.frozen != nil {
		n.hold(*e)
		return
	}
	a.next = types.Never
	if a.at == types.Never {
		return
	}
	if n.world.now.Add(n.ahead()) < a.at {
		a.arm()
		return
	}
	a.at = types.Never
	n.world.trace.plain(n.world.now, kindAlarm, n)
	a.ring()
}
