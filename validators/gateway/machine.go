package gateway

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Verifier judges signatures (decision C10).
type Verifier interface {
	Recover(digest types.Hash, sig types.Signature) (signer types.Address, ok bool)
}

// Config is what a machine is made of.
type Config struct {
	ChainID  uint64
	Signer   crypto.Signer // of the validator
	Verifier Verifier
	// Chance makes the nonces that runners sign. Nobody outside may foresee it.
	Chance *rand.Rand
}

// Machine is all connections of one validator with runners.
type Machine struct {
	config Config
	head   *Head
	blocks uint64 // up to the head, of those the machine heard of; skipped heights are none

	peers  map[connection.ID]*peer
	order  []*peer                   // connections as they came up; some may be over
	live   map[types.PublicKey]*peer // connections whose exchange of Hellos is done
	alarms alarms
	herald herald

	byIdentity window[types.PublicKey]
	byAddress  window[connection.Address]

	held      map[heldID]*held
	heldOrder []*held // what is held, in the order it came
	heldBytes int

	now types.Time // of the step
	out Output     // of the step
}

// New returns a machine without connections, at the newest final block.
func New(config Config, head *Head) (*Machine, Output) {
	m := &Machine{config: config, head: head, peers: map[connection.ID]*peer{},
		live: map[types.PublicKey]*peer{}, held: map[heldID]*held{}}
	m.do(connection.Patience{Write: head.Params.WriteTimeout})
	return m, m.taken()
}

// Step takes an event at a time that is none before the last.
func (m *Machine) Step(now types.Time, e Event) Output {
	m.now = now
	switch e := e.(type) {
	case Connection:
		m.connection(e.Event)
	case *Head:
		m.onHead(e)
	case Polled:
		m.onPolled(e)
	case Stop:
		m.shutdown()
	case Tick:
	default:
		panic(fmt.Sprintf("gateway: an event of type %T", e))
	}
	m.ring()
	m.announce()
	m.sweep()
	return m.taken()
}

// Deadline is when a Tick is due, or types.Never.
func (m *Machine) Deadline() types.Time { return min(m.alarms.next(), m.herald.due()) }

// ring looks at what is due.
func (m *Machine) ring() {
	for {
		a, ok := m.alarms.due(m.now)
		if !ok {
			return
		}
		p := m.peers[a.id]
		if p == nil {
			continue
		}
		switch a.why {
		case helloDue:
			if p.stage < live {
				m.leave(p, push.Timeout)
			}
		case goodbyeDone:
			m.close(p, p.reason.Code(), string(p.reason))
		case ackDue:
			m.judgeSilence(p, p.delivery(a.stream))
		case lingerDone:
			m.endLinger(p, p.delivery(a.stream))
		}
		m.attest(p)
	}
}

func (m *Machine) taken() Output {
	out := m.out
	m.out = Output{}
	return out
}

func (m *Machine) do(v connection.Verb)                   { m.out.Do = append(m.out.Do, v) }
func (m *Machine) report(r Report)                        { m.out.Report = append(m.out.Report, r) }
func (m *Machine) submit(s Submission)                    { m.out.Submit = append(m.out.Submit, s) }
func (m *Machine) params() *Params                        { return &m.head.Params }
func (m *Machine) own() types.PublicKey                   { return m.config.Signer.PublicKey() }
func (m *Machine) sign(digest types.Hash) types.Signature { return m.config.Signer.Sign(digest) }

// connection takes an event of a connection.
func (m *Machine) connection(e connection.Event) {
	if up, is := e.(connection.Up); is {
		m.onUp(up)
		return
	}
	p := m.peers[e.Of()]
	if p == nil {
		return // it is over for us
	}
	switch e := e.(type) {
	case connection.Down:
		m.onDown(p, e)
	case connection.Opened:
		m.onOpened(p, e.Stream)
	case connection.Came:
		m.onFrame(p, e.Stream, e.Frame)
		m.do(connection.Taken{ID: p.id})
	case connection.TooLong:
		m.onTooLong(p, e)
	case connection.Stalled:
		m.leave(p, push.Timeout)
	case connection.Ended:
		m.onEnded(p, e.Stream, e.Torn)
	case connection.Cut:
		m.onEnded(p, e.Stream, false)
	case connection.Stuck:
		m.leaveWithout(p, push.SlowReader)
	default:
		panic(fmt.Sprintf("gateway: an event of type %T", e))
	}
	m.attest(p)
}

// onUp begins to wait for a runner's Hello.
func (m *Machine) onUp(e connection.Up) {
	address, err := crypto.AddressOf(e.Peer)
	if err != nil || m.peers[e.ID] != nil {
		panic(fmt.Sprintf("gateway: connection %d is up twice, or without a key: %v", e.ID, err))
	}
	p := &peer{id: e.ID, key: e.Peer, address: address, remote: e.Remote, accepting: true}
	switch {
	case !m.params().connects():
		m.do(connection.Close{ID: e.ID, Code: connection.CodeDone, Reason: string(push.Shutdown)})
		return
	case len(m.peers) >= MaxConnections:
		m.do(connection.Close{ID: e.ID, Code: connection.CodeRefused, Reason: string(push.RateLimited)})
		return
	}
	m.peers[e.ID] = p
	m.order = append(m.order, p)
	m.alarms.set(alarm{at: m.now.Add(m.params().HelloTimeout), id: e.ID, why: helloDue})
}

// onDown forgets a connection. Its runner is not present from now on (CIP-11 §11.3).
func (m *Machine) onDown(p *peer, e connection.Down) {
	m.notLive(p, e.Reason)
	m.forget(p)
}

// onOpened takes note of the control stream. The runner has no other to open.
func (m *Machine) onOpened(p *peer, s connection.Stream) {
	if p.stage == leaving {
		return
	}
	if s != connection.Control {
		m.leave(p, push.UnexpectedStream)
		return
	}
	p.opened = true
}

// onTooLong judges a frame by its length, and where that may come later, by what
// comes before: a frame that is no greeting by its type is not expected, and a
// greeting is never so long.
func (m *Machine) onTooLong(p *peer, e connection.TooLong) {
	switch {
	case p.stage == leaving:
	case e.Length == 0:
		m.leave(p, push.Malformed)
	case e.Length > connection.MaxFrameBytes:
		m.leave(p, push.FrameTooLarge)
	default:
		if m.expects(p, push.Type(e.Type)) {
			m.leave(p, push.Malformed)
		}
	}
}

// onEnded takes the end of the runner's side of a stream.
func (m *Machine) onEnded(p *peer, s connection.Stream, torn bool) {
	switch {
	case p.stage == leaving:
	case torn:
		m.leave(p, push.Malformed)
	case s == connection.Control:
		// There is no connection without it (CIP-11 §6.1), and the runner said no
		// Goodbye: it left.
		m.close(p, connection.CodeDone, "")
	default:
		m.onStreamEnded(p, p.delivery(s))
	}
}

// forget drops what is known of a connection.
func (m *Machine) forget(p *peer) {
	p.stage = over
	delete(m.peers, p.id)
}

// sweep clears the order when half of it is over, so that it costs nothing much for
// each connection.
func (m *Machine) sweep() {
	if len(m.order) > 2*len(m.peers) {
		m.order = slices.DeleteFunc(m.order, func(p *peer) bool { return p.stage == over })
	}
}
