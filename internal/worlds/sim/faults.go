package sim

import (
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

var _ network.Node = (*node)(nil)

// Who implements network.Node.
func (n *node) Who() network.Identity {
	return network.Identity{Name: n.name, Address: n.address, Kind: n.kind}
}

// Phase implements network.Node.
func (n *node) Phase() network.Phase {
	switch {
	case n.process == nil:
		return network.Stopped
	case n.frozen != nil:
		return network.Frozen
	}
	return network.Running
}

// Start implements network.Node.
func (n *node) Start() error { return n.world.Boot(n.name) }

// Stop implements network.Node.
func (n *node) Stop() error { return n.world.Stop(n.name) }

// Peers implements network.Node: validators, and who has a connection.
func (n *node) Peers() (all []types.Address) {
	if n.process == nil {
		return nil
	}
	for _, peer := range n.process.peers {
		if n.process.canReach(peer) {
			all = append(all, peer.address)
		}
	}
	if c := n.process.connections; c != nil {
		for s := c.first; s != nil; s = s.next {
			if s.up && !s.closing && s.out.cut == nil {
				all = append(all, s.far.address)
			}
		}
	}
	return all
}

// Kill implements network.Node: the roles stop at once, what was not synced is lost, the
// alarms are gone, and so are the frames under way to the process. The connections of a
// runner close with it.
func (n *node) Kill(counts *fault.Counts) error {
	w := n.world
	n.death = counts
	switch {
	case n.process.struck:
		w.trace.traceFault(w.now, "crash "+n.name+" in the middle of a step")
		w.trace.tracePlain(w.now, kindCrash, n)
		n.process.killProcess() // the end of the step clears its roles away
		return nil
	case n.kind == fault.Runners:
		w.trace.traceFault(w.now, "drop "+n.name)
	default:
		w.trace.traceFault(w.now, "crash "+n.name+" between steps")
	}
	n.crashBetweenSteps()
	return nil
}

// crashBetweenSteps ends a process between steps. The connections of a runner close, without a Goodbye.
func (n *node) crashBetweenSteps() {
	w := n.world
	if n.kind == fault.Runners {
		for s := n.process.connections.first; s != nil; s = s.next {
			s.closeBothSides(connection.CodeDone, "")
		}
		n.process.connections.closed = true // who closes says no more
	}
	w.trace.tracePlain(w.now, kindCrash, n)
	n.process.killProcess()
	w.stopDeadRoles()
}

// Moment is a place in the life of a process where CrashAt strikes.
type Moment string

// The moments. A crash after an Append and before the Send that follows is the
// one decision C5 is about.
const (
	BeforeAppend Moment = fault.BeforeAppend
	TornAppend   Moment = fault.TornAppend
	AfterAppend  Moment = fault.AfterAppend
	BeforeSend   Moment = fault.BeforeSend
	AfterSend    Moment = fault.AfterSend
	BeforeCommit Moment = fault.BeforeCommit
	AfterCommit  Moment = fault.AfterCommit
)

// crashPoint is a planned crash.
type crashPoint struct {
	at     Moment
	left   int           // times the moment comes yet
	counts *fault.Counts // of its order; nil of a test's
}

// CrashAt crashes a node at the n-th such moment from now, 1 being the next; the
// process executes no instruction after it. The plan ends with the process.
func (w *World) CrashAt(name string, at Moment, n int) {
	w.trace.traceFault(w.now, fmt.Sprintf("plan: crash %s %s %d", name, at, n))
	machine := w.findNode(name)
	machine.crashes = append(machine.crashes, crashPoint{at: at, left: n})
}

// isCrashDue counts down the crashes planned for a moment, and says whether one is
// due.
func (l *process) isCrashDue(at Moment) bool {
	due := false
	for i := range l.node.crashes {
		if c := &l.node.crashes[i]; c.at == at {
			if c.left--; c.left == 0 {
				due = true
				if c.counts != nil {
					c.counts.Ended.Add(1)
				}
			}
		}
	}
	return due
}

func (l *process) crashIfDue(at Moment) {
	if len(l.node.crashes) > 0 && l.isCrashDue(at) {
		l.endWithinStep()
	}
}

// MaxHeld bounds the frames that a frozen node's machine keeps for it.
const MaxHeld = 4096

// Freeze implements network.Node: frames and alarms wait for the process, while its clock
// runs on.
func (n *node) Freeze(counts *fault.Counts) error {
	w := n.world
	w.trace.traceFault(w.now, "freeze "+n.name)
	n.frozen = counts
	kept := w.runnable[:0]
	for _, r := range w.runnable {
		if r.loop.process == n.process {
			n.runs = append(n.runs, r)
		} else {
			kept = append(kept, r)
		}
	}
	clear(w.runnable[len(kept):])
	w.runnable = kept
	return nil
}

// holdEvent keeps an event for a frozen node.
func (n *node) holdEvent(e event) {
	if isFrame(e.what) && len(n.held) >= MaxHeld {
		n.frozen.Dropped.Add(1)
		return
	}
	n.frozen.Held.Add(1)
	n.held = append(n.held, e)
}

// Thaw implements network.Node: the process first does its own pending work, then takes the events that arrived meanwhile, in order.
func (n *node) Thaw() error {
	w := n.world
	w.trace.traceFault(w.now, "thaw "+n.name)
	n.frozen = nil
	w.runnable = append(w.runnable, n.runs...)
	held := n.held
	n.runs, n.held = nil, nil
	for _, e := range held {
		if a, is := e.what.(*alarm); is {
			a.next = types.Never
			a.ensureEvent()
			continue
		}
		w.enterEvent(event{at: w.now, what: e.what})
	}
	return nil
}

// Wipe implements network.Node.
func (n *node) Wipe(counts *fault.Counts) error {
	n.world.trace.traceFault(n.world.now, "wipe "+n.name)
	counts.Lost.Add(int64(len(n.disk.records)))
	for _, b := range n.disk.buckets {
		counts.Lost.Add(int64(b.tree.Len()))
	}
	n.disk.wipeAll()
	n.reportHarm(fault.Wipe)
	return nil
}

// reportHarm reports to the network the effects of an order on a node that its oracles need.
func (n *node) reportHarm(verb *fault.Verb) {
	if harmed := n.world.hooks.harmed; harmed != nil {
		harmed(n.name, verb)
	}
}

// diskFails notes that a planned failure of a disk begins.
func (w *World) diskFails(n *node) *fault.Counts {
	w.trace.traceFault(w.now, "disk_fail "+n.name)
	return &w.orders.Noted(&fault.Order{Verb: fault.DiskFail, Node: n.name, On: true}).Counts
}

// Do implements network.Node. Faults of the machine are done here, the others by its process.
func (n *node) Do(o *fault.Order, counts *fault.Counts, over func(after time.Duration)) error {
	n.world.trace.traceFault(n.world.now, orderLine(o, n.kind, counts != nil))
	switch o.Verb {
	case fault.DiskFail:
		n.disk.fails, n.disk.failing = 0, counts
	case fault.DiskSlow:
		n.diskSlow, n.disk.slow = counts, o.Delay
	case fault.CPUSlow:
		n.cpuSlow, n.lag = counts, o.Delay
	case fault.SyncLies:
		n.disk.syncWrites()
		if n.disk.lying = counts; counts != nil {
			n.reportHarm(o.Verb)
		}
	case fault.CrashAmid:
		n.crashes = append(n.crashes, crashPoint{Moment(o.Instant), o.Times, counts})
	case fault.ClockSkew:
		n.skewBy(o.Skew, counts)
	case fault.HostFail:
		if n.programs == nil {
			return fmt.Errorf("%s has no host of programs", n.name)
		}
		return (&byzantine.ValidatorProcess{Programs: n.programs}).Do(o, counts, over)
	default:
		if o.Verb == fault.Misbehave && counts != nil && n.kind == fault.Validators {
			n.reportHarm(o.Verb)
		}
		return n.process.does.Do(o, counts, over)
	}
	return nil
}

// orderLine is the line of the trace of an order that begins or ends something.
func orderLine(o *fault.Order, kind fault.Whose, begins bool) string {
	switch {
	case begins:
		return o.String()
	case o.Verb == fault.DiskFail:
		return "disk works " + o.Node
	case o.Verb == fault.SyncLies:
		return "disk syncs " + o.Node
	case o.Verb == fault.DiskSlow, o.Verb == fault.CPUSlow:
		return o.Verb.Name + " ends " + o.Node
	case o.Verb == fault.HostFail:
		return "host " + o.Detail()
	case o.Verb == fault.Misbehave && kind == fault.Validators:
		return "honest " + o.Node
	}
	return o.String() + " ends"
}

// skewBy sets the clock ahead of the world's by a duration, which may be negative.
func (n *node) skewBy(d time.Duration, counts *fault.Counts) {
	if n.skew != d {
		counts.Moved.Add(1)
	}
	n.skew = d
	if n.process != nil {
		for _, a := range n.process.alarms {
			a.ensureEvent()
		}
	}
}

// backend is a world as its orders of faults find it.
type backend struct{ *World }

// hooks are what a network adds to its world; each may be nil.
type hooks struct {
	height func() types.Height
	can    network.Capability
	harmed func(name string, verb *fault.Verb)
}

var _ network.Backend = backend{}

// Capabilities implements network.Backend.
func (b backend) Capabilities() network.Capabilities { return network.Capabilities{Can: b.hooks.can} }

// Unknown implements network.Backend.
func (backend) Unknown(name string) error { return fmt.Errorf("no node is called %q", name) }

// Node implements network.Backend.
func (b backend) Node(name string) network.Node {
	if n := b.byName[name]; n != nil {
		return n
	}
	return nil
}

// Nodes implements network.Backend.
func (b backend) Nodes() []network.Node {
	all := make([]network.Node, len(b.nodes))
	for i, n := range b.nodes {
		all[i] = n
	}
	return all
}

// Height implements network.Backend.
func (b backend) Height() types.Height { return b.hooks.height() }

// SetLinks implements network.Backend.
func (b backend) SetLinks(rules *network.LinkRules) { b.applyRules(rules) }

// Count implements network.Backend: effects are counted where they happen.
func (backend) Count() {}

// Do implements fault.World.
func (w *World) Do(o fault.Order) (fault.Effect, error) { return w.orders.Do(o) }

// Cheated lists a cheat among the faults, and notes it in the trace.
func (w *World) Cheated(e fault.Effect) {
	w.trace.traceFault(w.now, e.Verb+" "+e.Detail)
	w.orders.Cheated(e)
}

// Faults implements fault.World.
func (w *World) Faults() []fault.Effect { return w.orders.Faults() }
