package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Effect says what a fault did so far. It is read between runs.
type Effect struct {
	Verb       string
	Detail     string
	From       types.Time
	Until      types.Time    // types.Never while it lasts
	Cut        int           // connections cut
	Ended      int           // processes ended
	Dropped    int           // frames
	Held       int           // frames and alarms kept back while frozen
	Delayed    int           // frames
	Duplicated int           // frames
	Reordered  int           // frames
	Lost       int           // records that were not synced
	Refused    int           // uses of a failing disk
	Flipped    int           // bits of a disk
	Moved      int           // clocks
	Slowed     int           // steps, or writes, that took longer
	counts     *fault.Counts // of a validator that misbehaves, or nil
	order      *fault.Order  // that made it; nil where none did
	told       string        // what a cheat did; "" of a fault
}

// Idle says that a fault had no effect.
func (r *Effect) Idle() bool {
	return r.did() == ""
}

// String lists what the fault did, for people.
func (r *Effect) String() string {
	did := r.did()
	if did == "" {
		did = "no effect"
	}
	return fmt.Sprintf("%s %s: %s", r.Verb, r.Detail, did)
}

// did lists the effects, "" where there were none.
func (r *Effect) did() string {
	if r.told != "" {
		return r.told
	}
	var parts []string
	for _, c := range []struct {
		n          int
		what, done string
	}{
		{r.Cut, "connection", "cut"}, {r.Ended, "process", "ended"}, {r.Dropped, "frame", "dropped"},
		{r.Held, "event", "held"}, {r.Delayed, "frame", "delayed"}, {r.Duplicated, "frame", "duplicated"},
		{r.Reordered, "frame", "reordered"}, {r.Lost, "record", "lost"}, {r.Refused, "disk use", "refused"}, {r.Flipped, "bit", "flipped"},
		{r.Moved, "clock", "moved"}, {r.Slowed, "step", "slowed"},
	} {
		if c.n > 0 {
			parts = append(parts, plural.Of(c.n, c.what)+" "+c.done)
		}
	}
	if r.counts != nil {
		if did := r.counts.String(fault.Passing(r.Verb, "frame")); did != "" {
			parts = append(parts, did)
		}
	}
	return strings.Join(parts, ", ")
}

// effects are what faults did, in the order in which they were done.
type effects struct {
	loop     *loop
	receipts []*Effect
}

// Receipts lists the faults so far, the configured links' first.
func (e *effects) Receipts() []*Effect { return slices.Clone(e.receipts) }

func (e *effects) receipt(verb, detail string) *Effect {
	r := &Effect{Verb: verb, Detail: detail, From: e.loop.now, Until: types.Never}
	e.receipts = append(e.receipts, r)
	e.loop.trace.fault(e.loop.now, verb+" "+detail)
	return r
}

// Cheated lists a cheat among the faults; it is over.
func (w *World) Cheated(e fault.Effect) {
	r := w.receipt(e.Verb, e.Detail)
	r.told, r.Until = e.Did, w.now
}

// Crash ends a node's process as kill -9 and a power cut do: its roles stop at
// once, what was not synced is lost, its alarms are gone, and so are the frames
// under way to it. It returns nil where none runs.
func (w *World) Crash(name string) *Effect {
	n := w.find(name)
	if n.process == nil {
		return nil
	}
	r := n.process.crash("between steps")
	w.reap()
	return r
}

func (l *process) crash(when string) *Effect {
	n, w := l.node, l.node.world
	r := w.receipt("crash", n.name+" "+when)
	for _, peer := range l.peers {
		if l.connected(peer) {
			r.Cut++
		}
	}
	r.Cut += l.live()
	r.Ended = 1
	n.death = r
	w.trace.plain(w.now, kindCrash, n)
	l.kill()
	return r
}

// Moment is a place in the life of a process where CrashAt strikes.
type Moment string

// The moments. A crash after an Append and before the Send that follows is the
// one decision C5 is about.
const (
	BeforeAppend Moment = "before append" // and Rewrite
	TornAppend   Moment = "torn append"   // some of its records survive, the last never does
	AfterAppend  Moment = "after append"  // synced, and nothing more
	BeforeSend   Moment = "before send"
	AfterSend    Moment = "after send"
	BeforeCommit Moment = "before commit"
	AfterCommit  Moment = "after commit"
)

// crashPoint is a planned crash.
type crashPoint struct {
	at   Moment
	left int // times the moment comes yet
}

// CrashAt crashes a node at the n-th such moment from now, 1 being the next; the
// process executes no instruction after it. The plan ends with the process.
func (w *World) CrashAt(name string, at Moment, n int) {
	w.trace.fault(w.now, fmt.Sprintf("plan: crash %s %s %d", name, at, n))
	machine := w.find(name)
	machine.crashes = append(machine.crashes, crashPoint{at, n})
}

// planned counts down the crashes planned for a moment, and says whether one is
// due.
func (l *process) planned(at Moment) bool {
	due := false
	for i := range l.node.crashes {
		if c := &l.node.crashes[i]; c.at == at {
			c.left--
			due = due || c.left == 0
		}
	}
	return due
}

func (l *process) strike(at Moment) {
	if len(l.node.crashes) > 0 && l.planned(at) {
		l.die()
	}
}

// MaxHeld bounds the frames that a frozen node's machine keeps for it.
const MaxHeld = 4096

// Freeze stops a node's process from running, as SIGSTOP does; frames and
// alarms wait for it, while its clock runs on.
func (w *World) Freeze(name string) (*Effect, error) {
	n := w.find(name)
	switch {
	case n.process == nil:
		return nil, fmt.Errorf("%s does not run", name)
	case n.frozen != nil:
		return nil, fmt.Errorf("%s is frozen already", name)
	}
	n.frozen = w.receipt("freeze", name)
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
	return n.frozen, nil
}

// hold keeps an event for a frozen node.
func (n *node) hold(e event) {
	if _, frame := e.what.(*flight); frame && len(n.held) >= MaxHeld {
		n.frozen.Dropped++
		return
	}
	n.frozen.Held++
	n.held = append(n.held, e)
}

// Thaw lets a frozen node run on: first with what it was about to do, then with
// what came meanwhile, in order.
func (w *World) Thaw(name string) error {
	n := w.find(name)
	if n.frozen == nil {
		return fmt.Errorf("%s is not frozen", name)
	}
	w.trace.fault(w.now, "thaw "+name)
	n.frozen.Until, n.frozen = w.now, nil
	w.runnable = append(w.runnable, n.runs...)
	held := n.held
	n.runs, n.held = nil, nil
	for _, e := range held {
		if a, is := e.what.(*alarm); is {
			a.next = types.Never
			a.arm()
			continue
		}
		w.push(event{at: w.now, what: e.what})
	}
	return nil
}

// Wipe empties the disk of a node that does not run.
func (w *World) Wipe(name string) (*Effect, error) {
	n := w.find(name)
	if n.process != nil {
		return nil, fmt.Errorf("%s runs: crash it first", name)
	}
	r := w.receipt("wipe", name)
	r.Lost = len(n.disk.records)
	for _, b := range n.disk.buckets {
		r.Lost += b.tree.Len()
	}
	r.Until = w.now
	n.disk.wipe()
	return r, nil
}

// Flip flips a bit on the disk of a node that does not run: in a record of the
// log, or in a value of the store.
func (w *World) Flip(name string) (*Effect, error) {
	n := w.find(name)
	if n.process != nil {
		return nil, fmt.Errorf("%s runs: crash it first", name)
	}
	r := w.receipt("disk_flip", name)
	r.Until = w.now
	n.disk.flip(r)
	return r, nil
}

// DiskFailAt makes the uses-th use of a node's disk from now on fail, 1 being the
// next, and all after it, until DiskFail is called with false: in the midst of a
// boot, say.
func (w *World) DiskFailAt(name string, uses int) { w.find(name).disk.fails = uses }

// DiskFail makes every use of a node's disk fail, until it is called with false.
func (w *World) DiskFail(name string, on bool) *Effect {
	n := w.find(name)
	n.disk.fails = 0
	if n.disk.failing != nil {
		n.disk.failing.Until = w.now
		n.disk.failing = nil
	}
	if !on {
		w.trace.fault(w.now, "disk works "+name)
		return nil
	}
	n.disk.failing = w.receipt("disk_fail", name)
	return n.disk.failing
}

// DiskLatency sets how long a node's disk takes to sync a write.
func (w *World) DiskLatency(name string, d time.Duration) {
	w.trace.fault(w.now, fmt.Sprint("disk latency ", name, " ", d))
	w.find(name).disk.Latency = d
}

// SyncLies makes a node's disk report writes as synced without syncing them: a crash loses
// all of them. With false the disk syncs what it holds, and tells the truth.
func (w *World) SyncLies(name string, on bool) *Effect {
	n := w.find(name)
	n.disk.flush()
	if !on {
		w.trace.fault(w.now, "disk syncs "+name)
		return nil
	}
	n.disk.lying = w.receipt("sync_lies", name)
	return n.disk.lying
}

// CutLog takes the youngest records from the log of a node that does not run: n, or all
// if it has fewer.
func (w *World) CutLog(name string, n int) (*Effect, error) {
	one := w.find(name)
	if one.process != nil {
		return nil, fmt.Errorf("%s runs: crash it first", name)
	}
	r := w.receipt("cut_log", name)
	r.Lost, r.Until = min(n, len(one.disk.records)), w.now
	one.disk.cutLog(r.Lost)
	return r, nil
}

// DiskSlow has each write to a node's disk take d longer to be synced; 0 ends it.
func (w *World) DiskSlow(name string, d time.Duration) *Effect {
	n := w.find(name)
	return w.slow("disk_slow", n, d, &n.diskSlow, &n.disk.slow)
}

// CPUSlow has each step of a node's roles take d longer; 0 ends it.
func (w *World) CPUSlow(name string, d time.Duration) *Effect {
	n := w.find(name)
	return w.slow("cpu_slow", n, d, &n.cpuSlow, &n.lag)
}

// slow sets how much longer a part of a node takes, and replaces the former setting.
func (w *World) slow(verb string, n *node, d time.Duration, effect **Effect, what *time.Duration) *Effect {
	if *effect != nil {
		(*effect).Until, *effect = w.now, nil
	}
	if *what = d; d <= 0 {
		w.trace.fault(w.now, verb+" ends "+n.name)
		return nil
	}
	*effect = w.receipt(verb, fmt.Sprint(n.name, " ", d))
	return *effect
}

// HostFail has a node's host of programs fail over an actor, by "crash" or "hang",
// until it is told that it "works"; a restart does not mend it.
func (w *World) HostFail(name string, actor types.Address, how string) (*Effect, error) {
	if err := fault.CheckHost(how); err != nil {
		return nil, err
	}
	n := w.find(name)
	if n.programs == nil {
		return nil, fmt.Errorf("%s has no host of programs", name)
	}
	if before := n.broken[actor]; before != nil {
		before.Until = w.now
		delete(n.broken, actor)
	}
	what := fmt.Sprint(name, " ", how, " over ", actor)
	if how == fault.HostWorks {
		w.trace.fault(w.now, "host "+what)
		n.programs.Fail(actor, how, nil)
		return nil, nil
	}
	r := w.receipt("host_fail", what)
	r.counts = new(fault.Counts)
	n.broken[actor] = r
	n.programs.Fail(actor, how, r.counts)
	return r, nil
}

// MendHost has a node's host of programs work again.
func (w *World) MendHost(name string) {
	n := w.find(name)
	for _, r := range n.broken { // order: each is ended alike
		r.Until = w.now
	}
	clear(n.broken)
	if n.programs != nil {
		n.programs.Mend()
	}
}

// ClockSkew sets a node's clock so much ahead of the world's, or behind it.
func (w *World) ClockSkew(name string, d time.Duration) *Effect {
	n := w.find(name)
	r := w.receipt("clock_skew", fmt.Sprint(name, " ", d))
	if n.skew != d {
		r.Moved = 1
	}
	n.skew = d
	if n.process != nil {
		for _, a := range n.process.alarms {
			a.arm()
		}
	}
	return r
}
