package gateway

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// TestSection72TheFourConditions takes away each of the four, and gives it back.
func TestSection72TheFourConditions(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	if w.bits() != "" {
		t.Fatal("present without a ping")
	}
	e.ping()
	if w.bits() != "0" {
		t.Fatal("1: not present with an open connection and a ping")
	}
	w.blocks(3)
	if w.bits() != "" {
		t.Fatal("2: present three blocks behind the last ping")
	}
	e.sent[0] = nil // the pongs of the heads
	e.ping()
	e.say(0, &push.BackpressureSignal{ActiveJobs: 4, MaxConcurrent: 4})
	if w.bits() != "" {
		t.Fatal("3: present and accepting nothing")
	}
	e.ping()
	if w.bits() != "" {
		t.Fatal("3: a ping takes no backpressure back")
	}
	e.say(0, &push.BackpressureSignal{MaxConcurrent: 4, AcceptingNew: true})
	if w.bits() != "0" {
		t.Fatal("3: not present, though it accepts")
	}
	w.block(func(h *Head) { h.Rotation = elsewhere(h.Rotation, h.Height); h.Pace.OverlapBlocks = 0 })
	if w.bits() != "" {
		t.Fatal("4: present outside its subset")
	}
	e.sent[0] = nil
	e = w.connect("r0", 1).openControl()
	e.say(0, e.helloOf())
	if why := e.left(); why != push.NotInSubset {
		t.Fatalf("4: left for %s", why)
	}
}

// elsewhere is a rotation after which v0 is in no subset, except its former one.
func elsewhere(r *selection.Rotation, height types.Height) *selection.Rotation {
	other := signerOf("v1")
	next := r.Advanced(selection.Moment{Height: height, Constants: r.Current.Constants,
		Members: []types.Validator{{Address: other.Address(), PublicKey: other.PublicKey()}}})
	return &next
}

func TestTheEndOfAConnectionClearsItsBitAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	e.ping()
	w.step(Connection{connection.Down{ID: e.id}})
	if w.bits() != "" {
		t.Fatal("present without a connection")
	}
	e = w.live("r0")
	e.ping()
	w.step(Connection{connection.Ended{ID: e.id, Stream: connection.Control}})
	if w.bits() != "" || e.closed == nil {
		t.Fatal("present without a control stream")
	}
}

// TestAgeOfAPing: by blocks and by time, of which both must be over (decision J13).
func TestAgeOfAPing(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	e.ping()
	for range 50 { // blocks faster than any ping
		w.block(nil)
	}
	w.pass(300*time.Millisecond - 1)
	if w.bits() != "0" {
		t.Fatal("fast blocks took the bit before 3 times 100 ms were over")
	}
	w.pass(1)
	if w.bits() != "" {
		t.Fatal("present when blocks and time are over")
	}
	e.sent[0] = nil
	e.ping()
	w.pass(time.Hour)
	w.block(nil)
	w.block(nil)
	if w.bits() != "0" {
		t.Fatal("an hour of two blocks took the bit")
	}
	// Skipped heights make nothing older (decision C8).
	w.block(func(h *Head) { h.Height, h.Skipped = h.Height+1000, 1001 })
	if w.bits() != "0" {
		t.Fatal("skipped heights took the bit")
	}
	w.block(nil)
	if w.bits() != "" {
		t.Fatal("present three blocks behind the last ping")
	}
}

func TestSection63NoncesGrow(t *testing.T) {
	for name, nonces := range map[string][]uint64{"equal": {7, 7}, "less": {7, 6}, "zero again": {0, 0}} {
		w := newWorld(t, nil)
		e := w.live("r0")
		e.nonce = nonces[0] - 1
		e.ping()
		e.nonce = nonces[1] - 1
		e.say(0, e.pingOf())
		if why := e.left(); why != push.BadNonce {
			t.Errorf("%s: left for %s", name, why)
		}
	}
	w := newWorld(t, nil)
	e := w.live("r0")
	for _, nonce := range []uint64{0, 1, 5, 1<<64 - 1} {
		e.nonce = nonce - 1
		e.ping()
	}
}

func TestAPingIsSignedByItsRunner(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	f := e.pingOf()
	f.BlockHeight++
	e.say(0, f)
	if why := e.left(); why != push.BadSignature || w.bits() != "" {
		t.Fatalf("left for %s, bits %q", why, w.bits())
	}
	replayed := w.live("r1").pingOf()
	e = w.live("r2")
	e.say(0, replayed)
	if why := e.left(); why != push.BadSignature {
		t.Fatalf("another's ping: left for %s", why)
	}
}

func TestAPongTellsTheHeadForThisRunner(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	check := func(f *push.HeartbeatPong) {
		t.Helper()
		signer, ok := signatures.Recover(f.Digest(chainID, e.signer.PublicKey()), f.ValidatorSigned)
		if f.BlockHeight != w.head.Height || !ok || signer != signerOf("v0").Address() {
			t.Fatalf("the pong is %+v at height %d", f, w.head.Height)
		}
	}
	e.say(0, e.pingOf())
	check(expect[*push.HeartbeatPong](e, 0))
	w.block(nil) // and unasked at each new head
	w.pass(heraldTurn)
	check(expect[*push.HeartbeatPong](e, 0))
	e.say(0, e.pingOf())
	check(expect[*push.HeartbeatPong](e, 0))
}

// TestJ18AnOldHeartbeatIsBroughtOnChain: the ping itself, once, and again after some
// blocks where it did not arrive.
func TestJ18AnOldHeartbeatIsBroughtOnChain(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	r := w.runners[e.signer.Address()]
	submitted := func() int {
		n := len(w.submits)
		w.submits = nil
		return n
	}
	r.LastHeartbeat = 1
	e.ping()
	if submitted() != 0 {
		t.Fatal("99 blocks behind the last")
	}
	r.LastHeartbeat = 0
	ahead := e.pingOf()
	ahead.BlockHeight = w.head.Height + 1
	ahead.Signed = e.signer.Sign(ahead.Digest(chainID))
	e.say(0, ahead)
	e.sent[0] = nil
	if submitted() != 0 {
		t.Fatal("above the head")
	}
	f := e.pingOf()
	e.say(0, f)
	e.sent[0] = nil
	if len(w.submits) != 1 || w.submits[0] != (Heartbeat{Runner: e.signer.Address(), Ping: *f}) {
		t.Fatalf("submitted %v", w.submits)
	}
	submitted()
	for range heartbeatAgainBlocks - 1 {
		w.block(nil)
	}
	e.sent[0] = nil
	e.ping()
	if submitted() != 0 {
		t.Fatal("again too soon")
	}
	w.block(nil)
	e.sent[0] = nil
	e.ping()
	if submitted() != 1 {
		t.Fatal("not again, though it did not arrive")
	}
	w.block(func(h *Head) { h.Params.Push = string(selection.Sunset); h.Height += 200 })
	e.sent[0] = nil
	e.ping()
	if submitted() != 0 {
		t.Fatal("in sunset")
	}
}

// TestJ18HeartbeatsOfManyRunnersAreSpread: they become due in other blocks, and for one
// validator of the subset before the other.
func TestJ18HeartbeatsOfManyRunnersAreSpread(t *testing.T) {
	due := map[uint64]int{}
	w := newWorld(t, nil)
	for index := range 1000 {
		due[w.chain.heartbeatBlocks(&peer{index: index})]++
	}
	for blocks, n := range due {
		if blocks < 100 || blocks > 131 || n > 1000/32+1 {
			t.Errorf("%d heartbeats after %d blocks", n, blocks)
		}
	}
	first, second := w.chain.heartbeatBlocks(&peer{index: 5}), w.chain.heartbeatBlocks(&peer{index: 5, turn: 1})
	if first != 105 || second != 109 {
		t.Errorf("the first validator waits for %d blocks, the second for %d", first, second)
	}
	w.block(func(h *Head) { h.Params.StaleHeartbeatBlocks = 110 })
	if n := w.chain.heartbeatBlocks(&peer{index: 31, turn: 7}); n > 105 {
		t.Errorf("%d blocks, and stale after 110", n)
	}
	w.block(func(h *Head) { h.Params.HeartbeatTxBlocks = 1 })
	if n := w.chain.heartbeatBlocks(&peer{index: 31, turn: 7}); n != 1 {
		t.Errorf("%d blocks, where heartbeats are asked for in each", n)
	}
	v := signerOf("v0").Address()
	for _, name := range []string{"r0", "r1", "r2"} {
		key, rotation := signerOf(name).PublicKey(), w.chain.head.Rotation
		turn, _ := rotation.Turn(key, v, w.chain.head.Height, w.chain.head.Pace)
		if at := rotation.Current.Subset(key)[turn]; rotation.Current.Members[at].Address != v {
			t.Errorf("%s: another validator's turn", name)
		}
	}
}

func TestSection65ADeltaIsKeptAndChangesNoBit(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	e.ping()
	f := &push.CapabilityDelta{RemovedCapabilities: []string{"llm"}, AddedEntitlements: []string{"pool"}}
	for i := range 400 {
		f.AddedCapabilities = append(f.AddedCapabilities, "model:"+string(rune('a'+i)))
	}
	f.Signed = e.signer.Sign(f.Digest(chainID))
	e.say(0, f)
	p := w.peerOf(e)
	if w.bits() != "0" || len(p.changed.capabilities) != MaxRuntimeChanges || !p.changed.entitlements["pool"] {
		t.Fatalf("bits %q, %d capabilities kept", w.bits(), len(p.changed.capabilities))
	}
	shown := w.Live()[0].Changes
	if shown == nil || !slices.IsSorted(shown.AddedCapabilities) ||
		len(shown.AddedCapabilities)+len(shown.RemovedCapabilities) != MaxRuntimeChanges ||
		!slices.Equal(shown.AddedEntitlements, []string{"pool"}) || len(shown.RemovedEntitlements) != 0 {
		t.Errorf("it is shown as %+v", shown)
	}
	f.BlockHeight++
	e.say(0, f)
	if why := e.left(); why != push.BadSignature {
		t.Fatalf("left for %s", why)
	}
}

// peerOf is the machine's side of a live connection.
func (w *world) peerOf(e *end) *peer { return w.connections.live[e.signer.PublicKey()] }

// TestSection53TheFormerSubsetAttestsDuringTheOverlapAndThenDrains (decision J10,
// CIP-11 §11.4).
func TestSection53TheFormerSubsetAttestsDuringTheOverlapAndThenDrains(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.PresenceTimeoutBlocks = 1000 })
	idle, busy := w.live("r0"), w.live("r1")
	idle.ping()
	busy.ping()
	id := w.assign(busy.signer, 1, 1)
	w.at(busy.signer, id).Deadline += 1000
	w.block(nil)
	expect[*push.JobAssignment](busy, connection.Job(0))
	busy.ackJob(connection.Job(0), id.Job, accepted)
	w.block(func(h *Head) { h.Rotation = elsewhere(h.Rotation, h.Height) })
	for range 31 {
		if w.bits() != "01" {
			t.Fatalf("bits %q in the overlap at height %d", w.bits(), w.head.Height)
		}
		w.block(nil)
	}
	late := w.live("r2") // the overlap also lets these in
	w.block(nil)
	if w.bits() != "" {
		t.Fatalf("bits %q after the overlap", w.bits())
	}
	for _, e := range []*end{idle, late} {
		if why := e.goodbye(); why != push.NotInSubset {
			t.Fatalf("left for %s", why)
		}
	}
	w.assign(busy.signer, 2, 1)
	w.blocks(3)
	if len(busy.sent[connection.Job(1)]) != 0 || busy.closed != nil {
		t.Fatal("a former validator pushes, or dropped a job")
	}
	w.finish(busy.signer, id, Landed)
	w.block(nil)
	if !busy.done[connection.Job(0)] || busy.done[connection.Control] {
		t.Fatal("the stream is not ended, or the connection before it")
	}
	w.step(Connection{connection.Ended{ID: busy.id, Stream: connection.Job(0)}})
	if why := busy.left(); why != push.NotInSubset {
		t.Fatalf("left for %s", why)
	}
}

func TestABitmapHasTheLengthThatIsAskedFor(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"r0", "r1"} {
		w.live(name).ping()
	}
	for n := range 4 {
		bitmap := w.attested.Bitmap(w.now, n, heldAll(n))
		if bitmap.Len() != n || bitmap.Count() != min(n, 2) {
			t.Fatalf("%d of %d bits for a registry of %d", bitmap.Count(), bitmap.Len(), n)
		}
	}
}

// countingReader counts the questions for registrations.
type countingReader struct {
	Reader
	asked int
}

func (r *countingReader) Runner(a types.Address) *Registration {
	r.asked++
	return r.Reader.Runner(a)
}

// TestARegistrationIsReadAgainWhenWhatItFollowsFromChanged has heads that say that no
// registration changed, and then each of the four things that a place follows from.
func TestARegistrationIsReadAgainWhenWhatItFollowsFromChanged(t *testing.T) {
	w := newWorld(t, nil)
	counting, same := &countingReader{Reader: w}, w.head.Params
	w.head.Reader = counting
	head := func(change func(*Head)) (asked int) {
		counting.asked = 0
		w.block(func(h *Head) {
			h.Params = same
			change(h)
		})
		return counting.asked
	}
	r, first, second := w.register("r0"), new(int), new(int)
	w.live("r0").ping()
	head(func(h *Head) { h.Registry = first })
	if asked := head(func(*Head) {}); asked != 0 {
		t.Errorf("asked %d times though nothing changed", asked)
	}
	other := *same
	other.MaxSpecBytes++
	for name, change := range map[string]func(*Head){
		"it is not known whether one changed": func(h *Head) { h.Registry = nil },
		"a registration changed":              func(h *Head) { h.Registry = second },
		"a parameter changed":                 func(h *Head) { h.Params = &other },
		"the epoch changed": func(h *Head) {
			next := h.Rotation.Advanced(selection.Moment{Height: h.Height, Constants: h.Rotation.Current.Constants,
				Members: h.Rotation.Current.Members})
			h.Rotation = &next
		},
	} {
		head(func(h *Head) { h.Registry = first })
		if asked := head(change); asked != 1 {
			t.Errorf("%s: asked %d times", name, asked)
		}
	}
	head(func(h *Head) { h.Registry = first })
	w.runners[r.Address()].Deregistered = true
	head(func(h *Head) { h.Registry = second })
	if w.bits() != "" {
		t.Error("present, though it left the registry")
	}
}

// J24: of one runner two of the longest CapabilityDeltas are taken at once, then one in 32
// seconds. A new connection brings no more, and other runners have their own ration.
func TestJ24ARunnersLongFramesHaveARation(t *testing.T) {
	w := newWorld(t, nil)
	delta := func(e *end) {
		f := &push.CapabilityDelta{}
		for range 880 {
			f.AddedCapabilities = append(f.AddedCapabilities, strings.Repeat("x", 1000))
		}
		f.Signed = e.signer.Sign(f.Digest(chainID))
		e.say(0, f)
	}
	e := w.live("r0")
	delta(e)
	delta(e)
	delta(e)
	if why := e.left(); why != push.RateLimited {
		t.Fatalf("left for %s", why)
	}
	again := w.live("r0")
	delta(again)
	if why := again.left(); why != push.RateLimited {
		t.Fatalf("a new connection is left for %s", why)
	}
	other := w.live("r1")
	delta(other)
	if w.peerOf(other) == nil {
		t.Fatal("another runner pays for it")
	}
	w.now = w.now.Add(30 * time.Second)
	e = w.live("r0")
	delta(e)
	if w.peerOf(e) == nil {
		t.Fatal("the ration does not fill")
	}
}
