package sim

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// side is one side of a connection.
type side struct {
	host    *connections
	process *process // of host
	id      connection.ID
	peer    *side // nil before the peer answered
	far     *node // the peer's machine
	out     *linkState
	dialed  bool       // the runner dialled: this is its side
	floor   types.Time // the handshake is over at the peer: nothing comes there sooner
	up      bool
	closing bool // this side closes it, and asks nothing of it any more
	over    bool // Down was told

	admitted bool
	untaken  int // frames that were told and not Taken
	inbox    []*parcel
	stalled  []*parcel // that arrive when the link is restored

	control stream // the control stream, there once its side is set
	streams []*stream
	opening []*stream         // that the peer does not allow yet
	own     uint64            // streams opened
	allowed int               // of the streams opened here, how many count at the peer
	theirs  connection.Stream // the next that the peer opens
	waiting int               // frames that the peer has no room for yet
	bytes   int               // the size of the frames that the peer has no room for yet
	unread  int               // bytes that were sent and not told
	stuck   bool              // Stuck was told

	previous, next *side // of the same process
}

// tellEvent hands an event on, unless the connection is over or its process is dead.
func (s *side) tellEvent(e connection.Event) {
	c := s.host
	if s.over || s.process.dead || c.receive == nil {
		return
	}
	n := s.process.node
	n.world.trace.traceConnectionEvent(n.world.now, n, s.far, e)
	if n.frozen != nil {
		n.frozen.Held.Add(1)
	}
	if s.up {
		c.recent = s
	}
	c.receive(e)
}

// endSide ends a side, once.
func (s *side) endSide(e connection.Down) {
	if s.host.sides[s.id] != s { // it is over, or was never up
		return
	}
	e.ID = s.id
	s.tellEvent(e)
	s.over, s.closing = true, true
	s.inbox, s.stalled, s.streams, s.opening = nil, nil, nil, nil
	s.host.forgetSide(s)
}

// endByTimeout ends a side that has heard nothing for too long.
func (s *side) endByTimeout() {
	s.endSide(connection.Down{Reason: "timeout: no recent network activity"})
}

// closeBothSides ends both sides: this one at once.
func (s *side) closeBothSides(code uint64, reason string) {
	if s.closing {
		return
	}
	s.closing = true
	w := s.process.node.world
	mine := connection.Down{Code: code, Reason: reason}
	if !s.up {
		mine = connection.Down{Reason: "given up"}
	} else {
		s.sendParcel(&parcel{what: toClose, to: s.peer, code: code, reason: reason})
		s.peer.loseIn(s.process.timeAfterWork()) // where that does not come
	}
	w.At(s.process.timeAfterWork(), func() { s.endSide(mine) })
}

// loseIn ends a side whose peer says nothing from a time on.
func (s *side) loseIn(silent types.Time) {
	s.process.node.world.At(silent.Add(connection.IdleTime), s.endByTimeout)
}

// notifyPeersOfDeath has the peers of a process that died find it out.
func (c *connections) notifyPeersOfDeath() {
	w := c.process.node.world
	var peers []*side
	for s := c.first; s != nil; s = s.next {
		if s.peer != nil {
			peers = append(peers, s.peer)
		}
	}
	if len(peers) > 0 {
		w.After(connection.IdleTime, func() {
			for _, s := range peers {
				s.endByTimeout()
			}
		})
	}
}

// deliverInOrder reports arrived parcels, in order, as far as they are taken.
func (s *side) deliverInOrder() {
	for len(s.inbox) > 0 && !s.over {
		p := s.inbox[0]
		if !s.canDeliver(p) {
			return
		}
		if s.inbox = s.inbox[1:]; len(s.inbox) == 0 {
			s.inbox = nil
		}
		s.reportParcel(p)
	}
}

// canDeliver reports whether a parcel may be told now. A frame waits for a place. A frame that is
// too long unless an earlier one leads to its sender's admission waits until those are
// taken.
func (s *side) canDeliver(p *parcel) bool {
	if p.what != toFrame || s.untaken == 0 {
		return true
	}
	length := len(p.frame)
	unjudged := length > connection.MaxGreetingBytes && length <= connection.MaxFrameBytes && !s.admitted
	return s.untaken < connection.MaxUntaken && !unjudged
}

// releaseFrameRoom makes room for a frame.
func (s *side) releaseFrameRoom() {
	if s.untaken > 0 {
		s.untaken--
		s.deliverInOrder()
	}
}

// reportParcel reports one parcel, which is then released.
func (s *side) reportParcel(p *parcel) {
	s.readOut(p)
	s.far.world.parcels.putParcel(p)
}

// readOut reports one parcel, unless the peer's side of its stream is over.
func (s *side) readOut(p *parcel) {
	at := s.findStream(p.stream)
	if at == nil || at.read {
		return
	}
	number := at.number
	switch p.what {
	case toFrame:
		length := len(p.frame)
		long := connection.TooLong{ID: s.id, Stream: number, Length: uint32(length)}
		switch {
		case length == 0 || length > connection.MaxFrameBytes:
			s.finishPeerSide(at)
			s.tellEvent(long)
		case length > connection.MaxGreetingBytes && !s.admitted:
			long.Type = p.frame[0]
			s.finishPeerSide(at)
			s.tellEvent(long)
		default:
			s.untaken++
			p.of.creditRead(length)
			s.tellEvent(connection.Came{ID: s.id, Stream: number, Frame: p.frame})
		}
	case toStall:
		s.finishPeerSide(at)
		s.tellEvent(connection.Stalled{ID: s.id, Stream: number})
	case toEnd:
		s.finishPeerSide(at)
		s.tellEvent(connection.Ended{ID: s.id, Stream: number})
	}
}

// onStreamReset is that the peer broke a stream off.
func (s *side) onStreamReset(number connection.Stream) {
	at := s.findOrOpenStream(number)
	if at == nil {
		return
	}
	over := at.read
	at.dropQueue() // this side is over when it ends the stream, or writes
	s.finishPeerSide(at)
	if !over {
		s.tellEvent(connection.Cut{ID: s.id, Stream: number})
	}
}
