package sim

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/worlds/network"
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
	Trace io.Writer    // nil: none; otherwise one JSON object per line for each step
	// Stepped is called after each step of a role, before anything else happens; an error ends the
	// present run of the world, which may go on later. It may run the world itself. It may be nil.
	Stepped func() error
	// Record keeps what it takes to make the run again with single things undone; nil: nothing is kept.
	Record *Record
	// Trial is such a run; nil: the run of the seed.
	Trial *Trial
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

// World is a simulated network, composed of its parts.
type World struct {
	loop
	machines
	links
	orders *network.Orders
	hooks  hooks

	log      *slog.Logger
	offset   time.Duration // how far time travel has moved all clocks
	disk     Disk
	work     Work
	worked   time.Duration // the time that all roles worked
	rewrites int           // how often a log was rewritten
	tables   sharedTrees
	grouped  grouping
	records  sharedRecords
	hashed   hasher
	parcels  parcels
	answers  *Answers // of runners, as a test gives them, or nil
}

// New makes a world without nodes.
func New(c Config) *World {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	schedule, chance := rand.NewPCG(c.Seed, 1), rand.NewPCG(c.Seed, 2)
	w := &World{log: log, disk: c.Disk, work: c.Work,
		loop: loop{seed: c.Seed, now: firstInstant, stepped: c.Stepped, runtime: roles.New(log), schedule: rand.New(schedule),
			positions: newPositions(&c, chance, schedule),
			trace:     newTrace(c.Seed, c.Trace)},
		machines: machines{byName: make(map[string]*node), byAddress: make(map[types.Address]*node)}}
	w.links = links{loop: &w.loop, machines: &w.machines, rand: rand.New(chance), rules: &network.LinkRules{}, usual: c.Link}
	w.hooks.height, w.hooks.can = func() types.Height { return 0 }, network.Simulated
	w.trace.traceFault(w.now, "network the links as configured")
	w.orders = network.NewOrders(backend{w}, network.NewTurn(&w.loop), fault.Simulated)
	if err := w.orders.SetUsualLink(c.Link); err != nil {
		panic("sim: the link as configured: " + err.Error())
	}
	if w.loop.positions != nil {
		w.loop.positions.by = w.orders.OrderOf
	}
	w.runtime.Later = w.delayMessages
	w.runtime.OnPanic = func(role string, value any, stack []byte) {
		if w.bug == nil {
			w.bug = &Bug{w.seed, role, w.now, value, stack}
		}
	}
	return w
}

// Runtime is the actor system in which the nodes' roles are spawned.
func (w *World) Runtime() *roles.Runtime { return w.runtime }

// MoveClocks puts the clocks of all nodes, those to come included, forward by d,
// which is not negative. The world's own time does not change.
func (w *World) MoveClocks(d time.Duration) {
	w.offset += d
	for _, n := range w.nodes {
		if n.process == nil {
			continue
		}
		for _, a := range n.process.alarms {
			a.ensureEvent()
		}
	}
}

// Seed is the seed the world was made from.
func (w *World) Seed() uint64 { return w.seed }

// Digest is the hash of all that happened so far.
func (w *World) Digest() types.Hash { return w.trace.chainDigest() }

// Shape returns the hash of the steps by time and node, whatever their content:
// worlds that differ only in their signatures have one shape.
func (w *World) Shape() uint64 {
	shape := w.trace.extendedShape()
	return shape.Sum64()
}

// Note adds to the trace a node's result from its inputs, such as a finalized
// block, so that runs which differ only in it have different digests.
func (w *World) Note(name, what string, content []byte) {
	w.trace.traceNote(w.now, w.findNode(name), what, content)
}

// Rand returns a separate generator for each stream, so that a test with random
// faults stays a function of the seed.
func (w *World) Rand(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, 1<<32+stream))
}

// Close stops all roles. The world cannot be used afterwards.
func (w *World) Close() error {
	w.tasks.endAll()
	for _, n := range w.nodes {
		if n.process != nil {
			n.process.endProcess()
		}
	}
	w.runtime.Close()
	return w.trace.flushBuffer()
}
