package sim

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// stream is one that goes both ways, at one side.
type stream struct {
	side   *side
	number connection.Stream
	begun  bool       // the peer allows it
	queue  [][]byte   // frames that the peer has no room for yet, oldest first
	since  types.Time // when the oldest frame of queue came to its turn
	last   types.Time // the latest arrival of a sent frame
	unread int        // bytes that were sent and not told
	ending bool       // this side ends after the queue
	dead   bool       // nothing is sent any more
	wrote  bool       // our side is over
	read   bool       // the peer's side is over
}

// find returns a stream that is not over, or nil. The control stream is kept apart,
// since most connections have no other.
func (s *side) find(number connection.Stream) *stream {
	if number == connection.Control {
		if s.control.side == nil || s.control.wrote && s.control.read {
			return nil
		}
		return &s.control
	}
	for _, one := range s.streams {
		if one.number == number {
			return one
		}
	}
	return nil
}

func (s *side) newStream(number connection.Stream) *stream {
	if number == connection.Control {
		s.control = stream{side: s, number: number}
		return &s.control
	}
	one := &stream{side: s, number: number}
	s.streams = append(s.streams, one)
	return one
}

// heard returns the stream of an arriving frame, and reports it if it is new; nil if
// it is over. Streams of lower numbers open with it (RFC 9000 §3.2).
func (s *side) heard(number connection.Stream) *stream {
	for s.peersOwn(number) && s.theirs <= number {
		opened := s.newStream(s.theirs)
		opened.begun = true
		s.theirs += 4
		s.tell(connection.Opened{ID: s.id, Stream: opened.number})
	}
	return s.find(number)
}

// peersOwn says whether a stream is one that the peer opens.
func (s *side) peersOwn(number connection.Stream) bool {
	if !s.dialed {
		return number%4 == 0
	}
	if s.theirs == 0 {
		s.theirs = connection.Job(0)
	}
	return number.IsJob()
}

// openStream opens a stream, at once where the peer allows it.
func (s *side) openStream(number connection.Stream) {
	if s.find(number) != nil {
		return
	}
	s.opening = append(s.opening, s.newStream(number))
	if len(s.opening) == 1 { // otherwise it has its turn after those that wait
		s.open()
	}
}

// limit is how many streams of this side the peer allows.
func (s *side) limit() int {
	if s.dialed {
		return connection.MaxPeerStreams
	}
	return s.peer.host.jobStreams
}

// open opens the streams that wait, as the peer allows them. A stream that is not
// allowed for the patience of a write counts as a blocked write.
func (s *side) open() {
	for len(s.opening) > 0 && s.allowed < s.limit() {
		one := s.opening[0]
		s.opening = s.opening[1:]
		next := connection.Stream(4 * s.own)
		if !s.dialed {
			next = connection.Job(s.own)
		}
		if one.number != next {
			panic(fmt.Sprintf("sim: stream %d was opened as %d", next, one.number))
		}
		s.own++
		s.allowed++
		one.begun = true
		if one.dead { // it was broken off before it was opened
			s.breakOff(one, connection.CodeDone)
			continue
		}
		one.pump()
	}
	if len(s.opening) > 0 {
		first := s.opening[0]
		s.process.node.world.At(s.process.present().Add(s.host.patience), func() {
			if !s.closing && len(s.opening) > 0 && s.opening[0] == first {
				s.tellStuck()
			}
		})
	}
}

// tellStuck tells once that the peer takes nothing.
func (s *side) tellStuck() {
	if !s.stuck {
		s.stuck = true
		s.tell(connection.Stuck{ID: s.id})
	}
}

// send queues a frame.
func (s *side) send(number connection.Stream, frame []byte) {
	one := s.find(number)
	if one == nil || one.ending || one.dead {
		s.letGo(one)
		return
	}
	if s.waiting >= connection.QueueFrames || s.bytes+len(frame) > connection.QueueBytes {
		s.tellStuck()
		return
	}
	if one.begun && len(one.queue) == 0 && one.room(len(frame)) {
		one.write(frame)
		return
	}
	one.queue = append(one.queue, frame)
	s.waiting, s.bytes = s.waiting+1, s.bytes+len(frame)
	if one.begun && len(one.queue) == 1 {
		one.wait()
	}
}

// room says whether the peer's windows have room for a frame. The largest frames
// exceed these windows, and are sent one by one.
func (t *stream) room(n int) bool {
	return t.unread == 0 || t.unread+n <= connection.StreamWindow && t.side.unread+n <= connection.ConnectionWindow
}

// write puts a frame on its way.
func (t *stream) write(frame []byte) {
	s := t.side
	t.unread, s.unread = t.unread+len(frame), s.unread+len(frame)
	w := s.process.node.world
	p := w.parcels.take()
	*p = parcel{what: toFrame, to: s.peer, of: t, stream: t.number, frame: frame, world: w}
	s.depart(p)
}

// wait gives the oldest frame that waits the time that a write may be blocked.
func (t *stream) wait() {
	s := t.side
	t.since = s.process.present()
	began := t.since
	s.process.node.world.At(began.Add(s.host.patience), func() {
		if s.closing || len(t.queue) == 0 || t.since != began || t.dead {
			return
		}
		t.die()
		t.wrote = true
		s.forget(t)
		s.tellStuck()
	})
}

// pump writes the queued frames, as far as there is room, and the end after them.
func (t *stream) pump() {
	s := t.side
	if !t.begun || t.dead {
		return
	}
	moved := false
	for len(t.queue) > 0 && t.room(len(t.queue[0])) {
		frame := t.queue[0]
		t.queue = t.queue[1:]
		s.waiting, s.bytes = s.waiting-1, s.bytes-len(frame)
		t.write(frame)
		moved = true
	}
	switch {
	case len(t.queue) > 0:
		if moved || t.since == 0 {
			t.wait()
		}
	case t.ending:
		t.dead, t.wrote = true, true
		s.depart(&parcel{what: toEnd, to: s.peer, of: t, stream: t.number})
		s.forget(t)
	}
}

// credit records that the peer has read n bytes.
func (t *stream) credit(n int) {
	s := t.side
	t.unread, s.unread = t.unread-n, s.unread-n
	if s.waiting == 0 {
		return
	}
	w := s.far.world
	w.After(w.link(s.far, s.process.node).Latency, func() {
		if s.closing {
			return
		}
		if s.control.side != nil {
			s.control.pump()
		}
		for _, one := range slices.Clone(s.streams) {
			one.pump()
		}
	})
}

// end ends this side after the queued frames.
func (s *side) end(number connection.Stream) {
	if one := s.find(number); one != nil && !one.ending {
		one.ending = true
		s.letGo(one)
		if len(one.queue) == 0 {
			one.pump()
		}
	}
}

// letGo ends our side of a stream that the peer broke off.
func (s *side) letGo(one *stream) {
	if one != nil && one.dead && one.read {
		one.wrote = true
		s.forget(one)
	}
}

// reset breaks both sides off.
func (s *side) reset(number connection.Stream, code uint64) {
	one := s.find(number)
	if one == nil {
		return
	}
	one.die()
	if one.begun {
		s.breakOff(one, code)
	}
}

func (s *side) breakOff(one *stream, code uint64) {
	s.depart(&parcel{what: toCut, to: s.peer, of: one, stream: one.number, code: code})
	one.wrote = true
	s.finish(one)
}

// die drops what is queued.
func (t *stream) die() {
	t.dead = true
	for _, frame := range t.queue {
		t.side.waiting, t.side.bytes = t.side.waiting-1, t.side.bytes-len(frame)
	}
	t.queue = nil
}

// finish ends the peer's side of a stream: its unreported frames are lost, and make
// room.
func (s *side) finish(one *stream) {
	one.read = true
	if len(s.inbox) > 0 {
		kept := s.inbox[:0]
		for _, p := range s.inbox {
			switch {
			case p.stream != one.number:
				kept = append(kept, p)
			case p.what == toFrame:
				p.of.credit(len(p.frame))
			}
		}
		clear(s.inbox[len(kept):])
		s.inbox = kept
	}
	s.forget(one)
}

// forget forgets a stream whose sides are both over. Its opener may open another.
func (s *side) forget(one *stream) {
	if !one.wrote || !one.read {
		return
	}
	if i := slices.Index(s.streams, one); i >= 0 {
		s.streams = slices.Delete(s.streams, i, i+1)
	}
	if !s.peersOwn(one.number) {
		return
	}
	peer := s.peer
	peer.allowed--
	if len(peer.opening) > 0 {
		w := s.far.world
		w.After(s.out.Latency, func() {
			if !peer.closing {
				peer.open()
			}
		})
	}
}
