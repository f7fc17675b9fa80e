package session

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

func TestSection51ARunnerDialsItsSubset(t *testing.T) {
	for _, n := range []int{1, 3, 4, 10, 30} {
		w := newWorld(t, n)
		w.begin()
		want := map[string]bool{}
		for _, i := range w.rotation.Current.Subset(signerOf("r0").PublicKey()) {
			want[w.rotation.Current.Members[i].Endpoint] = true
		}
		for _, d := range w.dials {
			if !want[d.endpoint] {
				t.Errorf("of %d validators it dialled %s", n, d.endpoint)
			}
			delete(want, d.endpoint)
		}
		if len(want) != 0 {
			t.Errorf("of %d validators it did not dial %v", n, want)
		}
	}
}

func TestTheRunnerSpeaksFirstAndProvesItsKey(t *testing.T) {
	w := newWorld(t, 1)
	l := w.begin()[0].up()
	l.hello = *expect[*push.Hello](l)
	if l.hello.PartyRole != push.Runner || l.hello.PartyPubkey != signerOf("r0").PublicKey() || l.hello.BlockHeight != 100 {
		t.Fatalf("its Hello is %+v", l.hello)
	}
	l.say(0, l.helloOf())
	f := expect[*push.HelloAck](l)
	signer, ok := signatures.Recover(f.Digest(chainID, l.helloOf().ChallengeNonce, l.signer.PublicKey()), f.SignedChallenge)
	if !ok || signer != signerOf("r0").Address() {
		t.Fatal("its proof does not hold")
	}
	w.pass(time.Second)
	if len(l.sent) != 0 {
		t.Fatalf("it said %v before the exchange was done", l.sent[0])
	}
	l.say(0, l.ackOf())
	expect[*push.HeartbeatPing](l)
}

// TestAValidatorIsJudgedByTheSameRules.
func TestAValidatorIsJudgedByTheSameRules(t *testing.T) {
	hello := func(change func(*push.Hello)) func(*line) {
		return func(l *line) { f := l.helloOf(); change(f); l.up(); l.say(0, f) }
	}
	ack := func(change func(*push.HelloAck)) func(*line) {
		return func(l *line) { l.greeted(); f := l.ackOf(); change(f); l.say(0, f) }
	}
	for name, c := range map[string]struct {
		says func(l *line)
		want push.Reason
	}{
		"an unknown type":    {func(l *line) { l.up(); l.raw(0, 0x77) }, push.UnknownFrame},
		"a frame of runners": {func(l *line) { l.live(); l.raw(0, byte(push.TypeHeartbeatPing)) }, push.UnexpectedFrame},
		"a frame of jobs":    {func(l *line) { l.live(); l.raw(0, byte(push.TypeJobCancel)) }, push.UnexpectedFrame},
		"a pong too early":   {func(l *line) { l.greeted(); l.raw(0, byte(push.TypeHeartbeatPong)) }, push.UnexpectedFrame},
		"Hello twice":        {func(l *line) { l.greeted(); l.say(0, l.helloOf()) }, push.UnexpectedFrame},
		"HelloAck twice":     {func(l *line) { l.live(); l.say(0, l.ackOf()) }, push.UnexpectedFrame},
		"no CBOR":            {func(l *line) { l.up(); l.raw(0, byte(push.TypeHello), 0xff) }, push.Malformed},
		"a version": {func(l *line) { l.up(); l.raw(0, append([]byte{1, 0xa1, 0x67}, "version\x02"...)...) },
			push.UnsupportedVersion},
		"a runner":               {hello(func(f *push.Hello) { f.PartyRole = push.Runner }), push.WrongRole},
		"another key":            {hello(func(f *push.Hello) { f.PartyPubkey[5]++ }), push.IdentityMismatch},
		"a runner's HelloAck":    {ack(func(f *push.HelloAck) { f.PartyRole = push.Runner }), push.WrongRole},
		"another key's HelloAck": {ack(func(f *push.HelloAck) { f.PartyPubkey[5]++ }), push.IdentityMismatch},
		"no proof":               {ack(func(f *push.HelloAck) { f.SignedChallenge[3]++ }), push.BadSignature},
		"a forged pong":          {func(l *line) { l.live(); l.say(0, &push.HeartbeatPong{BlockHeight: 5}) }, push.BadSignature},
		"a forged pong of 0":     {func(l *line) { l.live(); l.say(0, &push.HeartbeatPong{}) }, push.BadSignature},
		"length 0":               {func(l *line) { l.up(); l.step(Connection{connection.TooLong{ID: l.id}}) }, push.Malformed},
		"a great length": {func(l *line) { l.up(); l.step(Connection{connection.TooLong{ID: l.id, Length: 1 << 21}}) },
			push.FrameTooLarge},
		"half a frame":    {func(l *line) { l.up(); l.step(Connection{connection.Ended{ID: l.id, Torn: true}}) }, push.Malformed},
		"a stalled frame": {func(l *line) { l.up(); l.step(Connection{connection.Stalled{ID: l.id}}) }, push.Timeout},
		"a stream one way": {func(l *line) { l.live(); l.step(Connection{connection.Opened{ID: l.id, Stream: 3}}) },
			push.UnexpectedStream},
		"a job before our answer": {func(l *line) { l.up(); l.step(Connection{connection.Opened{ID: l.id, Stream: 1}}) }, push.UnexpectedFrame},
		"silence":                 {func(l *line) { l.greeted(); l.pass(5 * time.Second) }, push.Timeout},
		"a fault on a job":        {func(l *line) { l.live(); l.step(Fault{l.id, push.BadSignature}) }, push.BadSignature},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			l := w.begin()[0]
			c.says(l)
			if why := l.goodbye(); why != c.want {
				t.Fatalf("left for %s, want %s", why, c.want)
			}
			w.pass(500 * time.Millisecond)
			if l.closed == nil || l.closed.Reason != string(c.want) || l.closed.Code != 1 {
				t.Fatalf("closed %+v", l.closed)
			}
			w.pass(10 * time.Second)
			if len(w.dials) < 2 {
				t.Fatal("not dialled again")
			}
		})
	}
}

func TestAnotherKeyAtTheEndpointIsLeft(t *testing.T) {
	w := newWorld(t, 1)
	l := w.begin()[0]
	w.step(Connection{connection.Up{ID: l.id, Peer: signerOf("another").PublicKey()}})
	if l.closed == nil || l.closed.Reason != string(push.IdentityMismatch) || len(l.sent) != 0 {
		t.Fatalf("closed %+v, said %v", l.closed, l.sent)
	}
}

// TestAJobMayOvertakeTheHelloAck: streams have no order among each other.
func TestAJobMayOvertakeTheHelloAck(t *testing.T) {
	w := newWorld(t, 1)
	l := w.begin()[0].greeted()
	stream := connection.Job(0)
	w.step(Connection{connection.Opened{ID: l.id, Stream: stream}})
	l.raw(stream, 1, 2, 3)
	if len(w.jobs) != 0 || l.done {
		t.Fatal("handed on before the exchange was done, or refused")
	}
	l.say(0, l.ackOf())
	if len(w.jobs) != 2 || w.jobs[1].Event.(connection.Came).Frame[2] != 3 || w.jobs[0].Validator != l.signer.PublicKey() {
		t.Fatalf("handed on %v", w.jobs)
	}
	flooded := newWorld(t, 1)
	l = flooded.begin()[0].greeted()
	for n := range uint64(maxEarly + 1) {
		flooded.step(Connection{connection.Opened{ID: l.id, Stream: connection.Job(n)}})
	}
	if why := l.goodbye(); why != push.UnexpectedFrame {
		t.Fatalf("left for %s", why)
	}
}

func TestStreamsOfAConnectionAreBounded(t *testing.T) {
	w := newWorld(t, 1)
	l := w.begin()[0].live()
	for n := range uint64(MaxStreams) {
		w.step(Connection{connection.Opened{ID: l.id, Stream: connection.Job(n)}})
	}
	if l.done {
		t.Fatal("left at the limit")
	}
	w.step(Answers{[]connection.Verb{connection.Reset{ID: l.id, Stream: connection.Job(0)}}})
	w.step(Connection{connection.Opened{ID: l.id, Stream: connection.Job(MaxStreams)}})
	if l.done {
		t.Fatal("a stream that is over counts")
	}
	w.step(Connection{connection.Opened{ID: l.id, Stream: connection.Job(MaxStreams + 1)}})
	if why := l.goodbye(); why != push.UnexpectedStream {
		t.Fatalf("left for %s", why)
	}
}

// A stream is over when both sides have ended it, whichever event reports the
// validator's end and however early it comes. Until then the worker is asked for
// ours, or the environment would keep the stream's slot.
func TestAStreamIsOverWhenBothSidesAre(t *testing.T) {
	stream := connection.Job(0)
	for _, early := range []bool{false, true} {
		for _, cut := range []bool{false, true} {
			w := newWorld(t, 1)
			l := w.begin()[0].greeted()
			prove := func() { l.say(0, l.ackOf()) }
			if !early {
				prove()
			}
			w.step(Connection{connection.Opened{ID: l.id, Stream: stream}})
			if w.jobs = nil; cut {
				w.step(Connection{connection.Cut{ID: l.id, Stream: stream}})
			} else {
				w.step(Connection{connection.Ended{ID: l.id, Stream: stream}})
			}
			if early {
				prove()
			}
			p := w.findPeer(l.id)
			if len(w.jobs) == 0 || w.jobs[len(w.jobs)-1].Event != (connection.Ended{ID: l.id, Stream: stream}) || len(p.streams) != 1 {
				t.Errorf("early %v, cut %v: handed on %v; %d streams", early, cut, w.jobs, len(p.streams))
			}
			w.step(Answers{[]connection.Verb{connection.End{ID: l.id, Stream: stream}}})
			if len(p.streams) != 0 {
				t.Errorf("early %v, cut %v: kept after its end", early, cut)
			}
		}
	}
}

// TestSection63PingsAtEachHeightAndAtLeastOnceInTwoBlockTimes, and never more than three
// quarters of the limit.
func TestSection63PingsAtEachHeightAndAtLeastOnceInTwoBlockTimes(t *testing.T) {
	w := newWorld(t, 1)
	l := w.begin()[0].live()
	for range 10 {
		w.pass(time.Second)
	}
	if len(l.sent) != 5 {
		t.Fatalf("%d pings in ten block times without a block", len(l.sent))
	}
	nonce := uint64(1)
	for _, f := range l.sent {
		p := f.(*push.HeartbeatPing)
		signer, ok := signatures.Recover(p.Digest(chainID), p.Signed)
		if nonce++; p.Nonce != nonce || p.BlockHeight != 100 || !ok || signer != signerOf("r0").Address() {
			t.Fatalf("ping %+v", p)
		}
	}
	l.sent = nil
	w.pass(500 * time.Millisecond)
	w.newHead(nil)
	w.pass(w.head.Params.PingSpread())
	if p := expect[*push.HeartbeatPing](l); p.BlockHeight != 101 {
		t.Fatalf("at the new height it said %+v", p)
	}
	w.pass(200 * time.Millisecond)
	pong := &push.HeartbeatPong{BlockHeight: 200}
	pong.ValidatorSigned = l.signer.Sign(pong.Digest(chainID, signerOf("r0").PublicKey()))
	l.say(0, pong)
	w.pass(w.head.Params.PingSpread())
	if p := expect[*push.HeartbeatPing](l); p.BlockHeight != 101 {
		t.Fatalf("at a height heard of by a pong it said %+v; the height is its own", p)
	}
	// A thousand blocks a second, and a load that changes with each.
	l.at = nil
	for i := range 3000 {
		w.pass(time.Millisecond)
		w.newHead(nil)
		w.step(Load{push.BackpressureSignal{AcceptingNew: i%2 == 0}})
	}
	for i := range l.at {
		n := 0
		for _, at := range l.at[i:] {
			if at < l.at[i].Add(time.Second) {
				n++
			}
		}
		if n > 15 {
			t.Fatalf("%d frames in one second", n)
		}
	}
	if len(l.at) < 40 {
		t.Fatalf("%d frames in three seconds", len(l.at))
	}
}

// CIP-11 §6.4: a load is said on each live connection.
func TestSection64EveryValidatorIsToldOfALoad(t *testing.T) {
	w := newWorld(t, 3)
	lines := w.begin()
	for _, l := range lines {
		l.live()
	}
	w.pass(time.Second)
	for _, l := range lines {
		l.sent = nil
	}
	w.step(Load{push.BackpressureSignal{ActiveJobs: 4, MaxConcurrent: 4}})
	w.pass(time.Second)
	for i, l := range lines {
		if f := expect[*push.BackpressureSignal](l); f.AcceptingNew || f.ActiveJobs != 4 {
			t.Errorf("validator %d is told %+v", i, f)
		}
	}
}

// CIP-11 §6.3: a height that one validator's pong claims asks for a ping to that one only.
// The height in the ping is the runner's own.
func TestAHeightThatOneValidatorClaimsIsAnsweredToThatOneAlone(t *testing.T) {
	w := newWorld(t, 2)
	lines := w.begin()
	liar, other := lines[0].live(), lines[1].live()
	w.pass(2 * time.Second) // the pings of the rhythm
	for _, l := range lines {
		l.sent = nil
	}
	for height := types.Height(1000); height < 1003; height++ {
		pong := &push.HeartbeatPong{BlockHeight: height}
		pong.ValidatorSigned = liar.signer.Sign(pong.Digest(chainID, signerOf("r0").PublicKey()))
		liar.say(0, pong)
		w.pass(w.head.Params.PingSpread())
	}
	if len(liar.sent) == 0 || liar.sent[0].(*push.HeartbeatPing).BlockHeight != 100 {
		t.Errorf("at heights that it claims the validator is told %+v", liar.sent)
	}
	if len(other.sent) != 0 {
		t.Errorf("the other is told %+v", other.sent)
	}
}

// CIP-11 §§6.3, 13: cip11.heartbeat_blocks is how many new heights ask for a ping,
// and stretches the longest time between two.
func TestSection63AsManyHeightsAskForAPingAsTheParameterSays(t *testing.T) {
	for _, every := range []uint64{1, 3, 7} {
		w := newWorld(t, 1)
		w.head.Params.HeartbeatBlocks = every
		l := w.begin()[0].live()
		w.pass(time.Second)
		l.sent = nil
		var pinged []types.Height
		for range 21 {
			w.newHead(nil)
			w.pass(time.Second)
			for _, f := range l.sent {
				pinged = append(pinged, f.(*push.HeartbeatPing).BlockHeight)
			}
			l.sent = nil
		}
		var want []types.Height
		for h := types.Height(100 + every); h <= 121; h += types.Height(every) {
			want = append(want, h)
		}
		if !slices.Equal(pinged, want) {
			t.Errorf("with a ping each %d heights it pinged at %v, want %v", every, pinged, want)
		}
		at := w.now
		l.at = nil
		w.pass(time.Duration(every+1) * time.Second) // no block comes: a block time more than those heights take
		if len(l.at) != 1 || l.at[0] > at.Add(time.Duration(every+1)*time.Second) {
			t.Errorf("with a ping each %d heights it pinged at %v, without a block since %v", every, l.at, at)
		}
	}
}

// Blocks are never on time. A runner that pinged a block time after its last ping, as
// well as at each height, would ping before each late block, and at once after each
// other one: the pings of all would move to the moment of the new block.
func TestPingsStaySpreadWhenBlocksAreLate(t *testing.T) {
	w := newWorld(t, 1)
	l := w.begin()[0].live()
	w.pass(time.Second)
	const blocks, interval = 200, 1020 * time.Millisecond
	spread := w.head.Params.PingSpread()
	l.sent, l.at = nil, nil
	late := time.Duration(0) // of all pings together, after their blocks
	for range blocks {
		w.newHead(nil)
		before := len(l.at)
		at := w.now
		w.pass(interval)
		if n := len(l.at) - before; n != 1 {
			t.Fatalf("%d pings at a height", n)
		}
		late += l.at[before].Sub(at)
	}
	if mean := late / blocks; mean < spread*2/5 || mean > spread*3/5 {
		t.Errorf("pings arrive %v after a block, of %v in which they may", mean, spread)
	}
}

// counting counts what is signed and judged.
type counting struct {
	crypto.Signer
	Verifier
	signed, judged int
}

func (c *counting) Sign(digest types.Hash) types.Signature {
	c.signed++
	return c.Signer.Sign(digest)
}

func (c *counting) Recover(digest types.Hash, sig types.Signature) (types.Address, bool) {
	c.judged++
	return c.Verifier.Recover(digest, sig)
}

// Many connections cost few signatures: one ping is signed for all validators, with a
// greater nonce each time; a pong that is said again is judged once.
func TestOnePingIsForAllValidatorsAndAPongIsJudgedOnce(t *testing.T) {
	w := newWorld(t, 4)
	lines := w.begin()
	for _, l := range lines {
		l.live()
	}
	w.pass(100 * time.Millisecond)
	count := &counting{Signer: signerOf("r0"), Verifier: signatures}
	w.Machine.config.Signer, w.Machine.config.Verifier = count, count
	for range 3 {
		w.newHead(nil)
		w.pass(w.head.Params.PingSpread())
	}
	w.pass(2 * time.Second) // and again at the same height
	for _, l := range lines {
		var last []uint64
		for _, f := range l.sent {
			p := f.(*push.HeartbeatPing)
			last = append(last, p.Nonce)
			if signer, ok := signatures.Recover(p.Digest(chainID), p.Signed); !ok || signer != signerOf("r0").Address() {
				t.Errorf("ping %+v", p)
			}
		}
		if len(last) < 4 || !slices.IsSorted(last) || len(slices.Compact(last)) != len(l.sent) {
			t.Errorf("nonces %d", last)
		}
	}
	if count.signed != 4 {
		t.Errorf("signed %d times", count.signed)
	}
	pong := &push.HeartbeatPong{BlockHeight: 200}
	pong.ValidatorSigned = lines[0].signer.Sign(pong.Digest(chainID, signerOf("r0").PublicKey()))
	lines[0].say(0, pong)
	lines[0].say(0, pong)
	if count.judged != 1 {
		t.Errorf("judged %d times", count.judged)
	}
}

func TestWhereBlocksAreOnDemandItPingsOnceASecond(t *testing.T) {
	w := newWorld(t, 1)
	w.head.Params.BlockTimeAuto = true
	l := w.begin()[0].live()
	w.pass(10 * time.Second)
	if len(l.sent) != 10 {
		t.Fatalf("%d pings in ten seconds", len(l.sent))
	}
}

func TestLoadAndChangesAreSaidAnewOnEachConnection(t *testing.T) {
	w := newWorld(t, 1)
	l := w.begin()[0].live()
	why := "gpu_oom"
	w.pass(100 * time.Millisecond)
	w.step(Load{push.BackpressureSignal{ActiveJobs: 2, MaxConcurrent: 2, Reason: &why}})
	if f := expect[*push.BackpressureSignal](l); f.AcceptingNew || *f.Reason != why {
		t.Fatalf("said %+v", f)
	}
	w.step(Changed{RemovedCapabilities: []string{"llm"}, AddedCapabilities: []string{"model:a", "model:b"}})
	w.step(Changed{RemovedCapabilities: []string{"model:a"}})
	w.pass(100 * time.Millisecond)
	f := expect[*push.CapabilityDelta](l)
	signer, ok := signatures.Recover(f.Digest(chainID), f.Signed)
	if len(f.AddedCapabilities) != 1 || f.AddedCapabilities[0] != "model:b" || len(f.RemovedCapabilities) != 2 || !ok ||
		signer != signerOf("r0").Address() {
		t.Fatalf("said %+v", f)
	}
	l.down("lost")
	w.pass(time.Second)
	again := w.lines[w.dials[1].id].greeted()
	again.say(0, again.ackOf())
	w.pass(200 * time.Millisecond)
	expect[*push.BackpressureSignal](again)
	expect[*push.CapabilityDelta](again)
	if p := expect[*push.HeartbeatPing](again); p.Nonce != 1 {
		t.Fatalf("the nonce does not restart: %+v", p)
	}
}

// J24: a runner with a long CapabilityDelta says the next when its ration covers it. It pings
// meanwhile, and is never left for its rate.
func TestJ24LongChangesAreSaidAtTheirPace(t *testing.T) {
	w := newWorld(t, 1)
	l := w.begin()[0].live()
	w.pass(100 * time.Millisecond)
	many := Changed{}
	for i := range 128 {
		many.AddedCapabilities = append(many.AddedCapabilities, fmt.Sprintf("%01000d", i))
	}
	w.step(many)
	w.pass(100 * time.Millisecond)
	expect[*push.CapabilityDelta](l)
	w.step(Changed{RemovedCapabilities: many.AddedCapabilities[:1]})
	said := func() (deltas int) {
		for _, f := range l.sent {
			if f.Type() == push.TypeCapabilityDelta {
				deltas++
			}
		}
		return deltas
	}
	w.pass(3 * time.Second)
	if said() > 0 || len(l.sent) == 0 {
		t.Fatalf("%d deltas among %d frames in 3 s", said(), len(l.sent))
	}
	w.pass(2 * time.Second)
	if said() != 1 {
		t.Fatalf("%d deltas in 5 s, want 1", said())
	}
}

// TestSection113BackoffDoublesUpToThirtySeconds, more or less a quarter.
func TestSection113BackoffDoublesUpToThirtySeconds(t *testing.T) {
	share := map[time.Duration]bool{}
	for n := range 12 {
		w := newWorld(t, 1)
		w.begin()
		for range n {
			w.lines[w.dials[len(w.dials)-1].id].down("no answer")
			w.now = w.Deadline()
			w.step(Tick{})
		}
		before := w.now
		w.lines[w.dials[len(w.dials)-1].id].down("no answer")
		wait, want := w.Deadline().Sub(before), min(100*time.Millisecond<<n, 30*time.Second)
		if wait < want*3/4 || wait > want*5/4 {
			t.Errorf("attempt %d waits %v, want %v", n, wait, want)
		}
		share[wait*1000/want] = true
	}
	if len(share) < 6 {
		t.Errorf("all waits are alike: %v", share)
	}
}

func TestAConnectionThatLastedTakesTheBackoffBack(t *testing.T) {
	w := newWorld(t, 1)
	w.begin()
	for range 8 {
		w.lines[w.dials[len(w.dials)-1].id].down("no answer")
		w.now = w.Deadline()
		w.step(Tick{})
	}
	l := w.lines[w.dials[8].id].live()
	l.down("dropped at once") // no success
	if wait := w.Deadline().Sub(w.now); wait < 10*time.Second {
		t.Fatalf("it waits %v", wait)
	}
	w.pass(time.Minute)
	l = w.lines[w.dials[9].id].live()
	w.pass(steady)
	l.down("lost")
	if wait := w.Deadline().Sub(w.now); wait > 125*time.Millisecond {
		t.Fatalf("it waits %v", wait)
	}
}

// A runner without a place reconnects late, or when the chain changed. It reconnects
// at once if the chain shows that it has a place: the validator is some blocks behind.
func TestWhoHasNoPlaceComesBackLateOrWhenTheChainChanged(t *testing.T) {
	for _, why := range []push.Reason{push.NotRegistered, push.InsufficientStake, push.NotInSubset, push.UnsupportedVersion, push.Shutdown} {
		for _, placed := range []bool{false, true} {
			w := newWorld(t, 1)
			l := w.begin()[0].up()
			w.newHead(func(h *chainview.Head) { h.Staked = placed })
			l.say(0, &push.Goodbye{Reason: why})
			if l.closed == nil || l.closed.Code != connection.CodeDone {
				t.Fatalf("%s: closed %+v", why, l.closed)
			}
			wait, waitsLong := w.Deadline().Sub(w.now), why == push.UnsupportedVersion || why != push.Shutdown && !placed
			if late := wait >= maxWait*3/4; late != waitsLong || wait > maxWait*5/4 || !late && wait > 125*time.Millisecond {
				t.Errorf("%s, with a place %v: it waits %v", why, placed, wait)
			}
			w.newHead(nil)
			if len(w.dials) != 1 {
				t.Errorf("%s: a head that changes nothing for it made it dial", why)
			}
			w.newHead(func(h *chainview.Head) { h.Staked = !placed })
			if again := len(w.dials) == 2; again != (why != push.Shutdown) {
				t.Errorf("%s: dialled again at a change: %v", why, again)
			}
		}
	}
}

// TestSection53BothSubsetsDuringTheOverlap, and the former one is left when it is over
// and its last job has ended.
func TestSection53BothSubsetsDuringTheOverlap(t *testing.T) {
	w := newWorld(t, 2)
	lines := w.begin()
	idle, busy := lines[0].live(), lines[1].live()
	stream := connection.Job(0)
	w.step(Connection{connection.Opened{ID: busy.id, Stream: stream}})
	next := w.rotation.Advanced(selection.Moment{Height: 101, Members: w.assignment(2, 4).Members,
		Constants: w.rotation.Current.Constants})
	w.rotate(&next)
	w.newHead(nil)
	if len(w.dials) != 4 || idle.done || busy.done {
		t.Fatalf("%d dialled; left %v, %v", len(w.dials), idle.done, busy.done)
	}
	for _, d := range w.dials[2:] {
		w.lines[d.id].live()
	}
	for range 31 {
		w.newHead(nil)
	}
	if idle.done || busy.done {
		t.Fatal("left in the overlap")
	}
	w.newHead(nil)
	if why := idle.goodbye(); why != push.Shutdown || busy.done {
		t.Fatalf("left for %s; the busy one %v", why, busy.done)
	}
	w.step(Connection{connection.Ended{ID: busy.id, Stream: stream}})
	if busy.done {
		t.Fatal("left before our side of the job ended")
	}
	w.step(Answers{[]connection.Verb{connection.End{ID: busy.id, Stream: stream}}})
	if why := busy.goodbye(); why != push.Shutdown {
		t.Fatalf("left for %s", why)
	}
	w.pass(time.Minute)
	if len(w.dials) != 4 {
		t.Fatal("a former validator was dialled again")
	}
}

func TestPhaseOffAndStopLeaveEverybody(t *testing.T) {
	w := newWorld(t, 1)
	l := w.begin()[0].live()
	w.newHead(func(h *chainview.Head) { h.Params.Push = string(selection.Off) })
	if why := l.goodbye(); why != push.Shutdown {
		t.Fatalf("left for %s", why)
	}
	w.pass(time.Minute)
	w.newHead(func(h *chainview.Head) { h.Params.Push = string(selection.Hot) })
	again := w.lines[w.dials[1].id].live()
	w.step(Stop{})
	if why := again.goodbye(); why != push.Shutdown {
		t.Fatalf("left for %s", why)
	}
	w.pass(time.Minute)
	w.newHead(nil)
	if len(w.dials) != 2 || w.Deadline() != types.Never {
		t.Fatal("it continues after Stop")
	}
}

func TestAnEndpointThatMovedIsDialledThere(t *testing.T) {
	w := newWorld(t, 1)
	w.head.Validators[0].Endpoint = ""
	w.begin()
	if len(w.dials) != 0 || w.Deadline() != types.Never {
		t.Fatal("it dials nowhere")
	}
	w.newHead(nil)
	if len(w.dials) != 1 || w.dials[0].endpoint != "v0" {
		t.Fatalf("dialled %v", w.dials)
	}
}

func TestNothingIsAnsweredBehindAGoodbye(t *testing.T) {
	w := newWorld(t, 1)
	l := w.begin()[0].live()
	w.step(Connection{connection.Opened{ID: l.id, Stream: connection.Job(0)}})
	w.step(Fault{l.id, push.UnexpectedFrame})
	w.step(Answers{[]connection.Verb{connection.Send{ID: l.id, Stream: connection.Job(0), Frame: []byte{1}}}}) // step judges
	l.raw(0, 0x77)
	if why := l.goodbye(); why != push.UnexpectedFrame {
		t.Fatalf("left for %s", why)
	}
}
