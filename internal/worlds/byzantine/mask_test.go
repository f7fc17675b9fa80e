package byzantine

import (
	"bytes"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

const chain = 8011

// wire keeps what is sent to each peer.
type wire struct {
	env.Mesh
	sent map[types.Address][][]byte
}

func (w *wire) Send(to types.Address, frame []byte)   { w.sent[to] = append(w.sent[to], frame) }
func (w *wire) SetPeers(peers []types.Validator)      {}
func frameOf(tag byte, message any) []byte            { return append([]byte{tag}, codec.Marshal(message)...) }
func peerAt(n byte) types.Address                     { return types.Address{n} }
func counts(c *fault.Counts) (forged, withheld int64) { return c.Forged.Load(), c.Withheld.Load() }

// masked is a validator that misbehaves, with the peers 1, 2 and 3; the latter
// two are lied to.
func masked(t *testing.T, kind Kind) (*wire, env.Mesh, *crypto.Key, *fault.Counts) {
	t.Helper()
	key := crypto.DeriveKey(1, "v0")
	signer := crypto.NewVerifier(true).Signer(key)
	mask, w, c := NewMask(chain, signer), &wire{sent: map[types.Address][][]byte{}}, new(fault.Counts)
	out := mask.Wrap(w)
	out.SetPeers([]types.Validator{{Address: peerAt(3)}, {Address: peerAt(1)}, {Address: key.Address()}, {Address: peerAt(2)}})
	if err := mask.Behave(string(kind), c); err != nil {
		t.Fatal(err)
	}
	return w, out, key, c
}

func proposalBy(key *crypto.Key) *types.Proposal {
	signer := crypto.NewVerifier(true).Signer(key)
	p := &types.Proposal{View: 4, Block: &types.Block{Header: types.Header{ChainID: chain, Height: 3, View: 4, Timestamp: 1000,
		Proposer: key.Address()}}}
	p.Signature = signer.Sign(p.Digest())
	return p
}

func voteBy(key *crypto.Key, kind types.VoteKind) *types.Vote {
	v := &types.Vote{Kind: kind, View: 4, Height: 3, Block: types.Hash{7}, Validator: key.Address()}
	v.Signature = crypto.NewVerifier(true).Signer(key).Sign(v.Digest(chain))
	return v
}

// decoded reads a frame that was sent, and fails where its signature is not the
// liar's own.
func decoded(t *testing.T, key *crypto.Key, frame []byte) (*types.Proposal, *types.Vote) {
	t.Helper()
	verifier := crypto.NewVerifier(false)
	switch frame[0] {
	case mesh.Proposal:
		p := new(types.Proposal)
		if err := codec.Unmarshal(frame[1:], env.MaxFrameBytes, p); err != nil {
			t.Fatal(err)
		}
		if by, ok := verifier.Recover(p.Digest(), p.Signature); !ok || by != key.Address() {
			t.Errorf("a proposal is signed by %s", by)
		}
		return p, nil
	case mesh.Vote:
		v := new(types.Vote)
		if err := codec.Unmarshal(frame[1:], env.MaxFrameBytes, v); err != nil {
			t.Fatal(err)
		}
		if by, ok := verifier.Recover(v.Digest(chain), v.Signature); !ok || by != key.Address() || v.Validator != by {
			t.Errorf("a vote is signed by %s", by)
		}
		return nil, v
	}
	return nil, nil
}

func TestAnEquivocatorTellsTwoHalvesTwoThings(t *testing.T) {
	w, out, key, c := masked(t, Equivocate)
	p := proposalBy(key)
	frame := frameOf(mesh.Proposal, p)
	for n := byte(1); n <= 3; n++ {
		out.Send(peerAt(n), frame)
	}
	if got := w.sent[peerAt(1)]; len(got) != 1 || !bytes.Equal(got[0], frame) {
		t.Errorf("the first half gets another frame")
	}
	for n := byte(2); n <= 3; n++ {
		got := w.sent[peerAt(n)]
		if len(got) != 2 {
			t.Fatalf("peer %d gets %d frames, want the twin and the vote for it", n, len(got))
		}
		twin, _ := decoded(t, key, got[0])
		_, vote := decoded(t, key, got[1])
		if twin.Block.Hash() == p.Block.Hash() || vote.Block != twin.Block.Hash() || vote.View != 4 || vote.Height != 3 {
			t.Errorf("peer %d gets %+v and %+v", n, twin, vote)
		}
	}
	if p.Block.Header.Timestamp != 1000 {
		t.Error("the validator's own block was changed")
	}
	if forged, withheld := counts(c); forged != 4 || withheld != 0 {
		t.Errorf("%d forged, %d withheld", forged, withheld)
	}
}

func TestAnEquivocatorVotesTwice(t *testing.T) {
	for kind, want := range map[types.VoteKind]types.VoteKind{types.Notarize: types.Notarize, types.Finalize: types.Nullify} {
		w, out, key, _ := masked(t, Equivocate)
		vote := voteBy(key, kind)
		out.Send(peerAt(3), frameOf(mesh.Vote, vote))
		if len(w.sent[peerAt(3)]) != 2 {
			t.Fatalf("%v: %d frames", kind, len(w.sent[peerAt(3)]))
		}
		contradicts := false
		for _, frame := range w.sent[peerAt(3)] {
			_, v := decoded(t, key, frame)
			contradicts = contradicts || v.Kind == want && v.Block != vote.Block && v.View == vote.View
		}
		if !contradicts {
			t.Errorf("no vote contradicts the %v vote", kind)
		}
	}
}

func TestWhatIsWithheldAndWhatPasses(t *testing.T) {
	key := crypto.DeriveKey(1, "v0")
	other := crypto.DeriveKey(1, "v1")
	frames := map[string][]byte{
		"proposal": frameOf(mesh.Proposal, proposalBy(key)), "vote": frameOf(mesh.Vote, voteBy(key, types.Notarize)),
		"another's vote": frameOf(mesh.Vote, voteBy(other, types.Notarize)), "certificate": {3, 0x80}, "empty": {}, "garbage": {mesh.Vote, 0xff},
	}
	for kind, gone := range map[Kind]string{WithholdVotes: "vote", SilentLeader: "proposal"} {
		for name, frame := range frames {
			w, out, _, c := masked(t, kind)
			out.Send(peerAt(2), frame)
			_, withheld := counts(c)
			if sent := len(w.sent[peerAt(2)]) == 1; sent == (name == gone) || (withheld == 1) != (name == gone) {
				t.Errorf("%s: %s: sent %v, %d withheld", kind, name, sent, withheld)
			}
		}
	}
}

func TestABadStateRootIsSignedWell(t *testing.T) {
	w, out, key, c := masked(t, BadStateRoot)
	p := proposalBy(key)
	out.Send(peerAt(1), frameOf(mesh.Proposal, p))
	bad, _ := decoded(t, key, w.sent[peerAt(1)][0])
	if bad.Block.Header.StateRoot == p.Block.Header.StateRoot || bad.View != p.View {
		t.Errorf("%+v", bad)
	}
	if forged, _ := counts(c); forged != 1 {
		t.Errorf("%d forged", forged)
	}
}

func TestAMaskThatIsTakenOffPassesEverything(t *testing.T) {
	w := &wire{sent: map[types.Address][][]byte{}}
	key := crypto.DeriveKey(1, "v0")
	mask := NewMask(chain, crypto.NewVerifier(true).Signer(key))
	out := mask.Wrap(w)
	if err := mask.Behave("withhold_votes", new(fault.Counts)); err != nil || !mask.Misbehaves() {
		t.Fatal(err)
	}
	mask.Honest()
	out.Send(peerAt(1), frameOf(mesh.Vote, voteBy(key, types.Finalize)))
	if len(w.sent[peerAt(1)]) != 1 || mask.Misbehaves() {
		t.Error("an honest validator's vote did not leave")
	}
}

// Every kind that the table of faults knows has its behaviour, and none is left over.
func TestEachKindHasItsBehaviour(t *testing.T) {
	mask := NewMask(chain, crypto.NewVerifier(true).Signer(crypto.DeriveKey(1, "v0")))
	for _, kind := range fault.KindsOf(fault.Validators) {
		if err := mask.Behave(kind, new(fault.Counts)); err != nil {
			t.Error(err)
		}
	}
	if len(behaviours) != len(fault.KindsOf(fault.Validators)) {
		t.Errorf("%d behaviours of %d kinds", len(behaviours), len(fault.KindsOf(fault.Validators)))
	}
	for _, kind := range []string{"nonsense", fault.Honest, "reject"} {
		if mask.Behave(kind, new(fault.Counts)) == nil {
			t.Errorf("%s is a behaviour", kind)
		}
	}
}

func tamperedBody(t *testing.T, frame []byte) *types.Block {
	t.Helper()
	var p types.Proposal
	var a blockAnswer
	var b batch
	switch frame[0] {
	case mesh.Proposal:
		if codec.Unmarshal(frame[1:], env.MaxFrameBytes, &p) == nil {
			return p.Block
		}
	case mesh.BlockAnswer:
		if codec.Unmarshal(frame[1:], env.MaxFrameBytes, &a) == nil {
			return a.Block
		}
	case mesh.Batch:
		if codec.Unmarshal(frame[1:], env.MaxFrameBytes, &b) == nil && len(b.Blocks) > 0 {
			return b.Blocks[len(b.Blocks)-1]
		}
	}
	t.Fatalf("a frame of kind %d cannot be read", frame[0])
	return nil
}

// Each block leaves under its own header and signature, with another body.
func TestABodyIsTamperedWithUnderItsHeader(t *testing.T) {
	for _, txs := range [][]types.Transaction{nil, {{Nonce: 1}, {Nonce: 2}}} {
		w, out, key, c := masked(t, TamperBody)
		p := proposalBy(key)
		p.Block.Transactions = txs
		p.Block.Header.Transactions, p.Block.Header.Passed = types.TransactionsHash(txs), types.PassedHash(nil)
		p.Signature = crypto.NewVerifier(true).Signer(key).Sign(p.Digest())
		for _, frame := range [][]byte{frameOf(mesh.Proposal, p), frameOf(mesh.BlockAnswer, &blockAnswer{Block: p.Block}),
			frameOf(mesh.Batch, &batch{Blocks: []*types.Block{p.Block}})} {
			out.Send(peerAt(1), frame)
		}
		if len(w.sent[peerAt(1)]) != 3 {
			t.Fatalf("%d frames", len(w.sent[peerAt(1)]))
		}
		decoded(t, key, w.sent[peerAt(1)][0])
		for _, frame := range w.sent[peerAt(1)] {
			body := tamperedBody(t, frame)
			if body.Hash() != p.Block.Hash() || body.CheckBody() == nil {
				t.Errorf("kind %d with %d transactions: header changed %v, body %v", frame[0], len(txs), body.Hash() != p.Block.Hash(),
					body.CheckBody())
			}
		}
		if p.Block.CheckBody() != nil {
			t.Error("the validator's own block was changed")
		}
		if forged, _ := counts(c); forged != 3 {
			t.Errorf("%d forged", forged)
		}
	}
}

func TestBodiesAreWithheld(t *testing.T) {
	w, out, key, c := masked(t, WithholdBody)
	p := proposalBy(key)
	for n := byte(1); n <= 3; n++ {
		out.Send(peerAt(n), frameOf(mesh.Proposal, p))
		out.Send(peerAt(n), frameOf(mesh.BlockAnswer, &blockAnswer{Block: p.Block}))
		out.Send(peerAt(n), frameOf(mesh.Batch, &batch{Blocks: []*types.Block{p.Block}}))
		out.Send(peerAt(n), frameOf(mesh.Vote, voteBy(key, types.Notarize)))
	}
	for n, want := range map[byte]int{1: 2, 2: 2, 3: 1} { // f = 1 of 4
		if got := len(w.sent[peerAt(n)]); got != want {
			t.Errorf("peer %d gets %d frames, want %d", n, got, want)
		}
	}
	if _, withheld := counts(c); withheld != 7 {
		t.Errorf("%d withheld", withheld)
	}
}

// Whatever is said in the name of others is signed by the liar's own key.
func TestAnImpersonatorSignsWithItsOwnKey(t *testing.T) {
	w, out, key, _ := masked(t, Impersonate)
	verifier := crypto.NewVerifier(false)
	out.Send(peerAt(1), frameOf(mesh.Vote, voteBy(key, types.Notarize)))
	out.Send(peerAt(1), frameOf(mesh.Proposal, proposalBy(key)))
	named := map[types.Address]int{}
	certificates := 0
	for _, frame := range w.sent[peerAt(1)] {
		switch frame[0] {
		case mesh.Vote:
			v := new(types.Vote)
			if err := codec.Unmarshal(frame[1:], env.MaxFrameBytes, v); err != nil {
				t.Fatal(err)
			}
			if by, ok := verifier.Recover(v.Digest(chain), v.Signature); !ok || by != key.Address() {
				t.Errorf("a vote of %s is signed by %s", v.Validator, by)
			}
			named[v.Validator]++
		case mesh.Certificate:
			certificates++
		case mesh.Proposal:
			p := new(types.Proposal)
			if err := codec.Unmarshal(frame[1:], env.MaxFrameBytes, p); err != nil {
				t.Fatal(err)
			}
			if by, ok := verifier.Recover(p.Digest(), p.Signature); !ok || by != key.Address() {
				t.Errorf("a proposal of view %d is signed by %s", p.View, by)
			}
			named[p.Block.Header.Proposer]++
		}
	}
	others := named[peerAt(1)] + named[peerAt(2)] + named[peerAt(3)]
	if certificates != 2 || others < 6 || named[key.Address()]+others != 9 {
		t.Errorf("%d certificates, named %v", certificates, named)
	}
}

func TestAFlooderTellsTheTruthAmongRubbish(t *testing.T) {
	w, out, key, c := masked(t, Flood)
	frame := frameOf(mesh.Vote, voteBy(key, types.Finalize))
	out.Send(peerAt(2), frame)
	kinds := map[byte]bool{}
	for _, f := range w.sent[peerAt(2)] {
		kinds[f[0]] = true
	}
	if got := w.sent[peerAt(2)]; len(got) != floodFrames+1 || !bytes.Equal(got[0], frame) || len(kinds) != 6 {
		t.Errorf("%d frames of the kinds %v", len(got), kinds)
	}
	if forged, withheld := counts(c); forged == 0 || withheld != 0 {
		t.Errorf("%d forged, %d withheld", forged, withheld)
	}
}
