package sim

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// Limits of a world.
const (
	// MaxNodes bounds the nodes of a world: ten thousand runners and their validators.
	MaxNodes = 16_384
	// MaxInstantSteps bounds the steps within one virtual instant: roles that
	// feed one another without end are a bug, and not a test that hangs.
	MaxInstantSteps = 5_000_000
)

// firstInstant is what clocks show when a world begins: late enough that a
// genesis stamped a few blocks earlier has a positive time.
const firstInstant = types.Time(time.Hour)

// Config says what world to make.
type Config struct {
	Seed  uint64
	Link  Link         // of every pair of nodes, until told otherwise
	Disk  Disk         // of every node, until told otherwise
	Work  Work         // of every role
	Log   *slog.Logger // nil: nothing is logged
	Trace io.Writer    // nil: none; else one JSON object a line for each step
}

// Parts are what a node is given from outside the world.
type Parts struct {
	Signer   env.Signer
	Verifier env.Verifier
	Programs program.Host // of a validator
	MaxJobs  int          // of a runner, at once
}

// Boot starts what runs in a node that is given E, and returns what stops it in
// good order. It is called at each start; a crash calls no stop.
type Boot[E any] func(E) (stop func(), err error)

// World is a simulated network.
type World struct {
	seed     uint64
	log      *slog.Logger
	runtime  *roles.Runtime
	schedule *rand.Rand // which role steps next
	linkRand *rand.Rand // what links and crashing disks do

	now      types.Time
	offset   time.Duration // how far time travel has moved all clocks
	sequence uint64
	events   eventHeap
	runnable []run
	current  *roleLoop // whose step it is, or nil
	steps    uint64
	instant  int // steps since the clock moved last

	nodes     []*node
	hosts     []*node                 // that runners' views may ask
	byName    map[string]*node        // looked up only
	byAddress map[types.Address]*node // looked up only
	defaults  linkState
	disk      Disk
	work      Work
	worked    time.Duration // the time that all roles worked
	rewrites  int           // how often a log was rewritten
	fresh     linkState     // what a link is when it is made
	made      []*linkState  // all links that were used
	divided   divided
	receipts  []*Effect
	trace     trace
	crashed   []*process // died within the present step
	bug       *Bug
	tables    shared
	hashed    []byte // what was hashed last, in memory that is used again
	copy      []byte // of the frame sent last
	copyHash  uint64
	tap       func(from types.Address, frame []byte)
	answers   *Answers // of runners, as a test gives them, or nil
}

// Bug is a panic in a role: our own mistake, found by a seed.
type Bug struct {
	Seed  uint64
	Role  string
	At    types.Time
	Value any
	Stack []byte
}

func (b *Bug) Error() string {
	return fmt.Sprintf("sim: seed %d: %s panicked %v after the start: %v\n%s", b.Seed, b.Role, b.At.Sub(firstInstant), b.Value, b.Stack)
}

// ErrDeadline is that a condition of RunUntil did not come true in time.
var ErrDeadline = errors.New("the deadline passed")

// ErrAsleep is that nothing will ever happen any more.
var ErrAsleep = errors.New("no role can step, no alarm is set and no frame is under way")

// New makes a world without nodes.
func New(c Config) *World {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	w := &World{
		seed: c.Seed, log: log, now: firstInstant,
		runtime:   roles.New(log),
		schedule:  rand.New(rand.NewPCG(c.Seed, 1)),
		linkRand:  rand.New(rand.NewPCG(c.Seed, 2)),
		byName:    make(map[string]*node),
		byAddress: make(map[types.Address]*node),
		disk:      c.Disk,
		work:      c.Work,
		trace:     newTrace(c.Seed, c.Trace),
	}
	w.defaults = linkState{Link: c.Link, receipt: w.receipt("network", "the links as configured")}
	w.fresh = w.defaults
	w.runtime.Later = w.later
	w.runtime.OnPanic = func(role string, value any, stack []byte) {
		if w.bug == nil {
			w.bug = &Bug{w.seed, role, w.now, value, stack}
		}
	}
	return w
}

// Runtime is the actor system in which the nodes' roles are spawned.
func (w *World) Runtime() *roles.Runtime { return w.runtime }

// Now is the world's time, which clocks without skew show until MoveClocks.
func (w *World) Now() types.Time { return w.now }

// MoveClocks puts the clocks of all nodes, those to come included, forward by d,
// which is not negative. The world's own time does not change.
func (w *World) MoveClocks(d time.Duration) {
	w.offset += d
	for _, n := range w.nodes {
		if n.process == nil {
			continue
		}
		for _, a := range n.process.alarms {
			a.arm()
		}
	}
}

// Seed is the seed the world was made from.
func (w *World) Seed() uint64 { return w.seed }

// Steps is the number of steps taken by roles.
func (w *World) Steps() uint64 { return w.steps }

// Digest is the hash of all that happened so far.
func (w *World) Digest() types.Hash { return w.trace.digest() }

// Shape is the hash of which steps were taken when, by whom, whatever was in
// them: worlds that differ in their signatures alone have one shape.
func (w *World) Shape() uint64 { return w.trace.shape.Sum64() }

// Note adds to the trace what a node made of its inputs, a finalized block say,
// so that runs which differ in it alone have different digests.
func (w *World) Note(name, what string, content []byte) {
	w.trace.note(w.now, w.find(name), what, content)
}

// Tap shows see every frame as it leaves its node, before the links have their
// way.
func (w *World) Tap(see func(from types.Address, frame []byte)) { w.tap = see }

// Rand returns a generator of its own for each stream, by which a test that
// wants random faults stays a function of the seed.
func (w *World) Rand(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, 1<<32+stream))
}

// Close stops all roles. The world cannot be used afterwards.
func (w *World) Close() error {
	for _, n := range w.nodes {
		if n.process != nil {
			w.end(n.process)
		}
	}
	w.runtime.Close()
	return w.trace.flush()
}

// At calls fn at a virtual time, between steps: transactions, faults and
// readings of a test.
func (w *World) At(t types.Time, fn func()) {
	w.push(event{at: max(t, w.now), what: call(fn)})
}

// After calls fn when d has passed.
func (w *World) After(d time.Duration, fn func()) { w.At(w.now.Add(d), fn) }

// RunFor lets d pass.
func (w *World) RunFor(d time.Duration) error {
	until := w.now.Add(d)
	err := w.RunUntil(func() bool { return false }, until)
	if errors.Is(err, ErrDeadline) || errors.Is(err, ErrAsleep) {
		w.now = until
		return nil
	}
	return err
}

// RunUntil runs until cond holds, and asks it whenever no role can step at the
// present instant. It fails with ErrDeadline when what happens next lies behind
// the deadline, with ErrAsleep when nothing does, and with a *Bug.
func (w *World) RunUntil(cond func() bool, deadline types.Time) error {
	for {
		if err := w.runToFixpoint(); err != nil {
			return err
		}
		if cond() {
			return nil
		}
		if len(w.runnable) > 0 {
			continue // cond made a role runnable
		}
		if len(w.events) == 0 {
			return fmt.Errorf("sim: seed %d: %w", w.seed, ErrAsleep)
		}
		next := w.events[0].at
		if next > deadline {
			return fmt.Errorf("sim: seed %d: %w: %v after the start", w.seed, ErrDeadline, deadline.Sub(firstInstant))
		}
		w.now, w.instant = max(w.now, next), 0
		for len(w.events) > 0 && w.events[0].at <= w.now {
			w.occur()
		}
	}
}

// runToFixpoint steps roles until none can step at this instant.
func (w *World) runToFixpoint() error {
	for len(w.runnable) > 0 && w.bug == nil {
		if w.instant++; w.instant > MaxInstantSteps {
			return fmt.Errorf("sim: seed %d: more than %d steps within one instant, the last by %s", w.seed, MaxInstantSteps,
				w.runnable[0].loop.label())
		}
		w.step()
	}
	if w.bug != nil {
		return w.bug
	}
	return nil
}

// step lets the role step that the seed picks.
func (w *World) step() {
	i := 0
	if n := len(w.runnable); n > 1 {
		i = int(w.schedule.Uint64N(uint64(n)))
	}
	next := w.runnable[i]
	last := len(w.runnable) - 1
	w.runnable[i] = w.runnable[last]
	w.runnable[last] = run{}
	w.runnable = w.runnable[:last]
	w.take(next)
}

func (w *World) take(next run) {
	loop := next.loop
	w.trace.run(w.now, loop)
	w.steps++
	w.current = loop
	next.fn() // a mailbox: it recovers from what its role does
	w.current = nil
	if len(w.crashed) > 0 {
		w.reap()
	}
}

// occur lets the next event happen.
func (w *World) occur() {
	defer w.recovered()
	e := w.events.pop()
	e.what.happen(w, e)
}

// guard runs what happens outside a role's step, and turns a crash within it
// into one, and a panic into a bug.
func (w *World) guard(fn func()) {
	defer w.recovered()
	fn()
}

func (w *World) recovered() {
	if value := recover(); value != nil {
		if _, ok := value.(roles.Killed); !ok && w.bug == nil {
			w.bug = &Bug{w.seed, "the world", w.now, value, stack()}
		}
	}
	if len(w.crashed) > 0 {
		w.reap()
	}
}
