package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// onHead takes the newest final block: it is announced to all runners, and its
// changes take effect.
func (m *Machine) onHead(h *Head) {
	before := m.chain.head
	m.chain.rise(h)
	if h.Params.WriteTimeoutMS != before.Params.WriteTimeoutMS {
		m.do(connection.Patience{Write: h.Params.WriteTimeoutMS.Duration()})
	}
	if !m.chain.phase().Connects() {
		m.connections.shutdown()
	}
	for _, p := range m.connections.order {
		if p.stage == live {
			m.chain.place(p)
			m.attendDeliveries(p)
			m.deliver(p)
			m.connections.leaveDrained(p)
		}
		if p.stage == live {
			m.herald.add(m.now, h.Params.PingSpread(), p)
		}
		m.connections.attest(p)
	}
	m.drafts.drop(h.Height)
	m.results.advanceReady()
}

// serves reports whether the runner belonged to this validator at the last look.
func (p *peer) serves() bool { return p.misses == "" }

// pong tells a runner the head. One of each head is signed.
//
// Spec: CIP-11 §6.3, decision J13.
func (m *Machine) pong(p *peer) {
	if p.ponged == nil || p.pongedAt != m.chain.head.Height {
		f := &push.HeartbeatPong{BlockHeight: m.chain.head.Height}
		f.ValidatorSigned = m.config.sign(f.Digest(m.config.ChainID, p.key))
		p.ponged, p.pongedAt = push.Write(f), m.chain.head.Height
	}
	m.do(connection.Send{ID: p.id, Stream: connection.Control, Frame: p.ponged})
}
