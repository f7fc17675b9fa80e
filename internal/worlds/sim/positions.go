package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Limits of a record.
const (
	// maxMishaps bounds the mishaps that a record keeps: the latest.
	maxMishaps = 1 << 16
	// maxPassed bounds the frames that a record of frames keeps besides them, of those that came late and of those that arrived as usual:
	// a view of a hundred validators.
	maxPassed = 1 << 15
	// MaxDraws bounds the draws that a record keeps, of some 60 bytes each: an hour of four validators.
	MaxDraws = 4 << 20
)

// Position is where in a run something is drawn. A frame's is its content, its ends, and how often that content went
// between them, so that it has the same position in a run that differs elsewhere.
type Position struct {
	what     drawn
	world    uint16 // of the run, from 1 on: a script may make several
	from, to uint16 // nodes by their index
	nth      uint32 // from 1 on
	content  uint64
}

// drawn is what a draw decides.
type drawn uint8

const (
	drawnFrame    drawn = iota // the fate of a frame between validators
	drawnCarriage              // that of bytes over a connection
	drawnChoice                // which role steps next
	drawnTear                  // what a disk loses
)

// Why says why a frame did not arrive, or not when it would have.
type Why string

// The reasons.
const (
	WhyLost         Why = "lost"
	WhyCut          Why = "cut"
	WhyNotConnected Why = "not connected"
	WhyGone         Why = "gone" // its process, or its sender's
	WhyLate         Why = "late"
	WhyNone         Why = "" // it arrived as usual
)

// Mishap is a frame that did not arrive as usual.
type Mishap struct {
	Position
	Sent     types.Time
	Arrives  types.Time // 0: never
	Usual    types.Time // when it would have arrived
	Why      Why
	By       *fault.Order // the fault that did it, or nil
	From, To string
	Bytes    int
	frame    []byte
}

// Record is what a run keeps so that it can be made again with single things undone: its mishaps, and the
// state of the random generators at each draw. A run fills one record, which is not changed afterwards.
type Record struct {
	mishaps frameRing
	states  map[Position]rand.PCG
	worlds  uint16
	cutOff  bool
	// A record that is only looked at keeps no states, and two rings more: of frames that came late by chance, and of those that arrived as
	// usual. On links with jitter a fourth of all frames is late, which would soon leave no lost one in mishaps.
	late, passed frameRing
}

// frameRing are the latest frames of a kind.
type frameRing struct {
	frames []Mishap
	next   int // where the next one goes, once the ring is full
}

// addFrame adds a frame, in place of the oldest where there are so many.
func (r *frameRing) addFrame(m Mishap, most int) {
	if len(r.frames) < most {
		r.frames = append(r.frames, m)
		return
	}
	r.frames[r.next] = m
	r.next = (r.next + 1) % most
}

// listFrames are the frames, oldest first.
func (r *frameRing) listFrames() []Mishap { return slices.Concat(r.frames[r.next:], r.frames[:r.next]) }

// NewRecord returns an empty record.
func NewRecord() *Record { return &Record{states: map[Position]rand.PCG{}} }

// NewFrameRecord returns an empty record of frames alone, those that arrive as usual too. No trial can be made of it.
func NewFrameRecord() *Record { return &Record{} }

// Mishaps are those of the run, in the order in which they happened. Of a record of frames they are those that never arrived,
// or that a fault made late.
func (r *Record) Mishaps() []Mishap { return r.mishaps.listFrames() }

// Late are the latest frames of a record of frames that came late by chance, in the order in which they were sent.
func (r *Record) Late() []Mishap { return r.late.listFrames() }

// Passed are the latest frames of a record of frames that arrived as usual, in the order in which they were sent.
func (r *Record) Passed() []Mishap { return r.passed.listFrames() }

// isPlaced says that draws need their positions.
func (p *positions) isPlaced() bool { return p.trial != nil || p.record.states != nil }

// IsCutOff says that the run had more than MaxDraws draws: a trial differs from it beyond them.
func (r *Record) IsCutOff() bool { return r.cutOff }

func (r *Record) add(m Mishap) {
	if r.states == nil && m.Arrives != 0 && m.By == nil {
		r.late.addFrame(m, maxPassed)
		return
	}
	r.mishaps.addFrame(m, maxMishaps)
}

// Trial is a run of a recorded seed in which single frames fare otherwise. All else is drawn as it was
// in the recorded run: a draw at a position that was not there is a function of the position.
type Trial struct {
	Base *Record // nil: the generators run on
	// Deliver are frames that arrive as usual.
	Deliver map[Position]bool
	// Lose says which other frames are lost, whatever the seed draws: a test's plant. It may be nil, and is a function of
	// its arguments.
	Lose   func(from, to string, s Saying) bool
	worlds uint16
}

// positions gives each draw of a world its position.
type positions struct {
	seed            uint64
	world           uint16
	record          *Record // nil: nothing is recorded
	trial           *Trial  // nil: the generators run on
	usual           Link
	links, schedule *rand.PCG
	times           map[Position]uint32 // how often there was one, by the position without nth
	instant         types.Time          // of the latest choice
	choices         uint32              // in that instant
	by              func(*fault.Counts) *fault.Order
}

// newPositions returns the positions of a world, nil where no one asks for them.
func newPositions(c *Config, links, schedule *rand.PCG) *positions {
	if c.Record == nil && c.Trial == nil {
		return nil
	}
	p := &positions{seed: c.Seed, record: c.Record, trial: c.Trial, usual: c.Link, links: links, schedule: schedule,
		times: map[Position]uint32{}}
	if p.trial != nil {
		p.trial.worlds++
		p.world = p.trial.worlds
	}
	if p.record != nil {
		p.record.worlds++
		p.world = p.record.worlds
	}
	return p
}

// draw sets a generator to what it was at the position in the recorded run.
func (p *positions) draw(source *rand.PCG, at Position) {
	if p.trial != nil && p.trial.Base != nil {
		state, known := p.trial.Base.states[at]
		if known {
			*source = state
		} else {
			source.Seed(p.seed, at.hash())
		}
	}
	switch {
	case p.record == nil:
	case len(p.record.states) < MaxDraws:
		p.record.states[at] = *source
	default:
		p.record.cutOff = true
	}
}

// hash is a number that is another for each position.
func (at Position) hash() uint64 {
	packed := [...]uint64{uint64(at.what)<<48 | uint64(at.world)<<32 | uint64(at.from)<<16 | uint64(at.to), uint64(at.nth), at.content}
	var bytes []byte
	for _, word := range packed {
		for shift := 0; shift < 64; shift += 8 {
			bytes = append(bytes, byte(word>>shift))
		}
	}
	return xxhash.Sum64(bytes)
}

// count returns a position with its nth.
func (p *positions) count(at Position) Position {
	at.world = p.world
	p.times[at]++
	at.nth = p.times[at]
	return at
}

// choose prepares the draw of the role that steps next.
func (p *positions) choose(now types.Time) {
	if !p.isPlaced() {
		return
	}
	if now != p.instant {
		p.instant, p.choices = now, 0
	}
	p.choices++
	p.draw(p.schedule, Position{what: drawnChoice, world: p.world, nth: p.choices, content: uint64(now)})
}

// frame prepares the draws of a frame's fate.
func (p *positions) frame(from, to *node, content uint64) Position {
	if !p.isPlaced() {
		return Position{}
	}
	at := p.count(Position{what: drawnFrame, from: uint16(from.index), to: uint16(to.index), content: content})
	p.draw(p.links, at)
	return at
}

// carry prepares the draws of the fate of bytes over a connection.
func (p *positions) carry(l *linkState, bytes int) Position {
	if !p.isPlaced() {
		return Position{}
	}
	at := p.count(Position{what: drawnCarriage, from: uint16(l.from.index), to: uint16(l.to.index), content: uint64(bytes)})
	p.draw(p.links, at)
	return at
}

// tear prepares the draw of what a disk loses.
func (p *positions) tear(n *node) {
	if !p.isPlaced() {
		return
	}
	p.draw(p.links, p.count(Position{what: drawnTear, from: uint16(n.index)}))
}

// delivers and loses say what the trial does with a frame.
func (p *positions) delivers(at Position) bool { return p.trial != nil && p.trial.Deliver[at] }
func (p *positions) loses(o *observedFlight) bool {
	return p.trial != nil && p.trial.Lose != nil && !o.assured && p.trial.Lose(o.link.from.name, o.link.to.name, saysOf(o.frame.frame))
}

// lateAfter is the time from which on a frame is late: one of the slowest fourth, or slower than the usual link ever is.
func (p *positions) lateAfter(departs types.Time) types.Time {
	return departs.Add(p.usual.Latency + p.usual.Jitter/4*3)
}

// usually is when a frame arrives usually.
func (p *positions) usually(departs types.Time) types.Time { return departs.Add(p.usual.Latency) }

// note records a mishap. arrives is 0 of a frame that never does.
func (p *positions) note(now types.Time, f *observedFlight, why Why, arrives types.Time, counts *fault.Counts) {
	if p.record == nil {
		return
	}
	p.record.add(Mishap{Position: f.at, Sent: now, Arrives: arrives, Usual: p.usually(f.departs), Why: why, By: p.order(counts),
		From: f.link.from.name, To: f.link.to.name, Bytes: len(f.frame.frame), frame: f.frame.frame})
}

// order is the fault with the counts, or nil.
func (p *positions) order(counts *fault.Counts) *fault.Order {
	if counts == nil || p.by == nil {
		return nil
	}
	return p.by(counts)
}

// carried records the mishap of bytes over a connection that were sent again; arrives is 0 of those that end it.
func (p *positions) carried(at Position, l *linkState, departs, arrives types.Time, bytes int) {
	if p.record == nil {
		return
	}
	why := WhyLate
	if arrives == 0 {
		why = WhyLost
	}
	p.record.add(Mishap{Position: at, Sent: departs, Arrives: arrives, Usual: p.usually(departs), Why: why, By: p.order(l.counts),
		From: l.from.name, To: l.to.name, Bytes: bytes})
}

// observedFlight is a frame under way in a run that is recorded, or a trial.
type observedFlight struct {
	frame   *flight
	at      Position
	departs types.Time
	link    *linkState
	assured bool // the trial delivers it, whatever cuts its link
	noted   bool
}

// sendObserved is the rest of links.send for a run that is recorded, or a trial. It draws as that does.
func (n *links) sendObserved(f *flight) {
	p, link := n.loop.positions, f.link
	o := &observedFlight{frame: f, at: p.frame(link.from, link.to, f.hash), departs: f.departs, link: link}
	lose := func(why Why, counts *fault.Counts) {
		p.note(n.loop.now, o, why, 0, counts)
		n.loop.trace.traceDrop(n.loop.now, link.from, link.to, f, string(why))
	}
	o.assured = p.delivers(o.at) && link.to.process != nil
	switch {
	case o.assured && (link.cut != nil || !f.from.canReach(link.to)):
		f.to = link.to.process
		n.loop.enterEvent(event{at: p.usually(f.departs), what: o})
		return
	case link.cut != nil:
		link.cut.Dropped.Add(1)
		lose(WhyCut, link.cut)
		return
	case !f.from.canReach(link.to):
		lose(WhyNotConnected, n.findOrAddLink(link.to, link.from).cut)
		return
	case p.loses(o):
		lose(WhyLost, nil)
		return
	}
	f.to = link.to.process
	if n.drawChance(link.Loss) || !link.takeBandwidth(f) {
		if o.assured {
			n.loop.enterEvent(event{at: p.usually(f.departs), what: o})
			return
		}
		link.counts.Dropped.Add(1)
		lose(WhyLost, link.counts)
		return
	}
	arrives := n.drawArrival(f)
	switch {
	case o.assured:
		arrives = min(arrives, p.usually(f.departs))
	case arrives > p.lateAfter(f.departs):
		p.note(n.loop.now, o, WhyLate, arrives, link.counts)
	case !p.isPlaced():
		p.record.passed.addFrame(Mishap{Sent: n.loop.now, Arrives: arrives, Usual: p.usually(f.departs), From: link.from.name,
			To: link.to.name, Bytes: len(f.frame), frame: f.frame}, maxPassed)
	}
	n.loop.enterEvent(event{at: arrives, what: o})
	if n.drawChance(link.Duplicate) {
		link.counts.Duplicated.Add(1)
		n.loop.enterEvent(event{at: n.drawArrival(f).Add(n.upTo(link.Latency + link.Jitter)), what: o})
	}
}

// happen delivers the frame as a flight does. One that the trial assures crosses a link that was cut meanwhile.
func (o *observedFlight) happenAt(e event) {
	f := o.frame
	to := f.to.node
	w := to.world
	gone := f.to.dead || f.to.receive == nil || f.from.dead && f.departs > f.from.diedAt
	switch {
	case f.link.cut != nil && o.assured && !gone && to.frozen == nil:
		w.trace.traceFrame(w.now, kindFrame, to, f.from.node, f.hash, f.frame)
		f.to.receive(f.from.node.address, f.frame)
		return
	case o.noted:
	case f.link.cut != nil:
		o.noted = true
		w.positions.note(w.now, o, WhyCut, 0, f.link.cut)
	case gone:
		o.noted = true
		w.positions.note(w.now, o, WhyGone, 0, to.death)
	}
	f.happenAt(e)
}

// isFrame says whether an event is the arrival of a frame between validators.
func isFrame(what happening) bool {
	switch what.(type) {
	case *flight, *observedFlight:
		return true
	}
	return false
}

// Saying is what a frame says.
type Saying struct {
	Name   string // proposal, vote, …; "" of bytes over a connection
	Vote   string // of votes and certificates: its kind
	View   types.View
	Height types.Height
}

// Content is what was sent, which must not change; nil of bytes over a connection.
func (m *Mishap) Content() []byte { return m.frame }

// Says reads what the frame of a mishap says.
func (m *Mishap) Says() Saying { return saysOf(m.frame) }

func saysOf(frame []byte) (s Saying) {
	if len(frame) == 0 || int(frame[0]) >= len(frameNames) {
		return s
	}
	s.Name = frameNames[frame[0]]
	read := func(into any) bool { return codec.Unmarshal(frame[1:], env.MaxFrameBytes, into) == nil }
	var (
		p types.Proposal
		v types.Vote
		c types.Certificate
	)
	switch {
	case s.Name == "proposal" && read(&p) && p.Block != nil:
		s.View, s.Height = p.View, p.Block.Header.Height
	case s.Name == "vote" && read(&v):
		s.Vote, s.View, s.Height = v.Kind.String(), v.View, v.Height
	case s.Name == "certificate" && read(&c):
		s.Vote, s.View, s.Height = c.Kind.String(), c.View, c.Height
	}
	return s
}

// Delay is how much later than usual the frame arrives; 0 of one that never does.
func (m *Mishap) Delay() time.Duration {
	if m.Arrives == 0 {
		return 0
	}
	return m.Arrives.Sub(m.Usual)
}

// World is which network of the run it is of, from 1 on.
func (at Position) World() int { return int(at.world) }
