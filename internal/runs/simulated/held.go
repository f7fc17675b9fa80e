package simulated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Limits of a held run.
const (
	// heldPatience is for how long, in virtual time, a network whose script has ended is run for
	// what it is to come to: some ten of the longest views.
	heldPatience = 10 * time.Minute
	// pointEvery is the steps between two digests that a run is compared by when it is played again.
	pointEvery = 1024
	// maxPoints bounds those digests: a billion steps.
	maxPoints = 1 << 20
	// maxMarks bounds the blocks that a run can go back to one by one.
	maxMarks = 1 << 20
)

// Errors by which a network's run stops at a step.
var (
	errReached = errors.New("the moment is reached")
	errLeft    = errors.New("the run is left")
)

// Script names a script, and plays it on networks of open. It returns what it failed with, "" where it
// passed. Its context ends it early.
type Script struct {
	Name string // as the person gave it
	Play func(ctx context.Context, open scenario.Open, out io.Writer) (failure string)
	At   func() string // where the script is, as FILE:LINE:COLUMN
	Out  io.Writer     // what the script prints, once
}

// Held is a run of a script that stops at a moment, shows its network there, and goes on from there:
// the script is a coroutine, which rests between two steps of the network. It goes back by playing
// the script again, from its seed. After the script's end the network goes on without it. One goroutine
// at a time uses it.
type Held struct {
	*Bench // of the present network; nil before the first
	script Script
	ctx    context.Context // of all
	seed   uint64          // of the first network

	// The present playing of the script.
	resume func() (struct{}, bool)
	stop   func()
	leave  context.CancelFunc
	yield  func(struct{}) bool
	play   progress

	points   []types.Hash // digests after each pointEvery steps, of all playings
	furthest uint64       // the step that any playing reached by itself
	differs  string       // why the present playing is not the one before; "": it is
	networks uint64       // how many there were
	frames   *sim.Record  // of the present network
	moved    look         // of the network after the last move
}

// progress is how far a playing has come.
type progress struct {
	steps   uint64
	height  types.Height // the highest that the present network has shown
	peak    types.Height // the highest that any network of the playing has
	blocks  uint64       // of all networks of the playing
	fires   uint64
	marks   []mark
	goal    *goal // of the present move; nil: none
	world   *sim.Network
	told    types.Height // whose block was counted last, in world
	fresh   bool         // a block may be new
	ended   bool
	ends    uint64 // the steps at the script's end
	left    bool
	failure string
	changed string // the moment after which it was changed by hand; "": it was not
	happens happenings
}

// mark is where a run got a block.
type mark struct{ step, fires uint64 }

// look tells a network that was touched.
type look struct {
	digest types.Hash
	stirs  uint64
}

// goal is what a move goes to; its zero is the end of the script.
type goal struct {
	step   uint64
	peak   types.Height // of the first network that comes to it
	blocks uint64
	fires  uint64
	names  bool // each step is told by its name
}

// happenings are what happened in a move, in words.
type happenings struct {
	lines   []string
	omitted int
}

// maxHappenings bounds them.
const maxHappenings = 24

func (h *happenings) addLine(format string, args ...any) {
	if len(h.lines) == maxHappenings {
		h.omitted++
		return
	}
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

// NewHeld returns a run that has not begun.
func NewHeld(ctx context.Context, version string, s Script) *Held {
	return &Held{Bench: &Bench{version: version, awaits: true, waiting: map[types.Hash][]byte{}}, script: s, ctx: ctx}
}

// beginScript begins to play the script, and stops before its first line.
func (h *Held) beginScript() {
	ctx, leave := context.WithCancel(h.ctx)
	h.leave, h.play, h.differs = leave, progress{}, ""
	h.resume, h.stop = iter.Pull(func(yield func(struct{}) bool) {
		h.yield = yield
		failure := h.script.Play(ctx, h.openNetwork, scriptOutput{h})
		if h.play.left {
			return
		}
		h.play.ended, h.play.ends, h.play.failure = true, h.play.steps, failure
		if failure == "" {
			h.play.happens.addLine("the script passed")
		} else {
			first, _, _ := strings.Cut(failure, "\n")
			h.play.happens.addLine("the script failed: %s", first)
		}
	})
}

// openNetwork makes the network of a script, and of this run. The one before has ended.
func (h *Held) openNetwork(c scenario.Config) (scenario.Backend, error) {
	h.closePresent()
	settled := ofScript(c)
	settled.World.Stepped, settled.Final = h.afterStep, h.noteFinal
	h.frames = sim.NewFrameRecord()
	settled.World.Record = h.frames
	s, err := openStage(c, settled, newHosts(nil))
	if err != nil {
		return nil, err
	}
	if h.networks++; h.play.steps == 0 {
		h.seed = c.Seed
	}
	clear(h.waiting)
	h.Stage, h.told = s, c.Timeline
	h.play.world, h.play.told, h.play.height = s.Network, 0, 0
	return &heldStage{s}, nil
}

// heldStage stays open at the end of its script.
type heldStage struct{ *Stage }

// Close implements scenario.Backend.
func (*heldStage) Close() error { return nil }

// scriptOutput is what the script prints. What was printed by an earlier playing is not printed again.
type scriptOutput struct{ h *Held }

// Write implements io.Writer.
func (p scriptOutput) Write(text []byte) (int, error) {
	if p.h.play.left || p.h.play.steps < p.h.furthest {
		return len(text), nil
	}
	return p.h.script.Out.Write(text)
}

// closePresent closes the present network, if there is one.
func (h *Held) closePresent() {
	if h.Stage != nil {
		_ = h.Stage.Close() // of a simulated network: the trace's file, of which the run's end tells
		h.Stage = nil
	}
}

// Close ends the run.
func (h *Held) Close() {
	if h.stop != nil {
		h.play.left = true
		h.leave()
		h.stop()
	}
	h.closePresent()
}

// noteFinal notes a block that a validator made final, within a step.
func (h *Held) noteFinal(_ types.Time, r *ledger.Result) {
	p := &h.play
	if h.Stage != nil && p.world != h.Network { // it went back to a snapshot
		p.world, p.told = h.Network, r.Block.Header.Height-1
		p.height = p.told
		h.networks++
	}
	height := r.Block.Header.Height
	if height <= p.told {
		return
	}
	p.told, p.fresh = height, true
	counts := map[types.Origin]int{}
	for i := range r.Receipts {
		counts[r.Receipts[i].Origin]++
	}
	p.fires += uint64(counts[types.OriginTimer])
	if p.goal == nil {
		return
	}
	p.happens.addLine("block %d: %s, %s, %s", height, plural.Of(counts[types.OriginTransaction], "transaction"),
		plural.Of(counts[types.OriginMessage], "message"), plural.Of(counts[types.OriginTimer], "fire"))
	for i := range r.Receipts {
		if one := &r.Receipts[i]; one.Origin == types.OriginTimer || one.Status != types.StatusOK {
			p.happens.addLine("  %s %s, %s of %s: %s", one.Origin, one.Hash, one.Handler, one.To, one.Status)
		}
	}
}

// afterStep is called after each step of the network's. At the goal of the present move it lets the mover go on: the
// script rests within this call.
func (h *Held) afterStep() error {
	p := &h.play
	if p.left {
		return errLeft
	}
	if p.goal == nil { // who looks at the network runs it
		h.noteChange()
	}
	p.steps++
	if p.changed == "" {
		h.compareRuns()
	}
	if p.fresh {
		p.fresh = false
		if height := h.finalHeight(); height > p.height {
			p.blocks += uint64(height - p.height)
			p.height, p.peak = height, max(p.peak, height)
			if p.changed == "" && len(p.marks) < maxMarks {
				p.marks = append(p.marks, mark{step: p.steps, fires: p.fires})
			}
		}
	}
	if p.goal == nil {
		return nil
	}
	if p.goal.names {
		p.happens.addLine("%s stepped", h.LatestStep())
	}
	if !p.isReached() {
		return nil
	}
	p.goal = nil
	if p.ended {
		return errReached
	}
	if !h.yield(struct{}{}) {
		return errLeft
	}
	return nil
}

// isReached says whether the goal is.
func (p *progress) isReached() bool {
	g := p.goal
	return g.step > 0 && p.steps >= g.step || g.blocks > 0 && p.blocks >= g.blocks || g.peak > 0 && p.peak >= g.peak ||
		g.fires > 0 && p.fires >= g.fires
}

// compareRuns compares the run, at some steps, with those of the same seed before it.
func (h *Held) compareRuns() {
	p := &h.play
	if p.steps%pointEvery == 0 {
		digest, _ := h.Digest() // of a simulated network: there is no error
		at := int(p.steps/pointEvery) - 1
		switch {
		case at < len(h.points) && h.points[at] != digest:
			h.noteDifference(p.steps)
		case at == len(h.points) && at < maxPoints:
			h.points = append(h.points, digest)
		}
	}
	h.furthest = max(h.furthest, p.steps)
}

func (h *Held) noteDifference(step uint64) {
	if h.differs == "" {
		h.differs = fmt.Sprintf("up to step %d the run is another than before: its digest differs", step)
	}
}

// moveTo moves the present playing to a goal, at most to the script's end; beyond says that the network then goes
// on without it.
func (h *Held) moveTo(to goal, beyond bool) error {
	p := &h.play
	p.goal = &to
	defer func() { p.goal = nil }()
	if !p.ended {
		if _, rests := h.resume(); rests {
			return nil
		}
		if err := h.ctx.Err(); err != nil {
			return err
		}
		if !beyond || to == (goal{}) || h.Stage == nil {
			return nil
		}
	}
	err := h.RunUntil(func() bool { return false }, h.Now().Add(heldPatience))
	switch {
	case errors.Is(err, errReached):
		return nil
	case errors.Is(err, sim.ErrDeadline), errors.Is(err, sim.ErrAsleep):
		return refusal.New("not_reached", "the network did not come to it in %v of its time; its script has ended", heldPatience).
			Hint("devnet status shows what keeps it; devnet step --back goes back.")
	}
	return err
}

// replayTo plays the script again from its seed, to a goal.
func (h *Held) replayTo(to goal) error {
	h.Close()
	h.beginScript()
	if err := h.moveTo(to, true); err != nil {
		return err
	}
	if h.differs != "" {
		return refusal.New("not_reproducible", "%s", h.differs).
			Hint("The script or its files have changed since, or one seed is not one run: devnet run %s tells.", h.script.Name)
	}
	return nil
}
