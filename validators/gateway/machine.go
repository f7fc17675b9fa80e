package gateway

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Machine is all connections of one validator with runners: its parts, and what
// happens between them.
type Machine struct {
	*step
	config      Config
	chain       chain
	connections connections
	hellos      hellos
	long        longFrames
	herald      herald
	lastPing    lastPing
	drafts      drafts
	results     results
}

// New returns a machine without connections, at the newest final block.
func New(config Config, head *Head) (*Machine, Output) {
	m := &Machine{step: &step{}, config: config, chain: chain{self: config.Signer.Address(), head: head}}
	m.connections = connections{step: m.step, chain: &m.chain, peers: map[connection.ID]*peer{}, live: map[types.PublicKey]*peer{}}
	m.results = results{step: m.step, chain: &m.chain, index: newHeldIndex(), of: map[types.Address]int{}}
	m.addVerb(connection.Patience{Write: head.Params.WriteTimeoutMS.Duration()})
	return m, m.takeOutput()
}

// Step takes an event; times never decrease.
func (m *Machine) Step(now types.Time, e Event) Output {
	m.now = now
	switch e := e.(type) {
	case Connection:
		m.handleConnection(e.Event)
	case *Head:
		m.onHead(e)
	case Foreseen:
		m.onForeseen(e)
	case Polled:
		m.onPolled(e)
	case Unkept:
		m.results.index.markLoss(e.Runner, e.Job) // the next head submits it again
	case Stop:
		m.connections.leaveAll()
	case Tick:
	default:
		panic(fmt.Sprintf("gateway: an event of type %T", e))
	}
	m.handleDueAlarms()
	m.announceHead()
	m.connections.sweepOrder()
	return m.takeOutput()
}

// Deadline is when a Tick is due, or types.Never.
func (m *Machine) Deadline() types.Time {
	return min(m.connections.alarms.nextTime(), m.herald.nextTurnTime())
}

// handleDueAlarms handles the entries that are due.
func (m *Machine) handleDueAlarms() {
	for {
		a, ok := m.connections.alarms.takeDue(m.now)
		if !ok {
			return
		}
		p := m.connections.peers[a.id]
		if p == nil {
			continue
		}
		switch a.why {
		case helloDue:
			if p.stage < live {
				m.connections.leavePeer(p, push.Timeout)
			}
		case goodbyeDone:
			m.connections.closePeer(p, p.reason.Code(), string(p.reason))
		case ackDue:
			m.onSilence(p, p.findDelivery(a.stream))
		case lingerDone:
			m.endLinger(p, p.findDelivery(a.stream))
		}
		m.connections.attestPeer(p)
	}
}

// handleConnection takes an event of a connection.
func (m *Machine) handleConnection(e connection.Event) {
	if up, is := e.(connection.Up); is {
		m.connections.onUp(up)
		return
	}
	p := m.connections.peers[e.Of()]
	if p == nil {
		return // it is over for us
	}
	switch e := e.(type) {
	case connection.Down:
		m.connections.onDown(p, e)
	case connection.Opened:
		m.onOpened(p, e.Stream)
	case connection.Came:
		m.onFrame(p, e.Stream, e.Frame)
		m.addVerb(connection.Taken{ID: p.id})
	case connection.TooLong:
		m.onTooLong(p, e)
	case connection.Stalled:
		m.connections.leavePeer(p, push.Timeout)
	case connection.Ended:
		m.onEnded(p, e.Stream, e.Torn)
	case connection.Cut:
		m.onEnded(p, e.Stream, false)
	case connection.Stuck:
		m.connections.leaveWithout(p, push.SlowReader)
	default:
		panic(fmt.Sprintf("gateway: an event of type %T", e))
	}
	m.connections.attestPeer(p)
}

// onOpened takes note of the control stream. The runner has no other to open.
func (m *Machine) onOpened(p *peer, s connection.Stream) {
	if p.stage == leaving {
		return
	}
	if s != connection.Control {
		m.connections.leavePeer(p, push.UnexpectedStream)
		return
	}
	p.opened = true
}

// onTooLong judges a frame by its length. If its type may be valid later, earlier
// frames decide: a frame that is not a greeting is unexpected, and a greeting is
// never this long.
func (m *Machine) onTooLong(p *peer, e connection.TooLong) {
	switch {
	case p.stage == leaving:
	case e.Length == 0:
		m.connections.leavePeer(p, push.Malformed)
	case e.Length > connection.MaxFrameBytes:
		m.connections.leavePeer(p, push.FrameTooLarge)
	default:
		if m.expectsFrame(p, push.Type(e.Type)) {
			m.connections.leavePeer(p, push.Malformed)
		}
	}
}

// onEnded takes the end of the runner's side of a stream.
func (m *Machine) onEnded(p *peer, s connection.Stream, torn bool) {
	switch {
	case p.stage == leaving:
	case torn:
		m.connections.leavePeer(p, push.Malformed)
	case s == connection.Control:
		// There is no connection without it (CIP-11 §6.1), and the runner said no
		// Goodbye: it left.
		m.connections.closePeer(p, connection.CodeDone, "")
	default:
		m.onStreamEnded(p, p.findDelivery(s))
	}
}
