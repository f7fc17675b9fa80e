package sim

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// parcel is what travels over a connection.
type parcel struct {
	what    matter
	from    *side
	to      *side   // nil of toDial
	of      *stream // the sender's stream, if it belongs to one
	stream  connection.Stream
	frame   []byte
	code    uint64
	reason  string
	departs types.Time
	world   *World // of a frame
}

// matter is what a parcel brings.
type matter uint8

const (
	toDial   matter = iota // a runner begins a handshake
	toAnswer               // a validator answers it
	toFinish               // the runner ends it
	toFrame                // a frame
	toStall                // a frame that does not come whole in time
	toEnd                  // the end of one side of a stream
	toCut                  // both sides of a stream are broken off
	toClose                // the connection is
)

// parcels holds unused parcels for reuse: a crowd sends a few hundred thousand per
// block.
type parcels []*parcel

func (s *parcels) takeParcel() *parcel {
	last := len(*s) - 1
	if last < 0 {
		return new(parcel)
	}
	p := (*s)[last]
	*s = (*s)[:last]
	return p
}

func (s *parcels) putParcel(p *parcel) {
	*p = parcel{}
	*s = append(*s, p)
}

// leastProbe is how long it takes at least until what is lost is sent again: what a
// peer may delay its acknowledgement by (RFC 9002 §6.2).
const leastProbe = 25 * time.Millisecond

// sendParcel puts a parcel on its way. A lost parcel is sent again, later each time;
// after too long, the connection ends.
func (s *side) sendParcel(p *parcel) {
	l := s.process
	w := l.node.world
	p.from, p.departs = s, l.timeAfterWork()
	if p.what == toFrame {
		w.trace.traceSentFrame(w.now, l.node, s.far, p.frame)
	}
	first, whole, lost := s.out.drawTransit(w, p.departs, len(p.frame))
	switch {
	case lost:
		w.At(p.departs.Add(connection.IdleTime), s.loseBoth)
		return
	case p.what == toFrame && whole.Sub(first) > connection.FrameTime:
		p.what, whole = toStall, first.Add(connection.FrameTime)
	}
	at := max(whole, s.floor)
	if p.what == toFinish {
		s.floor = at
	}
	if p.of != nil { // in the order of its stream
		at = max(at, p.of.last)
		p.of.last = at
	}
	w.enterEvent(event{at: at, what: p})
}

// loseBoth ends both sides of a connection on which nothing passes any more.
func (s *side) loseBoth() {
	s.endByTimeout()
	if s.peer != nil {
		s.peer.endByTimeout()
	}
}

// drawTransit draws the arrival times of the first and the last of the given bytes, which
// are sent again if they are lost.
func (l *linkState) drawTransit(w *World, departs types.Time, bytes int) (first, whole types.Time, lost bool) {
	p := w.loop.positions
	if p == nil {
		return l.drawUnobserved(w, departs, bytes)
	}
	at := p.carry(l, bytes)
	first, whole, lost = l.drawUnobserved(w, departs, bytes)
	usual := p.usually(departs)
	switch {
	case p.delivers(at):
		return min(first, usual), min(whole, usual), false
	case lost:
		p.carried(at, l, departs, 0, bytes)
	case whole > p.lateAfter(departs):
		p.carried(at, l, departs, whole, bytes)
	}
	return first, whole, lost
}

// drawUnobserved draws what drawTransit returns.
func (l *linkState) drawUnobserved(w *World, departs types.Time, bytes int) (first, whole types.Time, lost bool) {
	first = departs
	whole = first
	if l.Bandwidth > 0 {
		if first = max(first, l.free); first > departs {
			l.counts.Delayed.Add(1)
		}
		l.free = first.Add(time.Duration(int64(bytes) * int64(time.Second) / l.Bandwidth))
		whole = l.free
	}
	travel := l.Latency + w.upTo(l.Jitter)
	if travel > 0 {
		l.counts.Delayed.Add(1)
	}
	if w.drawChance(l.Reorder) {
		l.counts.Reordered.Add(1)
		travel += w.upTo(l.Latency + l.Jitter)
	}
	if w.drawChance(l.Duplicate) {
		l.counts.Duplicated.Add(1)
	}
	for probe := leastProbe + 2*(l.Latency+l.Jitter); w.drawChance(l.Loss); probe *= 2 {
		l.counts.Dropped.Add(1)
		if travel += probe; travel > connection.IdleTime {
			return first, whole, true
		}
	}
	return first.Add(travel), whole.Add(travel), false
}

// happenAt lets a parcel arrive, unless the link is cut: then it arrives when the
// link is restored, if the connection still exists.
func (p *parcel) happenAt(event) {
	if (p.what != toFrame || p.world.troubled) && p.isKept() {
		return
	}
	switch {
	case p.what == toDial:
		p.from.answerDial()
	case p.what == toAnswer:
		p.to.openBothSides(p.from)
	case p.what == toFinish:
		p.to.openValidatorSide()
		p.to.resumeDelivery()
	case p.to.over:
	case !p.to.up: // it overtook the end of the handshake
		p.to.stalled = append(p.to.stalled, p)
	default:
		p.to.takeParcel(p)
	}
}

// isKept reports whether a parcel does not arrive, or not now: its sender died before it
// left, its link is cut, or who it is for died. In a world without faults this is not
// checked for each frame, since in a crowd neither process nor link is in the cache.
func (p *parcel) isKept() bool {
	s := p.from
	if s.process.dead && p.departs > s.process.diedAt {
		return true
	}
	if cut := s.out.cut; cut != nil {
		cut.Dropped.Add(1)
		if p.to != nil {
			p.to.stalled = append(p.to.stalled, p)
		}
		return true
	}
	if p.to == nil || !p.to.process.dead {
		return false
	}
	if p.what == toFinish {
		s.loseIn(s.process.node.world.now)
	}
	if death := p.to.process.node.death; death != nil && p.to.process.node.process == nil {
		death.Dropped.Add(1)
	}
	return true
}

// takeParcel takes what arrived at a side that is up.
func (s *side) takeParcel(p *parcel) {
	switch p.what {
	case toClose:
		s.endSide(connection.Down{Closed: true, Code: p.code, Reason: p.reason})
	case toCut:
		s.onStreamReset(p.stream)
	default:
		at := s.findOrOpenStream(p.stream)
		switch {
		case at == nil || at.read:
			if p.what == toFrame { // it is not needed
				p.of.creditRead(len(p.frame))
			}
		case len(s.inbox) == 0 && s.canDeliver(p):
			s.reportParcel(p)
		default:
			s.inbox = append(s.inbox, p)
		}
	}
}

// resumeDelivery lets come what has waited.
func (s *side) resumeDelivery() {
	waited := s.stalled
	s.stalled = nil
	for _, p := range waited {
		s.far.world.enterEvent(event{at: s.far.world.now, what: p})
	}
}
