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

// tell hands an event on, unless the connection is over or its process is dead.
func (s *side) tell(e connection.Event) {
	c := s.host
	if s.over || s.process.dead || c.receive == nil {
		return
	}
	n := s.process.node
	n.world.trace.told(n.world.now, n, s.far, e)
	if n.frozen != nil {
		n.frozen.Held.Add(1)
	}
	if s.up {
		c.recent = s
	}
	c.receive(e)
}

// down ends a side, once.
func (s *side) down(e connection.Down) {
	if s.host.sides[s.id] != s { // it is over, or was never up
		return
	}
	e.ID = s.id
	s.tell(e)
	s.over, s.closing = true, true
	s.inbox, s.stalled, s.streams, s.opening = nil, nil, nil, nil
	s.host.forget(s)
}

// lost ends a side that has heard nothing for too long.
func (s *side) lost() { s.down(connection.Down{Reason: "timeout: no recent network activity"}) }

// close ends both sides: this one at once.
func (s *side) close(code uint64, reason string) {
	if s.closing {
		return
	}
	s.closing = true
	w := s.process.node.world
	mine := connection.Down{Code: code, Reason: reason}
	if !s.up {
		mine = connection.Down{Reason: "given up"}
	} else {
		s.depart(&parcel{what: toClose, to: s.peer, code: code, reason: reason})
		s.peer.loseIn(s.process.present()) // where that does not come
	}
	w.At(s.process.present(), func() { s.down(mine) })
}

// loseIn ends a side whose peer says nothing from a time on.
func (s *side) loseIn(silent types.Time) {
	s.process.node.world.At(silent.Add(connection.IdleTime), s.lost)
}

// sever has the peers of a process that died find it out.
func (c *connections) sever() {
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
				s.lost()
			}
		})
	}
}

// deliver reports arrived parcels, in order, as far as they are taken.
func (s *side) deliver() {
	for len(s.inbox) > 0 && !s.over {
		p := s.inbox[0]
		if !s.ready(p) {
			return
		}
		if s.inbox = s.inbox[1:]; len(s.inbox) == 0 {
			s.inbox = nil
		}
		s.read(p)
	}
}

// ready reports whether a parcel may be told now. A frame waits for a place. A frame that is
// too long unless an earlier one leads to its sender's admission waits until those are
// taken.
func (s *side) ready(p *parcel) bool {
	if p.what != toFrame || s.untaken == 0 {
		return true
	}
	length := len(p.frame)
	unjudged := length > connection.MaxGreetingBytes && length <= connection.MaxFrameBytes && !s.admitted
	return s.untaken < connection.MaxUntaken && !unjudged
}

// taken makes room for a frame.
func (s *side) taken() {
	if s.untaken > 0 {
		s.untaken--
		s.deliver()
	}
}

// read reports one parcel, which is then released.
func (s *side) read(p *parcel) {
	s.readOut(p)
	s.far.world.parcels.put(p)
}

// readOut reports one parcel, unless the peer's side of its stream is over.
func (s *side) readOut(p *parcel) {
	at := s.find(p.stream)
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
			s.finish(at)
			s.tell(long)
		case length > connection.MaxGreetingBytes && !s.admitted:
			long.Type = p.frame[0]
			s.finish(at)
			s.tell(long)
		default:
			s.untaken++
			p.of.credit(length)
			s.tell(connection.Came{ID: s.id, Stream: number, Frame: p.frame})
		}
	case toStall:
		s.finish(at)
		s.tell(connection.Stalled{ID: s.id, Stream: number})
	case toEnd:
		s.finish(at)
		s.tell(connection.Ended{ID: s.id, Stream: number})
	}
}

// broken is that the peer broke a stream off.
func (s *side) broken(number connection.Stream) {
	at := s.heard(number)
	if at == nil {
		return
	}
	over := at.read
	at.die() // this side is over when it ends the stream, or writes
	s.finish(at)
	if !over {
		s.tell(connection.Cut{ID: s.id, Stream: number})
	}
}
