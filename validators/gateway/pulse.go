package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// onPing records that a runner is present, and answers.
//
// Spec: CIP-11 §6.3.
func (m *Machine) onPing(p *peer, f *push.HeartbeatPing) {
	switch {
	case p.pinged && f.Nonce <= p.nonce:
		m.connections.leavePeer(p, push.BadNonce)
		return
	case !m.config.isSignedBy(p, m.digestOf(f), f.Signed):
		m.connections.leavePeer(p, push.BadSignature)
		return
	}
	p.nonce, p.pinged = f.Nonce, true
	p.ping, p.present = m.chain.markNow(m.now), true // also after a hard failure (CIP-11 §10.6, presence floor)
	m.sendPong(p)
	if p.unheard { // it need not wait for its turn: both frames go out together
		m.sendUnaskedPong(p)
	}
	m.submitHeartbeat(p, f)
}

// lastPing is what a ping's sender signed. A ping names neither runner nor validator, so
// that one digest does for all who say the same.
type lastPing struct {
	height types.Height
	nonce  uint64
	digest types.Hash // zero before the first
}

// digestOf is what a ping's sender signed.
func (m *Machine) digestOf(f *push.HeartbeatPing) types.Hash {
	if l := &m.lastPing; l.digest.IsZero() || l.height != f.BlockHeight || l.nonce != f.Nonce {
		*l = lastPing{f.BlockHeight, f.Nonce, f.Digest(m.config.ChainID)}
	}
	return m.lastPing.digest
}

// submitHeartbeat brings a ping on chain where the last heartbeat there is old enough
// (decision J18). In sunset heartbeats are not required (CIP-11 §14).
func (m *Machine) submitHeartbeat(p *peer, f *push.HeartbeatPing) {
	registered := p.registered
	if registered == nil || registered.Deregistered || m.chain.headPhase() == selection.Sunset {
		return
	}
	last := registered.LastHeartbeat
	ripe := f.BlockHeight <= m.chain.head.Height && f.BlockHeight >= last && uint64(f.BlockHeight-last) >= m.chain.heartbeatBlocks(p)
	onItsWay := p.beaten && p.beat > last && uint64(m.chain.head.Height-p.beat) < heartbeatAgainBlocks
	if !ripe || onItsWay {
		return
	}
	p.beat, p.beaten = m.chain.head.Height, true
	m.addSubmission(Heartbeat{Runner: p.address, Ping: *f})
}
