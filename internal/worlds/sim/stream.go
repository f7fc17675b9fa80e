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

// findStream returns a stream that is not over, or nil. The control stream is kept apart,
// since most connections have no other.
func (s *side) findStream(number connection.Stream) *stream {
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

// findOrOpenStream returns the stream of an arriving frame, and reports it if it is new; nil if
// it is over. Streams of lower numbers open with it (RFC 9000 §3.2).
func (s *side) findOrOpenStream(number connection.Stream) *stream {
	for s.peersOwn(number) && s.theirs <= number {
		opened := s.newStream(s.theirs)
		opened.begun = true
		s.theirs += 4
		s.tellEvent(connection.Opened{ID: s.id, Stream: opened.number})
	}
	return s.findStream(number)
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
	if s.findStream(number) != nil {
		return
	}
	s.opening = append(s.opening, s.newStream(number))
	if len(s.opening) == 1 { // otherwise it has its turn after those that wait
		s.openWaitingStreams()
	}
}

// streamLimit is how many streams of this side the peer allows.
func (s *side) streamLimit() int {
	if s.dialed {
		return connection.MaxPeerStreams
	}
	return s.peer.host.jobStreams
}

// openWaitingStreams opens the streams that wait, as the peer allows them. A stream that is not
// allowed for the patience of a write counts as a blocked write.
func (s *side) openWaitingStreams() {
	for len(s.opening) > 0 && s.allowed < s.streamLimit() {
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
		one.writeQueue()
	}
	if len(s.opening) > 0 {
		first := s.opening[0]
		s.process.node.world.At(s.process.timeAfterWork().Add(s.host.patience), func() {
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
		s.tellEvent(connection.Stuck{ID: s.id})
	}
}

// queueFrame queues a frame.
func (s *side) queueFrame(number connection.Stream, frame []byte) {
	one := s.findStream(number)
	if one == nil || one.ending || one.dead {
		s.letGo(one)
		return
	}
	if s.waiting >= connection.QueueFrames || s.bytes+len(frame) > connection.QueueBytes {
		s.tellStuck()
		return
	}
	if one.begun && len(one.queue) == 0 && one.hasRoomFor(len(frame)) {
		one.sendFrame(frame)
		return
	}
	one.queue = append(one.queue, frame)
	s.waiting, s.bytes = s.waiting+1, s.bytes+len(frame)
	if one.begun && len(one.queue) == 1 {
		one.boundOldestWait()
	}
}

// hasRoomFor says whether the peer's windows have room for a frame. The largest frames
// exceed these windows, and are sent one by one.
func (t *stream) hasRoomFor(n int) bool {
	return t.unread == 0 || t.unread+n <= connection.StreamWindow && t.side.unread+n <= connection.ConnectionWindow
}

// sendFrame puts a frame on its way.
func (t *stream) sendFrame(frame []byte) {
	s := t.side
	t.unread, s.unread = t.unread+len(frame), s.unread+len(frame)
	w := s.process.node.world
	p := w.parcels.takeParcel()
	*p = parcel{what: toFrame, to: s.peer, of: t, stream: t.number, frame: frame, world: w}
	s.sendParcel(p)
}

// boundOldestWait gives the oldest frame that waits the time that a write may be blocked.
func (t *stream) boundOldestWait() {
	s := t.side
	t.since = s.process.timeAfterWork()
	began := t.since
	s.process.node.world.At(began.Add(s.host.patience), func() {
		if s.closing || len(t.queue) == 0 || t.since != began || t.dead {
			return
		}
		t.dropQueue()
		t.wrote = true
		s.forgetStream(t)
		s.tellStuck()
	})
}

// writeQueue writes the queued frames, as far as there is room, and the end after them.
func (t *stream) writeQueue() {
	s := t.side
	if !t.begun || t.dead {
		return
	}
	moved := false
	for len(t.queue) > 0 && t.hasRoomFor(len(t.queue[0])) {
		frame := t.queue[0]
		t.queue = t.queue[1:]
		s.waiting, s.bytes = s.waiting-1, s.bytes-len(frame)
		t.sendFrame(frame)
		moved = true
	}
	switch {
	case len(t.queue) > 0:
		if moved || t.since == 0 {
			t.boundOldestWait()
		}
	case t.ending:
		t.dead, t.wrote = true, true
		s.sendParcel(&parcel{what: toEnd, to: s.peer, of: t, stream: t.number})
		s.forgetStream(t)
	}
}

// creditRead records that the peer has read n bytes.
func (t *stream) creditRead(n int) {
	s := t.side
	t.unread, s.unread = t.unread-n, s.unread-n
	if s.waiting == 0 {
		return
	}
	w := s.far.world
	w.After(w.findOrAddLink(s.far, s.process.node).Latency, func() {
		if s.closing {
			return
		}
		if s.control.side != nil {
			s.control.writeQueue()
		}
		for _, one := range slices.Clone(s.streams) {
			one.writeQueue()
		}
	})
}

// endStream ends this side after the queued frames.
func (s *side) endStream(number connection.Stream) {
	if one := s.findStream(number); one != nil && !one.ending {
		one.ending = true
		s.letGo(one)
		if len(one.queue) == 0 {
			one.writeQueue()
		}
	}
}

// letGo ends our side of a stream that the peer broke off.
func (s *side) letGo(one *stream) {
	if one != nil && one.dead && one.read {
		one.wrote = true
		s.forgetStream(one)
	}
}

// resetStream breaks both sides off.
func (s *side) resetStream(number connection.Stream, code uint64) {
	one := s.findStream(number)
	if one == nil {
		return
	}
	one.dropQueue()
	if one.begun {
		s.breakOff(one, code)
	}
}

func (s *side) breakOff(one *stream, code uint64) {
	s.sendParcel(&parcel{what: toCut, to: s.peer, of: one, stream: one.number, code: code})
	one.wrote = true
	s.finishPeerSide(one)
}

// dropQueue drops what is queued.
func (t *stream) dropQueue() {
	t.dead = true
	for _, frame := range t.queue {
		t.side.waiting, t.side.bytes = t.side.waiting-1, t.side.bytes-len(frame)
	}
	t.queue = nil
}

// finishPeerSide ends the peer's side of a stream: its unreported frames are lost, and make
// room.
func (s *side) finishPeerSide(one *stream) {
	one.read = true
	if len(s.inbox) > 0 {
		kept := s.inbox[:0]
		for _, p := range s.inbox {
			switch {
			case p.stream != one.number:
				kept = append(kept, p)
			case p.what == toFrame:
				p.of.creditRead(len(p.frame))
			}
		}
		clear(s.inbox[len(kept):])
		s.inbox = kept
	}
	s.forgetStream(one)
}

// forgetStream forgets a stream whose sides are both over. Its opener may open another.
func (s *side) forgetStream(one *stream) {
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
				peer.openWaitingStreams()
			}
		})
	}
}
