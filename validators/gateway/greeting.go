package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// expectsFrame judges type and place of a frame on the control stream; where one of them
// is wrong the connection is left.
func (m *Machine) expectsFrame(p *peer, t push.Type) bool {
	if err := push.Place(t, push.Control, push.Runner); err != nil {
		m.connections.leavePeer(p, push.ReasonOf(err))
		return false
	}
	if !p.atItsTime(t) {
		m.connections.leavePeer(p, push.UnexpectedFrame)
		return false
	}
	return true
}

// atItsTime says when a frame of the control stream may come.
func (p *peer) atItsTime(t push.Type) bool {
	switch t {
	case push.TypeGoodbye:
		return true
	case push.TypeHello:
		return p.stage == silent
	case push.TypeHelloAck:
		return p.stage == greeting
	case push.TypeHeartbeatPing, push.TypeBackpressureSignal, push.TypeCapabilityDelta:
		return p.stage == live
	}
	return false
}

// onFrame judges a frame in the wire's order: type, place, rate, CBOR, version,
// fields; and what it says after that.
func (m *Machine) onFrame(p *peer, s connection.Stream, frame []byte) {
	if p.stage == leaving {
		return
	}
	t := push.Type(frame[0])
	if s.IsJob() {
		m.onJobFrame(p, s, t, frame)
		return
	}
	if !m.expectsFrame(p, t) || !m.isPaced(p, t, len(frame)) {
		return
	}
	read, why := push.Read(frame)
	if why != "" {
		m.connections.leavePeer(p, why)
		return
	}
	switch f := read.(type) {
	case *push.Hello:
		m.onHello(p, f)
	case *push.HelloAck:
		m.onHelloAck(p, f)
	case *push.HeartbeatPing:
		m.onPing(p, f)
	case *push.BackpressureSignal:
		m.onBackpressure(p, f)
	case *push.CapabilityDelta:
		m.onDelta(p, f)
	case *push.Goodbye:
		m.onGoodbye(p, f)
	}
}

// isPaced judges the rate of a frame on the control stream, and of its size in bytes.
func (m *Machine) isPaced(p *peer, t push.Type, size int) bool {
	ok := true
	switch {
	case t == push.TypeHello:
		ok = m.hellos.admitPeer(m.now, p, m.chain.headParams())
	case p.stage == live && t != push.TypeGoodbye:
		ok = p.frames.allowsOne(m.now, int(m.chain.headParams().ControlFramesPerSecond)) && m.long.allowsFrame(m.now, p.key, size)
	}
	if !ok {
		m.connections.leavePeer(p, push.RateLimited)
	}
	return ok
}

// onHello judges who the runner is, and answers with our Hello and HelloAck.
//
// Spec: CIP-11 §6.2.
func (m *Machine) onHello(p *peer, f *push.Hello) {
	m.chain.placePeer(p)
	if err := f.Check(push.Runner, p.key); err != nil {
		m.connections.leavePeer(p, push.ReasonOf(err))
		return
	}
	if !p.isServedHere() {
		m.connections.leavePeer(p, p.misses)
		return
	}
	p.stage = greeting
	p.challenge = m.config.newNonce()
	m.connections.sendFrame(p, connection.Control, &push.Hello{Version: push.Version, PartyPubkey: m.config.ownKey(),
		PartyRole:   push.Validator,
		BlockHeight: m.chain.head.Height, ChallengeNonce: p.challenge})
	ack := &push.HelloAck{Version: push.Version, PartyPubkey: m.config.ownKey(), PartyRole: push.Validator, BlockHeight: m.chain.head.Height}
	ack.SignedChallenge = m.config.signDigest(ack.Digest(m.config.ChainID, f.ChallengeNonce, p.key))
	m.connections.sendFrame(p, connection.Control, ack)
}

// onHelloAck makes a connection live, in place of an older one of the same runner.
func (m *Machine) onHelloAck(p *peer, f *push.HelloAck) {
	if err := f.Check(push.Runner, p.key); err != nil {
		m.connections.leavePeer(p, push.ReasonOf(err))
		return
	}
	if !m.config.isSignedBy(p, f.Digest(m.config.ChainID, p.challenge, m.config.ownKey()), f.SignedChallenge) {
		m.connections.leavePeer(p, push.BadSignature)
		return
	}
	if former := m.connections.live[p.key]; former != nil {
		m.connections.leavePeer(former, push.Replaced)
		m.connections.attestPeer(former) // before the bit of the new one, which is the same
	}
	p.stage, p.since = live, m.now
	m.connections.live[p.key] = p
	m.addVerb(connection.Admit{ID: p.id})
	m.addReport(Arrived{Runner: p.address, Remote: p.remote})
	m.chain.placePeer(p) // a head may have come since its Hello
	m.deliverOpen(p)
	m.connections.leaveIfIdle(p)
}

// onBackpressure stores a runner's report on its load, and passes it on if it
// changed.
//
// Spec: CIP-11 §6.4, decision J22.
func (m *Machine) onBackpressure(p *peer, f *push.BackpressureSignal) {
	said := Load{Active: f.ActiveJobs, Most: f.MaxConcurrent, Accepting: f.AcceptingNew, Reason: reasonOf(f.Reason)}
	p.accepting = said.Accepting
	if p.load == nil || *p.load != said {
		p.load = &said
		m.addReport(Pressed{Runner: p.address, Load: said})
	}
}

// onDelta stores a runner's report on its capabilities.
func (m *Machine) onDelta(p *peer, f *push.CapabilityDelta) {
	if !m.config.isSignedBy(p, f.Digest(m.config.ChainID), f.Signed) {
		m.connections.leavePeer(p, push.BadSignature)
		return
	}
	p.changed.applyDelta(f)
	m.addReport(Amended{Runner: p.address, Said: amendmentOf(f)})
}

// onGoodbye closes at once, as the reader of a Goodbye must.
func (m *Machine) onGoodbye(p *peer, f *push.Goodbye) {
	m.connections.notLive(p, string(f.Reason))
	m.connections.closePeer(p, connection.CodeDone, "")
}
