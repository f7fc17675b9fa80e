package session

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// handleConnection takes an event of a connection.
func (m *Machine) handleConnection(p *peer, e connection.Event) {
	switch e := e.(type) {
	case connection.Up:
		m.onUp(p, e)
	case connection.Down:
		m.handleOver(p, e.Reason, p.stage == leaving)
	case connection.Came:
		m.onFrame(p, e)
		m.addVerb(connection.Taken{ID: p.id})
	case connection.TooLong:
		m.onTooLong(p, e)
	case connection.Stalled:
		m.leavePeer(p, push.Timeout)
	case connection.Stuck:
		m.closePeer(p, connection.CodeRefused, push.SlowReader)
	case connection.Opened:
		m.onStream(p, e.Stream, e)
	case connection.Ended:
		m.onEnded(p, e)
	case connection.Cut:
		m.onEnded(p, connection.Ended{ID: e.ID, Stream: e.Stream})
	default:
		panic(fmt.Sprintf("session: an event of type %T", e))
	}
}

// onUp says Hello. A peer that answers with another key than the validator's is not
// that validator.
func (m *Machine) onUp(p *peer, e connection.Up) {
	if e.Peer != p.PublicKey {
		m.closePeer(p, connection.CodeRefused, push.IdentityMismatch)
		return
	}
	p.stage = greeting
	p.due = m.now.Add(m.head.Params.HelloTimeoutMS.Duration())
	for i := 0; i < len(p.challenge); i += 8 {
		binary.BigEndian.PutUint64(p.challenge[i:], m.config.Chance.Uint64())
	}
	m.addVerb(connection.Admit{ID: p.id}) // a validator of the chain's may send what the wire allows
	m.addVerb(connection.Open{ID: p.id, Stream: connection.Control})
	m.sendFrame(p, &push.Hello{Version: push.Version, PartyPubkey: m.config.Signer.PublicKey(), PartyRole: push.Runner,
		BlockHeight: m.head.Height, ChallengeNonce: p.challenge})
}

// judgeFrame judges type and place of a frame on the control stream.
func (p *peer) judgeFrame(t push.Type) push.Reason {
	if err := push.Place(t, push.Control, push.Validator); err != nil {
		return push.ReasonOf(err)
	}
	switch {
	case t == push.TypeGoodbye,
		t == push.TypeHello && p.stage == greeting && !p.greeted,
		t == push.TypeHelloAck && p.stage == greeting && !p.proved,
		t == push.TypeHeartbeatPong && p.stage == live:
		return ""
	}
	return push.UnexpectedFrame
}

// onFrame judges a frame in the wire's order, and what it says.
func (m *Machine) onFrame(p *peer, e connection.Came) {
	if p.stage == leaving {
		return
	}
	if e.Stream != connection.Control {
		m.onStream(p, e.Stream, e)
		return
	}
	if why := p.judgeFrame(push.Type(e.Frame[0])); why != "" {
		m.leavePeer(p, why)
		return
	}
	if p.stage == live && len(p.ponged) > 0 && bytes.Equal(e.Frame, p.ponged) {
		return // a validator repeats a pong if a ping lags its head: a judged pong is not judged again
	}
	read, why := push.Read(e.Frame)
	if why != "" {
		m.leavePeer(p, why)
		return
	}
	switch f := read.(type) {
	case *push.Hello:
		m.onHello(p, f)
	case *push.HelloAck:
		m.onHelloAck(p, f)
	case *push.HeartbeatPong:
		if m.onPong(p, f) {
			p.ponged = e.Frame
		}
	case *push.Goodbye:
		m.handleGoodbye(p, f)
	}
}

// onTooLong judges a frame by its length.
func (m *Machine) onTooLong(p *peer, e connection.TooLong) {
	why := push.FrameTooLarge
	if e.Length == 0 {
		why = push.Malformed
	}
	m.leavePeer(p, why)
}

// onHello answers the validator's Hello.
func (m *Machine) onHello(p *peer, f *push.Hello) {
	if err := f.Check(push.Validator, p.PublicKey); err != nil {
		m.leavePeer(p, push.ReasonOf(err))
		return
	}
	p.greeted = true
	ack := &push.HelloAck{Version: push.Version, PartyPubkey: m.config.Signer.PublicKey(), PartyRole: push.Runner, BlockHeight: m.head.Height}
	ack.SignedChallenge = m.config.Signer.Sign(ack.Digest(m.config.ChainID, f.ChallengeNonce, p.PublicKey))
	m.sendFrame(p, ack)
	m.beginLive(p)
}

// onHelloAck judges the validator's proof.
func (m *Machine) onHelloAck(p *peer, f *push.HelloAck) {
	if err := f.Check(push.Validator, p.PublicKey); err != nil {
		m.leavePeer(p, push.ReasonOf(err))
		return
	}
	if !m.isSignedBy(p, f.Digest(m.config.ChainID, p.challenge, m.config.Signer.PublicKey()), f.SignedChallenge) {
		m.leavePeer(p, push.BadSignature)
		return
	}
	p.proved = true
	m.beginLive(p)
}

// beginLive makes the connection live when the exchange is done, and hands on frames
// that overtook it.
func (m *Machine) beginLive(p *peer) {
	if !p.greeted || !p.proved {
		return
	}
	p.stage, p.arrived, p.lived, p.refused = live, true, m.now, false
	m.addReport(Arrived{Validator: p.Address})
	early := p.early
	p.early = nil
	for _, e := range early {
		m.handOnJobEvent(p, e)
	}
}

// handleGoodbye closes at once, as the reader of a Goodbye must.
func (m *Machine) handleGoodbye(p *peer, f *push.Goodbye) {
	m.addVerb(connection.Close{ID: p.id, Code: connection.CodeDone})
	m.handleOver(p, string(f.Reason), false)
}

// leavePeer says Goodbye, and waits for the validator to close for the grace. Without a
// stream to say it on, closing is enough.
func (m *Machine) leavePeer(p *peer, why push.Reason) {
	switch p.stage {
	case apart, leaving:
	case dialling:
		m.closePeer(p, connection.CodeRefused, why)
	default:
		p.stage, p.reason = leaving, why
		p.due = m.now.Add(m.head.Params.GoodbyeGraceMS.Duration())
		m.sendFrame(p, &push.Goodbye{Reason: why})
		m.addVerb(connection.End{ID: p.id, Stream: connection.Control})
	}
}

// closePeer ends a connection for us.
func (m *Machine) closePeer(p *peer, code uint64, why push.Reason) {
	m.addVerb(connection.Close{ID: p.id, Code: code, Reason: string(why)})
	m.handleOver(p, string(why), true)
}
