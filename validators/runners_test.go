package validators_test

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/gateway"
)

func call(handler string, args any) *types.Execute {
	return &types.Execute{Kind: types.KindExecute, Handler: handler, Payload: codec.Marshal(args)}
}

// deployed is a sample counter, which jobs call back.
func (b *bench) deployed() types.Address {
	b.Helper()
	tx, address := b.Deploy("alice", samples.Code("counter"), types.WeiOf(1_000))
	b.send(tx)
	b.blocks(3)
	return address
}

// subset is how many of four validators a runner belongs to.
const subset = 3

// CIP-11 §§6 to 11 through whole validators: Hello, ping, the bit in every vote, P,
// the draw, the push on every connection, ack, result, commitment, reveal, callback.
func TestAJobGoesItsWayFromConnectionToCallback(t *testing.T) {
	for _, committee := range []uint64{1, 3} {
		b := newBench(t, 4, 3, nil)
		counter := b.deployed()
		var hands []*hand
		for _, runner := range []string{"r0", "r1", "r2"} {
			hands = append(hands, b.everywhere(runner)...)
		}
		b.blocks(4)
		if got := b.present(); !slices.Equal(got, []int{0, 1, 2}) {
			t.Fatalf("present are %v", got)
		}
		from := b.Tip() + 1
		b.submit(committee, counter)
		b.blocks(8)
		want := []types.JobChangeKind{types.JobChangeSubmitted, types.JobChangeDrawn}
		if committee > 1 {
			want = append(want, types.JobChangeCommitted, types.JobChangeRevealed)
		} else {
			want = append(want, types.JobChangeRevealed)
		}
		want = append(want, types.JobChangeCompleted, types.JobChangeCalledBack)
		if got := slices.Compact(b.changes(from)); !slices.Equal(got, want) {
			t.Fatalf("the job went %v, want %v", got, want)
		}
		pushed, cancelled := 0, 0
		for _, h := range hands {
			pushed += heardOf[*push.JobAssignment](h)
			cancelled += heardOf[*push.JobCancel](h)
			if h.reason != "" || h.down {
				t.Errorf("an honest runner was left: %q", h.reason)
			}
		}
		if pushed != int(committee)*subset || cancelled != 0 {
			t.Errorf("%d assignments were pushed and %d cancelled, want %d of %d validators each", pushed, cancelled, committee, subset)
		}
		lives, successes := 0, 0
		for _, name := range b.Names() {
			status, live := b.Validator(name).Status().Runners, b.Validator(name).Connections()
			lives += status.Live
			successes += int(status.Outcomes[gateway.Success])
			if len(live) != status.Live || int(status.Refused[slices.Index(push.Reasons[:], push.NotInSubset)]) != 3-status.Live {
				t.Errorf("%s shows %+v, and counts %+v", name, live, status)
			}
			for _, one := range live {
				if !one.Accepting || one.Pinged <= one.Since || one.Streams != 0 {
					t.Errorf("%s shows %+v", name, one)
				}
			}
		}
		if lives != 3*subset || successes != pushed {
			t.Errorf("%d connections are live, %d deliveries were a success", lives, successes)
		}
	}
}

// A block's assignments leave before the block is written and shown, whichever role
// the seed lets step first: a runner waits for them, and no reader waits for the
// store.
func TestAnAssignmentLeavesBeforeItsBlockIsWritten(t *testing.T) {
	b := newBench(t, 4, 1, nil)
	counter := b.deployed()
	pushed := 0
	for _, h := range b.everywhere("r0") {
		for _, name := range b.Names() {
			if v := b.Validator(name); b.Key(name).PublicKey() == h.to {
				h.saw = func(f push.Frame) {
					if a, is := f.(*push.JobAssignment); is {
						pushed++
						if written := v.Head().Block.Header.Height; written >= a.BlockHeight {
							t.Errorf("%s has written the blocks up to %d, and says only now what %d draws", name, written, a.BlockHeight)
						}
					}
				}
			}
		}
	}
	b.blocks(4)
	const jobs = 8
	for range jobs {
		b.served(counter)
	}
	if pushed != jobs*subset {
		t.Errorf("%d assignments were pushed", pushed)
	}
}

// CIP-11 §7.2, J9: P follows the connections. It is empty before the first ping, and
// again when the runner is gone.
func TestPresenceFollowsTheConnection(t *testing.T) {
	b := newBench(t, 4, 2, nil)
	if got := b.present(); len(got) != 0 {
		t.Fatalf("%v are present without a connection", got)
	}
	first, second := b.everywhere("r0"), b.everywhere("r1")
	b.blocks(3)
	if got := b.present(); !slices.Equal(got, []int{0, 1}) {
		t.Fatalf("present are %v", got)
	}
	for _, h := range first {
		h.leave()
	}
	b.blocks(3)
	if got := b.present(); !slices.Equal(got, []int{1}) {
		t.Fatalf("present are %v after the end of r0's connections", got)
	}
	for _, h := range second {
		h.honest = false // its connections stay, and it is silent
	}
	b.blocks(6)
	if got := b.present(); len(got) != 0 {
		t.Fatalf("%v are present and ping no more", got)
	}
}

// The attacks of CIP-11 §15 on one validator's connections: the attacker loses that
// connection and its bit; an honest runner is served after each.
func TestAttacksOnAConnectionHurtOnlyTheirMaker(t *testing.T) {
	b := newBench(t, 4, 2, nil)
	counter := b.deployed()
	b.everywhere("r1")
	for what, attack := range map[push.Reason]func(h *hand){
		push.BadNonce: func(h *hand) { h.nonce--; h.ping() },
		push.BadSignature: func(h *hand) {
			h.say(0, &push.HeartbeatPing{BlockHeight: 1, Nonce: 1 << 60, Signed: types.Signature{1}})
		},
		push.Malformed:       func(h *hand) { h.raw(0, byte(push.TypeHeartbeatPing), 0xff) },
		push.UnknownFrame:    func(h *hand) { h.raw(0, 99, 0xa0) },
		push.UnexpectedFrame: func(h *hand) { h.say(0, &push.JobProgress{}) },
		push.RateLimited: func(h *hand) {
			for range 40 {
				h.ping()
			}
		},
	} {
		liars := b.everywhere("r0")
		b.blocks(3)
		if got := b.present(); !slices.Equal(got, []int{0, 1}) {
			t.Fatalf("%s: present are %v", what, got)
		}
		for _, h := range liars {
			h.honest = false
			attack(h)
		}
		b.blocks(3)
		for _, h := range liars {
			if h.reason != string(what) || !h.down {
				t.Errorf("left for %q, want %s", h.reason, what)
			}
		}
		if got := b.present(); !slices.Equal(got, []int{1}) {
			t.Errorf("%s: present are %v", what, got)
		}
		b.served(counter)
	}
}

// Decision J11: what each phase lets in, attests and pushes.
func TestJ11ThePhases(t *testing.T) {
	for _, c := range []struct {
		phase  string
		lets   bool
		pushes bool
	}{{"off", false, false}, {"shadow", true, false}, {"hot", true, true}, {"sunset", true, true}} {
		b := newBench(t, 4, 1, params.Overrides{"cip11.push": c.phase})
		counter := b.deployed()
		hands := b.everywhere("r0")
		b.blocks(3)
		if got := len(b.present()) == 1; got != c.lets || hands[0].down == c.lets {
			t.Fatalf("%s: present are %v", c.phase, b.present())
		}
		b.submit(1, counter)
		b.blocks(4)
		if got := heardOf[*push.JobAssignment](hands[0]) == 1; got != c.pushes {
			t.Errorf("%s: pushed %v", c.phase, got)
		}
	}
}

// leave ends a connection from the runner's side.
func (h *hand) leave() {
	h.down = true
	h.end.tell(connection.Down{ID: h.id, Closed: true})
}

// raw sends bytes that may be an invalid frame.
func (h *hand) raw(stream connection.Stream, frame ...byte) {
	h.end.tell(connection.Came{ID: h.id, Stream: stream, Frame: frame})
}

// bent is a mesh that puts a test's bitmaps into notarize votes.
type bent struct {
	env.Mesh
	bench *bench
	name  string
	as    *func(bitmap []byte) []byte // nil: as they are
}

// Send implements env.Mesh.
func (m *bent) Send(to types.Address, frame []byte) {
	var v types.Vote
	if *m.as != nil && frame[0] == mesh.Vote && codec.Unmarshal(frame[1:], env.MaxFrameBytes, &v) == nil && v.Kind == types.Notarize {
		key := m.bench.Key(m.name)
		if v.Bitmap = (*m.as)(v.Bitmap); v.Validator == key.Address() {
			v.Signature = m.bench.Scheme().Signer(key).Sign(v.Digest(8011))
			frame = append([]byte{mesh.Vote}, codec.Marshal(&v)...)
		}
	}
	m.Mesh.Send(to, frame)
}

// CIP-11 §§7.1, 12.3: a vote whose bitmap has another form is invalid, and counted; one
// of another length, rightly signed, counts for the existing runners (§8.4). The chain
// continues, no runner's presence changes, and honest runners are served.
func TestForgedBitmapsInVotesAreRefusedAndCounted(t *testing.T) {
	var as func([]byte) []byte
	b := newBentBench(t, 4, 2, nil, func(b *bench, name string, node env.Validator) env.Validator {
		if name == "v3" {
			node.Mesh = &bent{node.Mesh, b, name, &as}
		}
		return node
	})
	counter := b.deployed()
	b.everywhere("r0")
	b.everywhere("r1")
	b.blocks(4)
	for _, c := range []struct {
		what    string
		as      func([]byte) []byte
		refused bool
	}{
		{"null", func([]byte) []byte { return nil }, true},
		{"a length alone", func(was []byte) []byte { return was[:4] }, true},
		{"a byte too many", func(was []byte) []byte { return append(slices.Clone(was), 0) }, true},
		{"a bit beyond its length", func(was []byte) []byte { return []byte{0, 0, 0, 2, 7} }, true},
		{"no bits, with their length", func([]byte) []byte { return []byte{0, 0, 0, 0} }, true},
		{"a length of four thousand million", func([]byte) []byte { return []byte{255, 255, 255, 255, 3} }, true},
		{"more bytes than any has", func([]byte) []byte { return make([]byte, 1<<16) }, true},
		{"a runner that is not", func([]byte) []byte { return []byte{0, 0, 0, 3, 7} }, false},
		{"nobody", func([]byte) []byte { return []byte{} }, false},
	} {
		before := b.Validator("v0").Status().Refused.Frames
		as = c.as
		b.blocks(4)
		as = nil
		if got := b.Validator("v0").Status().Refused.Frames > before; got != c.refused {
			t.Errorf("%s: refused and counted: %v", c.what, got)
		}
		if got := b.present(); !slices.Equal(got, []int{0, 1}) {
			t.Errorf("%s: present are %v", c.what, got)
		}
		b.served(counter)
	}
}
