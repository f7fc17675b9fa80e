package gateway

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

func TestNothingIsSaidBeforeTheRunnersHello(t *testing.T) {
	w := newWorld(t, nil)
	w.register("r0")
	e := w.connect("r0", 1).openControl()
	w.block(nil)
	w.pass(defaults().HelloTimeoutMS.Duration() - 1)
	if len(e.sent) != 0 || e.closed != nil {
		t.Fatalf("said %v, closed %v", e.sent, e.closed)
	}
	w.pass(1)
	if why := e.left(); why != push.Timeout {
		t.Fatalf("left for %s", why)
	}
}

func TestSection62TheHelloExchangeProvesBothKeys(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	// The machine proves its key over our challenge and our key.
	e2 := w.connect("r0", 1).greet()
	ack := expect[*push.HelloAck](e2, connection.Control)
	digest := ack.Digest(chainID, e2.helloOf().ChallengeNonce, e2.signer.PublicKey())
	if signer, ok := signatures.Recover(digest, ack.SignedChallenge); !ok || signer != signerOf("v0").Address() {
		t.Fatal("the validator's proof does not hold")
	}
	if e2.hello.ChallengeNonce == e.hello.ChallengeNonce || e2.hello.BlockHeight != w.head.Height || e2.hello.PartyRole != push.Validator {
		t.Fatalf("the validator's Hello is %+v", e2.hello)
	}
	if got := reported[Arrived](w); len(got) != 1 || got[0].Runner != e.signer.Address() {
		t.Fatalf("arrived: %v", got)
	}
}

// TestHelloIsJudgedInTheWiresOrder: each case has the fault of its name and every
// later one that it can have, and the first wins.
func TestHelloIsJudgedInTheWiresOrder(t *testing.T) {
	wrong := func(e *end) *push.Hello { // of everything that a Hello can be wrong in
		f := e.helloOf()
		f.PartyRole, f.PartyPubkey = push.Validator, signerOf("another").PublicKey()
		return f
	}
	for _, c := range []struct {
		name string
		says func(e *end)
		want push.Reason
	}{
		{"length 0", func(e *end) { e.step(Connection{connection.TooLong{ID: e.id, Length: 0}}) }, push.Malformed},
		{"length", func(e *end) {
			e.step(Connection{connection.TooLong{ID: e.id, Length: connection.MaxFrameBytes + 1, Type: 0x77}})
		}, push.FrameTooLarge},
		{"type", func(e *end) { e.raw(0, 0x77, 0xff) }, push.UnknownFrame},
		{"a long frame's type", func(e *end) { e.step(Connection{connection.TooLong{ID: e.id, Length: 1 << 19, Type: 0x77}}) },
			push.UnknownFrame},
		{"place", func(e *end) { e.raw(0, byte(push.TypeHeartbeatPing), 0xff) }, push.UnexpectedFrame},
		{"a long frame's place", func(e *end) {
			e.step(Connection{connection.TooLong{ID: e.id, Length: 1 << 19, Type: byte(push.TypeCapabilityDelta)}})
		}, push.UnexpectedFrame},
		{"a long Hello", func(e *end) {
			e.step(Connection{connection.TooLong{ID: e.id, Length: 1 << 19, Type: byte(push.TypeHello)}})
		}, push.Malformed},
		{"a frame of validators", func(e *end) { e.raw(0, byte(push.TypeHeartbeatPong), 0xff) }, push.UnexpectedFrame},
		{"a frame of jobs", func(e *end) { e.raw(0, byte(push.TypeJobAck), 0xff) }, push.UnexpectedFrame},
		{"CBOR", func(e *end) { e.raw(0, byte(push.TypeHello), 0xff) }, push.Malformed},
		{"version", func(e *end) { e.raw(0, append([]byte{byte(push.TypeHello), 0xa1, 0x67}, "version\x02"...)...) }, push.UnsupportedVersion},
		{"fields", func(e *end) { e.raw(0, append([]byte{byte(push.TypeHello), 0xa1, 0x67}, "version\x01"...)...) }, push.Malformed},
		{"role", func(e *end) { e.say(0, wrong(e)) }, push.WrongRole},
		{"key", func(e *end) { f := wrong(e); f.PartyRole = push.Runner; e.say(0, f) }, push.IdentityMismatch},
		{"registration", func(e *end) { e.say(0, e.helloOf()) }, push.NotRegistered},
		{"deregistered", func(e *end) {
			w := e.world
			w.register("r0")
			*w.runners[e.signer.Address()] = Registration{Deregistered: true}
			e.say(0, e.helloOf())
		}, push.NotRegistered},
		{"stake", func(e *end) {
			e.register("r0")
			e.runners[e.signer.Address()].Stake = types.WeiOf(99)
			e.noSubset()
			e.say(0, e.helloOf())
		}, push.InsufficientStake},
		{"subset", func(e *end) { e.register("r0"); e.noSubset(); e.say(0, e.helloOf()) }, push.NotInSubset},
		{"a stalled frame", func(e *end) { e.step(Connection{connection.Stalled{ID: e.id}}) }, push.Timeout},
		{"half a frame", func(e *end) { e.step(Connection{connection.Ended{ID: e.id, Torn: true}}) }, push.Malformed},
		{"another stream", func(e *end) { e.step(Connection{connection.Opened{ID: e.id, Stream: 4}}) }, push.UnexpectedStream},
		{"a stream one way", func(e *end) { e.step(Connection{connection.Opened{ID: e.id, Stream: 2}}) }, push.UnexpectedStream},
		{"Hello twice", func(e *end) {
			e.register("r0")
			e.greet()
			expect[*push.HelloAck](e, connection.Control)
			e.say(0, wrong(e))
		}, push.UnexpectedFrame},
		{"HelloAck first", func(e *end) { e.say(0, e.ackOf()) }, push.UnexpectedFrame},
		{"HelloAck of another role", ackFault(func(f *push.HelloAck) { f.PartyRole, f.PartyPubkey = push.Validator, types.PublicKey{} }),
			push.WrongRole},
		{"HelloAck of another key", ackFault(func(f *push.HelloAck) {
			f.PartyPubkey, f.SignedChallenge = signerOf("another").PublicKey(), types.Signature{}
		}), push.IdentityMismatch},
		{"HelloAck without proof", ackFault(func(f *push.HelloAck) { f.SignedChallenge[0] ^= 1 }), push.BadSignature},
		{"a ping before the exchange is done", func(e *end) {
			e.register("r0")
			e.greet()
			expect[*push.HelloAck](e, connection.Control)
			e.say(0, e.pingOf())
		}, push.UnexpectedFrame},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nil)
			home := w.head.Rotation.Current.Members
			e := w.connect("r0", 1).openControl()
			c.says(e)
			if why := e.left(); why != c.want {
				t.Fatalf("left for %s, want %s", why, c.want)
			}
			refused := reported[Refused](w)
			if len(refused) != 1 || refused[0].Reason != c.want || w.bits() != "" {
				t.Fatalf("refused %v, bits %q", refused, w.bits())
			}
			// A runner that comes after a liar is served.
			w.head.Rotation.Current.Members = home
			w.live("honest").ping()
		})
	}
}

// noSubset takes the validator out of every subset.
func (w *world) noSubset() {
	other := signerOf("v1")
	w.head.Rotation.Current.Members = []types.Validator{{Address: other.Address(), PublicKey: other.PublicKey()}}
}

func ackFault(change func(*push.HelloAck)) func(*end) {
	return func(e *end) {
		e.register("r0")
		e.greet()
		expect[*push.HelloAck](e, connection.Control)
		f := e.ackOf()
		change(f)
		e.say(connection.Control, f)
	}
}

// TestAProofForAnotherIsNone: the signature covers the validator's key, so that a
// validator that the runner speaks to cannot pass it on.
func TestAProofForAnotherIsNone(t *testing.T) {
	w := newWorld(t, nil)
	w.register("r0")
	e := w.connect("r0", 1).greet()
	expect[*push.HelloAck](e, connection.Control)
	f := e.ackOf()
	f.SignedChallenge = e.signer.Sign(f.Digest(chainID, e.hello.ChallengeNonce, signerOf("v1").PublicKey()))
	e.say(connection.Control, f)
	if why := e.left(); why != push.BadSignature {
		t.Fatalf("left for %s", why)
	}
}

func TestWithoutAControlStreamTheCloseAloneSaysTheReason(t *testing.T) {
	w := newWorld(t, nil)
	e := w.connect("r0", 1)
	w.step(Connection{connection.Opened{ID: e.id, Stream: 2}})
	if e.closed == nil || e.closed.Code != connection.CodeRefused || e.closed.Reason != string(push.UnexpectedStream) || len(e.sent) != 0 {
		t.Fatalf("closed %+v, sent %v", e.closed, e.sent)
	}
	if got := reported[Refused](w); len(got) != 1 || got[0].Reason != push.UnexpectedStream || got[0].Peer != e.signer.Address() {
		t.Errorf("it is told as %+v", got)
	}
	slow := w.live("r1")
	w.step(Connection{connection.Stuck{ID: slow.id}})
	if slow.closed == nil || slow.closed.Reason != string(push.SlowReader) || len(slow.sent[0]) != 0 {
		t.Fatalf("closed %+v, sent %v", slow.closed, slow.sent)
	}
	if got := reported[Left](w); len(got) != 1 || got[0].Reason != string(push.SlowReader) {
		t.Errorf("it is told as %+v", got)
	}
}

func TestASecondConnectionReplacesTheFirstWhenItsExchangeIsDone(t *testing.T) {
	w := newWorld(t, nil)
	first := w.live("r0")
	first.ping()
	second := w.connect("r0", 2).greet()
	expect[*push.HelloAck](second, connection.Control)
	if w.bits() != "0" || first.closed != nil || len(first.sent[0]) != 0 {
		t.Fatal("an unfinished exchange replaced a connection")
	}
	refused := w.connect("r0", 2).openControl()
	refused.raw(0, 0x77)
	if refused.left() != push.UnknownFrame || w.bits() != "0" {
		t.Fatal("a refused connection replaced one")
	}
	second.say(connection.Control, second.ackOf())
	if why := first.left(); why != push.Replaced {
		t.Fatalf("left for %s", why)
	}
	if w.bits() != "" {
		t.Fatal("the pings of the first count for the second")
	}
	second.ping() // its nonce begins again
	if w.bits() != "0" {
		t.Fatalf("bits %q", w.bits())
	}
	w.step(Connection{connection.Down{ID: first.id}})
	if w.bits() != "0" {
		t.Fatal("the end of the first took the second's bit")
	}
}

func TestHellosOfAnIdentityAreLimited(t *testing.T) {
	w := newWorld(t, nil)
	w.register("r0")
	hello := func(name string, address byte, bad bool) *end {
		e := w.connect(name, address).openControl()
		if bad {
			e.raw(0, byte(push.TypeHello), 0xff)
		} else {
			e.say(0, e.helloOf())
		}
		return e
	}
	for i := range 5 {
		hello("r0", byte(i), i%2 == 0) // good or bad, from wherever
		w.pass(100 * time.Millisecond)
	}
	for range 3 { // those that are refused for it do not count
		if why := hello("r0", 9, true).goodbye(); why != push.RateLimited {
			t.Fatalf("left for %s", why)
		}
	}
	w.register("r1")
	if e := hello("r1", 9, false); len(e.done) != 0 {
		t.Fatal("another identity is refused")
	}
	w.pass(500 * time.Millisecond) // the first of the five left the window
	if e := hello("r0", 9, false); len(e.done) != 0 {
		t.Fatal("the second does not slide")
	}
}

func TestHellosOfAnAddressAreLimited(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.HelloPerAddress = 3 })
	for _, name := range []string{"a", "b", "c"} {
		e := w.connect(name, 7).openControl()
		e.say(0, e.helloOf())
		if why := e.goodbye(); why != push.NotRegistered {
			t.Fatalf("left for %s", why)
		}
	}
	e := w.connect("d", 7).openControl()
	e.say(0, e.helloOf())
	other := w.connect("d", 8).openControl()
	other.say(0, other.helloOf())
	if why := other.goodbye(); why != push.NotRegistered {
		t.Fatalf("another address left for %s", why)
	}
	if why := e.goodbye(); why != push.RateLimited {
		t.Fatalf("left for %s", why)
	}
}

func TestFramesOfALiveConnectionAreLimited(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	for range 20 {
		e.ping()
	}
	w.pass(time.Second - 1)
	e.say(0, e.pingOf())
	if why := e.left(); why != push.RateLimited {
		t.Fatalf("left for %s", why)
	}
	e = w.live("r1")
	for range 60 {
		e.ping()
		w.pass(50 * time.Millisecond)
	}
}

func TestWhoReadsAGoodbyeClosesAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	for _, e := range []*end{w.connect("r9", 1).openControl(), w.live("r0")} {
		e.say(0, &push.Goodbye{Reason: "a later version's"})
		if e.closed == nil || e.closed.Code != connection.CodeDone || len(e.sent[0]) != 0 {
			t.Fatalf("closed %+v, sent %v", e.closed, e.sent)
		}
	}
}

func TestBehindOurGoodbyeNothingIsHeard(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	e.ping()
	e.raw(0, 0x77)
	e.say(0, e.pingOf())
	w.block(nil)
	w.step(Connection{connection.Opened{ID: e.id, Stream: 6}})
	if w.bits() != "" {
		t.Fatal("it is present after Goodbye")
	}
	if why := e.left(); why != push.UnknownFrame {
		t.Fatalf("left for %s", why)
	}
}

func TestAFullMachineTakesNoConnection(t *testing.T) {
	if testing.Short() {
		t.Skip("twenty thousand connections")
	}
	w := newWorld(t, nil)
	key := signerOf("r0").PublicKey()
	for id := range connection.ID(MaxConnections) {
		w.Step(w.now, Connection{connection.Up{ID: 1000 + id, Peer: key}})
	}
	e := w.connect("r1", 1)
	if e.closed == nil || e.closed.Reason != string(push.RateLimited) {
		t.Fatalf("closed %+v", e.closed)
	}
	for id := range connection.ID(MaxConnections) {
		w.Step(w.now, Connection{connection.Down{ID: 1000 + id}})
	}
	if err := w.Check(); err != nil || len(w.connections.order) > 1 {
		t.Fatalf("%d are held, %v", len(w.connections.order), err)
	}
	w.live("r0")
}

func TestPhaseOffHasNoConnections(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	w.block(func(h *Head) { h.Params.Push = string(selection.Off) })
	if why := e.left(); why != push.Shutdown {
		t.Fatalf("left for %s", why)
	}
	if late := w.connect("r0", 1); late.closed == nil || late.closed.Reason != string(push.Shutdown) ||
		late.closed.Code != connection.CodeDone {
		t.Fatalf("closed %+v", late.closed)
	}
	w.block(func(h *Head) { h.Params.Push = string(selection.Shadow) })
	w.live("r0")
	w.step(Stop{})
}

func TestEveryFrameIsTaken(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	before := e.taken
	e.ping()
	e.raw(0, 0x77)
	e.say(0, e.pingOf())
	if e.taken != before+3 {
		t.Fatalf("%d of 3 frames were taken", e.taken-before)
	}
}
