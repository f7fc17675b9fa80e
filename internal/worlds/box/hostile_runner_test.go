package box

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/identity"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// hostile is who has the key of a registered runner, whose process is gone, and speaks
// to a live network by quic-go alone.
type hostile struct {
	*testing.T
	n          *Network
	jobs       *docket
	alice      *payer
	key        *crypto.Key
	validators []types.Address // of the runner's subset
}

// besiege brings a network up with three runners, and takes the key of the last.
func besiege(t *testing.T, set params.Overrides) *hostile {
	h := &hostile{T: t, jobs: newDocket()}
	h.n = up(t, Config{Plan: setup.Plan{Runners: 3, BlockTime: 100 * time.Millisecond, Params: set}, Ephemeral: true, Observe: h.jobs.observe})
	ready(t, h.n)
	h.alice = newPayer(h.n, "alice")
	r := h.n.findRunner("r2")
	h.key, h.validators = r.key, r.Status().Connected
	orderOf(t, h.n, fault.Order{Verb: fault.Drop, Node: "r2"})
	return h
}

// served has the two honest runners do a job together.
func (h *hostile) served() {
	h.Helper()
	spec := customJob("echo", "hello", 2, types.Address{})
	spec.Callback = nil
	h.jobs.await(h, h.alice.submit(h, spec), "completed", kindIs(types.JobChangeCompleted))
}

// line is one connection of the hostile one, with a validator.
type line struct {
	*hostile
	conn    *quicgo.Conn
	control *quicgo.Stream
	in      *frames
	peer    types.PublicKey
}

// dial connects with a validator; window bounds what it may send that is not read, 0
// for quic-go's own.
func (h *hostile) dial(validator types.Address, window uint64) *line {
	h.Helper()
	config, err := identity.ClientConfig(h.key, push.ALPN, func(types.PublicKey) error { return nil })
	if err != nil {
		h.Fatal(err)
	}
	endpoint := h.n.book.Endpoint(types.Validator{Address: validator})
	conn, err := quicgo.DialAddr(h.Context(), endpoint, config, &quicgo.Config{MaxIncomingStreams: 16,
		InitialStreamReceiveWindow: window, MaxStreamReceiveWindow: window})
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { conn.CloseWithError(0, "") })
	peer, err := identity.Of(conn.ConnectionState().TLS)
	if err != nil {
		h.Fatal(err)
	}
	l := &line{hostile: h, conn: conn, peer: peer}
	if l.control, err = conn.OpenStreamSync(h.Context()); err != nil {
		h.Fatal(err)
	}
	l.in = &frames{l.control}
	l.control.SetReadDeadline(time.Now().Add(patience))
	return l
}

func (l *line) say(f push.Frame) {
	l.Helper()
	frame, err := push.Encode(f)
	if err != nil {
		l.Fatal(err)
	}
	l.control.Write(frame) // who was left already says it to nobody
}

// raw says a frame of any type and content.
func (l *line) raw(t push.Type, payload []byte) {
	frame := binary.BigEndian.AppendUint32(nil, uint32(1+len(payload)))
	l.control.Write(append(append(frame, byte(t)), payload...))
}

// frames cuts what a validator says into frames.
type frames struct{ from io.Reader }

func (r *frames) Next() (push.Raw, error) {
	var length [4]byte
	if _, err := io.ReadFull(r.from, length[:]); err != nil {
		return push.Raw{}, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n == 0 || n > push.MaxFrame {
		return push.Raw{}, fmt.Errorf("a validator says a frame of %d bytes", n)
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(r.from, frame); err != nil {
		return push.Raw{}, err
	}
	return push.Raw{Type: push.Type(frame[0]), Payload: frame[1:]}, nil
}

// heard takes the next frame of a kind, pongs and others apart.
func heard[F push.Frame](l *line, in *frames) (f F) {
	l.Helper()
	for {
		raw, err := in.Next()
		if err != nil {
			l.Fatalf("instead of a %T: %v", f, err)
		}
		read, err := push.Decode(raw)
		if err != nil {
			l.Fatal(err)
		}
		if bye, is := read.(*push.Goodbye); is {
			l.Fatalf("instead of a %T: Goodbye %s", f, bye.Reason)
		}
		if f, is := read.(F); is {
			return f
		}
	}
}

func (l *line) hello() *line {
	l.say(&push.Hello{Version: push.Version, PartyPubkey: l.key.PublicKey(), PartyRole: push.Runner, ChallengeNonce: types.Hash{1}})
	return l
}

// greeted says Hello and hears the validator's.
func (l *line) greeted() *push.Hello {
	l.Helper()
	return heard[*push.Hello](l.hello(), l.in)
}

// live goes through the whole exchange of Hellos, and pings.
func (l *line) live() *line {
	l.Helper()
	hello := l.greeted()
	ack := &push.HelloAck{Version: push.Version, PartyPubkey: l.key.PublicKey(), PartyRole: push.Runner}
	ack.SignedChallenge = l.key.Sign(ack.Digest(l.n.genesis.ChainID, hello.ChallengeNonce, l.peer))
	l.say(ack)
	l.ping(1)
	heard[*push.HeartbeatPong](l, l.in)
	return l
}

func (l *line) ping(nonce uint64) {
	ping := &push.HeartbeatPing{BlockHeight: l.n.Best().finalHeight(), Nonce: nonce}
	ping.Signed = l.key.Sign(ping.Digest(l.n.genesis.ChainID))
	l.say(ping)
}

// left waits for the validator's Goodbye, or the end of the connection, and returns the
// reason of either.
func (l *line) left() push.Reason {
	l.Helper()
	for {
		raw, err := l.in.Next()
		if err != nil {
			var end *quicgo.ApplicationError
			if !errors.As(err, &end) {
				l.Fatalf("it is not left: %v", err)
			}
			return push.Reason(end.ErrorMessage)
		}
		if read, err := push.Decode(raw); err == nil {
			if bye, is := read.(*push.Goodbye); is {
				return bye.Reason
			}
		}
	}
}

// job is the stream on which the assignment of a job comes, and the assignment. A
// validator that is a block behind may push one before it that is over.
func (l *line) job(id types.Hash) (*line, *push.JobAssignment) {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.Context(), patience)
	defer cancel()
	for {
		stream, err := l.conn.AcceptStream(ctx)
		if err != nil {
			l.Fatal(err)
		}
		on := *l
		on.control, on.in = stream, &frames{stream}
		stream.SetReadDeadline(time.Now().Add(patience))
		if a := heard[*push.JobAssignment](&on, on.in); a.JobID == id {
			return &on, a
		}
	}
}

// A storm of Hellos under one key is refused from the sixth in a second on, whatever
// the connections, and hurts nobody else.
func TestAHelloStormOnALiveNetwork(t *testing.T) {
	h := besiege(t, nil)
	var all []*line
	for range 15 {
		all = append(all, h.dial(h.validators[0], 0))
	}
	for _, l := range all {
		l.hello()
	}
	refused := 0
	for _, l := range all {
		if raw, err := l.in.Next(); err == nil {
			if f, err := push.Decode(raw); err == nil && f.Type() == push.TypeGoodbye && f.(*push.Goodbye).Reason == push.RateLimited {
				refused++
			}
		}
	}
	if refused < 5 || refused == 15 {
		t.Errorf("%d of 15 Hellos are refused for their rate", refused)
	}
	h.served()
}

// Whoever takes nothing is left after cip11.write_timeout_ms.
func TestASlowReaderOnALiveNetwork(t *testing.T) {
	h := besiege(t, nil)
	l := h.dial(h.validators[0], 600)
	l.live() // and reads no pong from now on
	for nonce := uint64(2); nonce < 12; nonce++ {
		l.ping(nonce)
	}
	select {
	case <-l.conn.Context().Done():
	case <-time.After(patience):
		t.Fatal("it is not left")
	}
	l.control.SetReadDeadline(time.Now())
	var end *quicgo.ApplicationError
	if _, err := l.conn.OpenStream(); !errors.As(err, &end) || push.Reason(end.ErrorMessage) != push.SlowReader {
		t.Errorf("it is left for %v", err)
	}
	h.served()
}

// Frames that are too long, have no length or break off, and a choice of every fault
// that the vectors have, each at its place: left for the reason that the wire names.
func TestFramesThatAreNoneOnALiveNetwork(t *testing.T) {
	h := besiege(t, params.Overrides{"cip11.hello_per_identity": "1000"})
	at := 0
	next := func() *line {
		at++
		return h.dial(h.validators[at%len(h.validators)], 0)
	}
	length := func(l *line, n uint32) { l.control.Write(binary.BigEndian.AppendUint32(nil, n)) }
	for what, c := range map[string]struct {
		do   func(l *line)
		want push.Reason
	}{
		"no length, first":    {func(l *line) { length(l, 0) }, push.Malformed},
		"too long, first":     {func(l *line) { length(l, push.MaxFrame+1) }, push.FrameTooLarge},
		"no length, live":     {func(l *line) { length(l.live(), 0) }, push.Malformed},
		"too long, live":      {func(l *line) { length(l.live(), push.MaxFrame+1) }, push.FrameTooLarge},
		"it breaks off":       {func(l *line) { length(l.live(), 100); l.control.Write([]byte{16}); l.control.Close() }, push.Malformed},
		"a long greeting":     {func(l *line) { l.raw(push.TypeHello, make([]byte, 5000)) }, push.Malformed},
		"an unknown type":     {func(l *line) { l.live().raw(99, []byte{0xa0}) }, push.UnknownFrame},
		"a frame of jobs":     {func(l *line) { l.live().say(&push.JobProgress{}) }, push.UnexpectedFrame},
		"a validator's":       {func(l *line) { l.live().say(&push.HeartbeatPong{}) }, push.UnexpectedFrame},
		"a second Hello":      {func(l *line) { l.live().hello() }, push.UnexpectedFrame},
		"a ping before Hello": {func(l *line) { l.ping(1) }, push.UnexpectedFrame},
		"a nonce again":       {func(l *line) { l.live().ping(1) }, push.BadNonce},
		"nobody's signature":  {func(l *line) { l.live().say(&push.HeartbeatPing{Nonce: 9, Signed: types.Signature{1}}) }, push.BadSignature},
		"too many":            {func(l *line) { l.live(); l.flood() }, push.RateLimited},
		"another key's Hello": {func(l *line) {
			l.say(&push.Hello{Version: 1, PartyPubkey: l.peer, PartyRole: push.Runner})
		}, push.IdentityMismatch},
		"a stream of its own": {func(l *line) { l.live().opens(true) }, push.UnexpectedStream},
		"a stream in one way": {func(l *line) { l.live().opens(false) }, push.UnexpectedStream},
		"a validator's Hello": {func(l *line) {
			l.say(&push.Hello{Version: 1, PartyPubkey: l.key.PublicKey(), PartyRole: push.Validator})
		}, push.WrongRole},
		"a HelloAck of nobody": {func(l *line) {
			l.greeted()
			l.say(&push.HelloAck{Version: 1, PartyPubkey: l.key.PublicKey(), PartyRole: push.Runner})
		}, push.BadSignature},
	} {
		l := next()
		if c.do(l); true {
			if got := l.left(); got != c.want {
				t.Errorf("%s: left for %s, want %s", what, got, c.want)
			}
		}
	}
	h.served()
	for i, c := range vectors.Cases[brokenFrame](t, "cip11/12-broken.json") {
		if c.Reason == "" || c.Reason == push.Malformed && i%9 != 0 {
			continue
		}
		l := next()
		kind := push.Type(c.Type)
		switch kind {
		case push.TypeHello:
		case push.TypeHelloAck:
			l.greeted()
		case push.TypeHeartbeatPing, push.TypeBackpressureSignal, push.TypeCapabilityDelta, push.TypeGoodbye:
			l.live()
		default:
			continue // of validators, or of the streams of jobs
		}
		l.raw(kind, c.Payload)
		if got := l.left(); got != c.Reason {
			t.Errorf("%s, %s: left for %s, want %s", c.Frame, c.Note, got, c.Reason)
		}
	}
	h.served()
}

// flood says more in a second than it may.
func (l *line) flood() {
	for nonce := uint64(2); nonce < 60; nonce++ {
		l.ping(nonce)
	}
}

// opens opens a stream that a runner has not.
func (l *line) opens(both bool) {
	if both {
		if s, err := l.conn.OpenStreamSync(l.Context()); err == nil {
			s.Write([]byte{0})
		}
		return
	}
	if s, err := l.conn.OpenUniStreamSync(l.Context()); err == nil {
		s.Write([]byte{0})
	}
}

type brokenFrame struct {
	Frame, Note string
	Type        vectors.Number
	Payload     types.Bytes
	Reason      push.Reason
}

// What has no place on the stream of a job ends the connection; the job is done by the
// two others, and a frame of unknown type is passed over.
func TestWrongFramesOnAJobStreamOfALiveNetwork(t *testing.T) {
	h := besiege(t, params.Overrides{"cip11.hello_per_identity": "1000", "cip11.presence_timeout_blocks": "1000",
		"cip2.min_reputation": "0"}) // one ping lasts, and what is not done costs no place in the next committee
	spec := customJob("echo", "hello", 3, types.Address{})
	spec.Callback, spec.Verification.Mode, spec.TimeoutBlocks = nil, push.MajorityVote, 12
	ack := func(l *line, a *push.JobAssignment, job types.Hash) {
		f := &push.JobAck{JobID: job, Status: push.AckStatus{Accepted: true}}
		f.Signed = l.key.Sign(f.Digest(h.n.genesis.ChainID))
		l.say(f)
	}
	result := func(l *line, job types.Hash) {
		f := &push.JobResult{JobID: job, ResultData: []byte("nonsense")}
		f.RunnerSigned = l.key.Sign(f.Digest(h.n.genesis.ChainID))
		l.say(f)
	}
	for _, c := range []struct {
		what string
		do   func(l *line, a *push.JobAssignment)
		want push.Reason
	}{
		{"a result before the ack", func(l *line, a *push.JobAssignment) { result(l, a.JobID) }, push.UnexpectedFrame},
		{"another job's ack", func(l *line, a *push.JobAssignment) { ack(l, a, types.Hash{9}) }, push.UnexpectedFrame},
		{"a second ack", func(l *line, a *push.JobAssignment) { ack(l, a, a.JobID); ack(l, a, a.JobID) }, push.UnexpectedFrame},
		{"a ping", func(l *line, a *push.JobAssignment) { l.ping(99) }, push.UnexpectedFrame},
		{"an ack of nobody's", func(l *line, a *push.JobAssignment) {
			l.say(&push.JobAck{JobID: a.JobID, Status: push.AckStatus{Accepted: true}})
		},
			push.BadSignature},
		{"no CBOR", func(l *line, a *push.JobAssignment) { l.raw(push.TypeJobAck, []byte{0xff}) }, push.Malformed},
		{"progress beyond a hundred, behind an unknown frame", func(l *line, a *push.JobAssignment) {
			l.raw(99, []byte{0xa0})
			ack(l, a, a.JobID)
			frame, _ := push.Encode(&push.JobProgress{JobID: a.JobID, Fraction: 100})
			frame[len(frame)-1] = 101
			l.control.Write(frame)
		}, push.Malformed},
	} {
		var all []*line
		for _, v := range h.validators {
			all = append(all, h.dial(v, 0).live())
		}
		h.present(2)
		job := h.alice.submit(t, spec)
		for _, l := range all {
			on, a := l.job(job)
			c.do(on, a)
			if got := l.left(); got != c.want {
				t.Errorf("%s: left for %s, want %s", c.what, got, c.want)
			}
		}
		of := h.jobs.await(t, job, "completed", kindIs(types.JobChangeCompleted))
		if agreed := of[len(of)-1].Agreed; len(agreed) != 2 {
			t.Errorf("%s: %d agreed", c.what, len(agreed))
		}
	}
	h.served()
}

// present waits until a runner is in P.
func (h *hostile) present(index int) {
	h.Helper()
	for blocks := 0; !h.n.presence.hasRunner(index); blocks++ {
		if blocks == 100 {
			h.Fatalf("r%d is not present", index)
		}
		await(h, h.n, h.n.Best().finalHeight()+1)
	}
}

// The certificate of a runner is of no use without its key, nor is a proof that the
// runner made for another validator; and a runner that belongs to others is told so.
func TestStolenProofsAndForeignSubsetsOnALiveNetwork(t *testing.T) {
	h := besiege(t, nil)
	honest := h.n.findRunner("r0")
	stolen, err := identity.Certificate(honest.key) // as it is seen on the wire
	if err != nil {
		t.Fatal(err)
	}
	config, err := identity.ClientConfig(h.key, push.ALPN, func(types.PublicKey) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	config.Certificates[0].Certificate = stolen.Certificate
	endpoint := h.n.book.Endpoint(types.Validator{Address: honest.Status().Connected[0]})
	conn, err := quicgo.DialAddr(t.Context(), endpoint, config, nil)
	if err == nil {
		defer conn.CloseWithError(0, "")
		select {
		case <-conn.Context().Done():
			err = context.Cause(conn.Context())
		case <-time.After(patience):
			t.Fatal("who has a stolen certificate is let in")
		}
	}
	var refused *quicgo.TransportError
	if !errors.As(err, &refused) || !refused.ErrorCode.IsCryptoError() {
		t.Errorf("a stolen certificate is refused for %v", err)
	}
	if len(honest.Status().Connected) == 0 {
		t.Error("whose certificate it is was left for it")
	}

	l := h.dial(h.validators[0], 0)
	hello := l.greeted()
	other, err := identity.Of(h.dial(h.validators[1], 0).conn.ConnectionState().TLS)
	if err != nil {
		t.Fatal(err)
	}
	ack := &push.HelloAck{Version: push.Version, PartyPubkey: h.key.PublicKey(), PartyRole: push.Runner}
	ack.SignedChallenge = h.key.Sign(ack.Digest(h.n.genesis.ChainID, hello.ChallengeNonce, other))
	l.say(ack)
	if got := l.left(); got != push.BadSignature {
		t.Errorf("a proof for another validator: left for %s", got)
	}

	foreign := 0
	for _, v := range h.n.List() {
		if slices.Contains(h.validators, v.Address) {
			continue
		}
		foreign++
		if got := h.dial(v.Address, 0).hello().left(); got != push.NotInSubset {
			t.Errorf("%s is not of its subset: left for %s", v.Name, got)
		}
	}
	if foreign != 1 {
		t.Errorf("%d of 4 validators are not of a subset of 3", foreign)
	}
	h.served()
}
