package session

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// connection takes an event of a connection.
func (m *Machine) connection(p *peer, e connection.Event) {
	switch e := e.(type) {
	case connection.Up:
		m.onUp(p, e)
	case connection.Down:
		m.over(p, e.Reason, p.stage == leaving)
	case connection.Came:
		m.onFrame(p, e)
		m.do(connection.Taken{ID: p.id})
	case connection.TooLong:
		m.onTooLong(p, e)
	case connection.Stalled:
		m.leave(p, push.Timeout)
	case connection.Stuck:
		m.close(p, connection.CodeRefused, push.SlowReader)
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
		m.close(p, connection.CodeRefused, push.IdentityMismatch)
		return
	}
	p.stage = greeting
	p.due = m.now.Add(m.head.Params.HelloTimeoutMS.Duration())
	for i := 0; i < len(p.challenge); i += 8 {
		binary.BigEndian.PutUint64(p.challenge[i:], m.config.Chance.Uint64())
	}
	m.do(connection.Admit{ID: p.id}) // a validator of the chain's may send what the wire allows
	m.do(connection.Open{ID: p.id, Stream: connection.Control})
	m.send(p, &push.Hello{Version: push.Version, PartyPubkey: m.config.Signer.PublicKey(), PartyRole: push.Runner,
		BlockHeight: m.head.Height, ChallengeNonce: p.challenge})
}

// expects judges type and place of a frame on the control stream.
func (p *peer) expects(t push.Type) push.Reason {
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
	if why := p.expects(push.Type(e.Frame[0])); why != "" {
		m.leave(p, why)
		return
	}
	if p.stage == live && len(p.ponged) > 0 && bytes.Equal(e.Frame, p.ponged) {
		return // a validator repeats a pong if a ping lags its head: a judged pong is not judged again
	}
	read, why := push.Read(e.Frame)
	if why != "" {
		m.leave(p, why)
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
		m.goodbye(p, f)
	}
}

// onTooLong judges a frame by its length.
func (m *Machine) onTooLong(p *peer, e connection.TooLong) {
	why := push.FrameTooLarge
	if e.Length == 0 {
		why = push.Malformed
	}
	m.leave(p, why)
}

// onHello answers the validator's Hello.
func (m *Machine) onHello(p *peer, f *push.Hello) {
	if err := f.Check(push.Validator, p.PublicKey); err != nil {
		m.leave(p, push.ReasonOf(err))
		return
	}
	p.greeted = true
	ack := &push.HelloAck{Version: push.Version, PartyPubkey: m.config.Signer.PublicKey(), PartyRole: push.Runner, BlockHeight: m.head.Height}
	ack.SignedChallenge = m.config.Signer.Sign(ack.Digest(m.config.ChainID, f.ChallengeNonce, p.PublicKey))
	m.send(p, ack)
	m.begin(p)
}

// onHelloAck judges the validator's proof.
func (m *Machine) onHelloAck(p *peer, f *push.HelloAck) {
	if err := f.Check(push.Validator, p.PublicKey); err != nil {
		m.leave(p, push.ReasonOf(err))
		return
	}
	if !m.signed(p, f.Digest(m.config.ChainID, p.challenge, m.config.Signer.PublicKey()), f.SignedChallenge) {
		m.leave(p, push.BadSignature)
		return
	}
	p.proved = true
	m.begin(p)
}

// begin makes the connection live when the exchange is done, and hands on frames
// that overtook it.
func (m *Machine) begin(p *peer) {
	if !p.greeted || !p.proved {
		return
	}
	p.stage, p.arrived, p.lived, p.refused = live, true, m.now, false
	m.report(Arrived{Validator: p.Address})
	early := p.early
	p.early = nil
	for _, e := range early {
		m.jobs(p, e)
	}
}

// goodbye closes at once, as the reader of a Goodbye must.
func (m *Machine) goodbye(p *peer, f *push.Goodbye) {
	m.do(connection.Close{ID: p.id, Code: connection.CodeDone})
	m.over(p, string(f.Reason), false)
}

// leave says Goodbye, and waits for the validator to close for the grace. Without a
// stream to say it on, closing is enough.
func (m *Machine) leave(p *peer, why push.Reason) {
	switch p.stage {
	case apart, leaving:
	case dialling:
		m.close(p, connection.CodeRefused, why)
	default:
		p.stage, p.reason = leaving, why
		p.due = m.now.Add(m.head.Params.GoodbyeGraceMS.Duration())
		m.send(p, &push.Goodbye{Reason: why})
		m.do(connection.End{ID: p.id, Stream: connection.Control})
	}
}

// close ends a connection for us.
func (m *Machine) close(p *peer, code uint64, why push.Reason) {
	m.do(connection.Close{ID: p.id, Code: code, Reason: string(why)})
	m.over(p, string(why), true)
}
