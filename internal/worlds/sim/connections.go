package sim

import (
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// connections implements env.Connections for one process, over the links of the
// world: at a runner's end, which dials, or at a validator's. QUIC's own behaviour is
// cut off: loss costs the time of a retransmission, duplicates do not arrive, and
// overtaken frames wait for their stream.
type connections struct {
	process    *process
	dials      bool // the process is a runner, and dials
	jobStreams int  // how many a validator may have open at a runner
	receive    func(connection.Event)
	closed     bool
	sides      map[connection.ID]*side // looked up only
	recent     *side                   // the side used last, or nil: mostly it is the next
	first      *side                   // the oldest side, from which next leads to the others
	last       *side
	lastID     connection.ID
	patience   time.Duration // how long a write may be blocked
}

// newGatewayEnd is a validator's end.
func (l *process) newGatewayEnd() env.Connections { return l.newConnections(&connections{}) }

// newRunnerEnd returns a runner's end, on which a validator may have jobStreams streams
// of jobs open.
func (l *process) newRunnerEnd(jobStreams int) env.Connections {
	return l.newConnections(&connections{dials: true, jobStreams: max(jobStreams, connection.LeastJobStreams)})
}

func (l *process) newConnections(c *connections) env.Connections {
	c.process, c.sides, c.patience = l, map[connection.ID]*side{}, 2*time.Second
	l.connections = c
	return c
}

// Endpoint is where the node of a name lets runners dial.
func Endpoint(name string) string { return name }

// remoteAddress returns the address of a machine: each has a distinct one.
func (n *node) remoteAddress() connection.Address {
	return connection.Address{10: 0xff, 11: 0xff, 12: 10, 13: byte(n.index >> 16), 14: byte(n.index >> 8), 15: byte(n.index)}
}

// Start implements env.Connections.
func (c *connections) Start(receive func(connection.Event)) error {
	switch {
	case c.process.dead:
		return ErrCrashed
	case c.receive != nil || c.closed:
		return fmt.Errorf("sim: the connections of %s were started twice, or after their end", c.process.node.name)
	}
	c.receive = receive
	return nil
}

// isServing says whether connections come up here.
func (c *connections) isServing() bool { return c.receive != nil && !c.closed && !c.process.dead }

// Do implements env.Connections.
func (c *connections) Do(v connection.Verb) {
	if !c.isServing() {
		return
	}
	switch v := v.(type) {
	case connection.Patience:
		c.patience = v.Write
	case connection.Dial:
		c.dialEndpoint(v)
	case connection.Admit:
		c.withLiveSide(v.ID, func(s *side) { s.admitted = true })
	case connection.Open:
		c.withLiveSide(v.ID, func(s *side) { s.openStream(v.Stream) })
	case connection.Send:
		c.process.crashIfDue(BeforeSend)
		c.withLiveSide(v.ID, func(s *side) { s.queueFrame(v.Stream, v.Frame) })
		c.process.crashIfDue(AfterSend)
	case connection.End:
		c.withLiveSide(v.ID, func(s *side) { s.endStream(v.Stream) })
	case connection.Reset:
		c.withLiveSide(v.ID, func(s *side) { s.resetStream(v.Stream, v.Code) })
	case connection.Close:
		if s := c.sides[v.ID]; s != nil && !s.closing {
			s.closeBothSides(v.Code, v.Reason)
		}
	case connection.Taken:
		c.withLiveSide(v.ID, (*side).releaseFrameRoom)
	default:
		panic(fmt.Sprintf("sim: connections do no %T", v))
	}
}

// withLiveSide does something to a connection that is up and stays so.
func (c *connections) withLiveSide(id connection.ID, do func(*side)) {
	s := c.recent
	if s == nil || s.id != id {
		if s = c.sides[id]; s == nil {
			return
		}
		c.recent = s
	}
	if s.up && !s.closing {
		do(s)
	}
}

// Close implements env.Connections: the peers are told.
func (c *connections) Close() error {
	if c.closed {
		return nil
	}
	for s := c.first; s != nil; s = s.next {
		s.closeBothSides(connection.CodeDone, "shutdown")
	}
	for c.first != nil {
		c.first.endSide(connection.Down{Code: connection.CodeDone, Reason: "shutdown"})
	}
	c.closed = true
	return nil
}

// addSide makes a connection known.
func (c *connections) addSide(s *side) {
	c.sides[s.id] = s
	if s.previous = c.last; s.previous == nil {
		c.first = s
	} else {
		s.previous.next = s
	}
	c.last = s
}

// forgetSide takes one that is over from those that are known.
func (c *connections) forgetSide(s *side) {
	delete(c.sides, s.id)
	if c.recent == s {
		c.recent = nil
	}
	if s.previous == nil {
		c.first = s.next
	} else {
		s.previous.next = s.next
	}
	if s.next == nil {
		c.last = s.previous
	} else {
		s.next.previous = s.previous
	}
}

// dialEndpoint begins a connection with the node that listens at an endpoint.
func (c *connections) dialEndpoint(v connection.Dial) {
	if !c.dials {
		panic("sim: a validator's end does not dial")
	}
	if c.sides[v.ID] != nil {
		return
	}
	w := c.process.node.world
	s := &side{host: c, process: c.process, id: v.ID, dialed: true}
	c.addSide(s)
	fail := func(reason string) {
		if !s.up && !s.over {
			s.endSide(connection.Down{Reason: reason})
		}
	}
	at := c.process.timeAfterWork()
	target := w.byName[v.Endpoint]
	if target == nil || target == c.process.node {
		w.At(at, func() { fail(fmt.Sprintf("no node listens on the endpoint %.40q", v.Endpoint)) })
		return
	}
	s.far, s.out = target, w.findOrAddLink(c.process.node, target)
	s.sendParcel(&parcel{what: toDial})
	w.At(at.Add(connection.HandshakeTime), func() { fail("timeout: handshake did not complete in time") })
}

// answerDial makes a validator's side of a dialled connection.
func (s *side) answerDial() {
	var host *connections
	if s.far.process != nil {
		host = s.far.process.connections
	}
	switch {
	case s.over || s.far.process == nil: // the dialler's time passes
	case host == nil || host.dials:
		s.far.world.After(s.far.world.findOrAddLink(s.far, s.process.node).Latency, func() {
			if !s.up && !s.over {
				s.endSide(connection.Down{Closed: true, Reason: "no runner is let in here"})
			}
		})
	default:
		peer := &side{host: host, process: host.process, peer: s, far: s.process.node, out: s.far.world.findOrAddLink(s.far, s.process.node)}
		peer.sendParcel(&parcel{what: toAnswer, to: s})
	}
}

// openBothSides brings a dialler's side up, whose handshake the peer has answered, and then
// the peer's.
func (s *side) openBothSides(peer *side) {
	if s.over || s.up {
		return
	}
	s.peer, s.up = peer, true
	s.sendParcel(&parcel{what: toFinish, to: peer})
	s.tellEvent(connection.Up{ID: s.id, Peer: peer.process.node.parts.Signer.PublicKey(), Remote: s.far.remoteAddress()})
}

// openValidatorSide brings a validator's side up.
func (s *side) openValidatorSide() {
	c := s.host
	switch {
	case !c.isServing():
		s.sendParcel(&parcel{what: toClose, to: s.peer, code: connection.CodeDone, reason: "shutdown"})
	case len(c.sides) >= connection.MaxConnections:
		s.sendParcel(&parcel{what: toClose, to: s.peer, code: connection.CodeDone, reason: "there are too many"})
	default:
		c.lastID++
		s.id, s.up = c.lastID, true
		c.addSide(s)
		s.tellEvent(connection.Up{ID: s.id, Peer: s.peer.process.node.parts.Signer.PublicKey(), Remote: s.far.remoteAddress()})
	}
}

// timeAfterWork returns when a process's actions take effect: after the work of the role in
// its step.
func (l *process) timeAfterWork() types.Time {
	w := l.node.world
	if w.current != nil && w.current.process == l {
		return max(w.now, w.current.busy)
	}
	return w.now
}
