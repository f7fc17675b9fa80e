package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// onHead takes the newest final block: it is announced to all runners, and its
// changes take effect.
func (m *Machine) onHead(h *Head) {
	before := m.chain.head
	m.chain.takeHead(h)
	if h.Params.WriteTimeoutMS != before.Params.WriteTimeoutMS {
		m.addVerb(connection.Patience{Write: h.Params.WriteTimeoutMS.Duration()})
	}
	if !m.chain.headPhase().Connects() {
		m.connections.leaveAll()
	}
	for _, p := range m.connections.order {
		if p.stage == live {
			m.chain.placePeer(p)
			m.attendDeliveries(p)
			m.deliverOpen(p)
			m.connections.leaveIfIdle(p)
		}
		if p.stage == live {
			m.herald.addPeer(m.now, h.Params.PingSpread(), p)
		}
		m.connections.attestPeer(p)
	}
	m.drafts.dropUpTo(h.Height)
	m.results.advanceReady()
}

// isServedHere reports whether the runner belonged to this validator at the last look.
func (p *peer) isServedHere() bool { return p.misses == "" }

// sendPong tells a runner the head. One of each head is signed.
//
// Spec: CIP-11 §6.3, decision J13.
func (m *Machine) sendPong(p *peer) {
	if p.ponged == nil || p.pongedAt != m.chain.head.Height {
		f := &push.HeartbeatPong{BlockHeight: m.chain.head.Height}
		f.ValidatorSigned = m.config.signDigest(f.Digest(m.config.ChainID, p.key))
		p.ponged, p.pongedAt = push.Write(f), m.chain.head.Height
	}
	m.addVerb(connection.Send{ID: p.id, Stream: connection.Control, Frame: p.ponged})
}
