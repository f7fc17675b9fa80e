package simplex

import (
	"errors"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// forgeries are certificates that must not pass.
var forgeries = map[string]func(c *types.Certificate){
	"too few votes":     func(c *types.Certificate) { c.Votes = c.Votes[:2] },
	"a vote twice":      func(c *types.Certificate) { c.Votes[1] = c.Votes[0] },
	"out of order":      func(c *types.Certificate) { slices.Reverse(c.Votes) },
	"a stranger's vote": func(c *types.Certificate) { c.Votes[2].Validator = testAddress(9) },
	"another block":     func(c *types.Certificate) { c.Block[5]++ },
	"another view":      func(c *types.Certificate) { c.View += 3 },
	"another height":    func(c *types.Certificate) { c.Height++ },
	"another kind":      func(c *types.Certificate) { c.Kind = types.Notarize + types.Finalize - c.Kind },
	"unknown kind":      func(c *types.Certificate) { c.Kind = 9 },
	"another epoch":     func(c *types.Certificate) { c.Epoch += 7 },
	"view 0":            func(c *types.Certificate) { c.View = 0 },
	"a long bitmap":     func(c *types.Certificate) { c.Votes[0].Bitmap = make([]byte, MaxBitmapBytes+1) },
	"a bent signature":  func(c *types.Certificate) { c.Votes[0].Signature[30]++ },
	"no votes":          func(c *types.Certificate) { c.Votes = nil },
}

func signedCertificate(kind types.VoteKind, voters ...int) *types.Certificate {
	c := &types.Certificate{Kind: kind, View: 3, Height: 2, Block: types.Hash{7}}
	if kind == types.Nullify {
		c.Height, c.Block = 0, types.Hash{}
	}
	for _, i := range voters {
		v := types.Vote{Kind: kind, View: c.View, Height: c.Height, Block: c.Block, Validator: testAddress(i)}
		if kind == types.Notarize {
			v.Bitmap = bitmapOf(byte(i))
		}
		c.Votes = append(c.Votes, types.CertificateVote{Validator: v.Validator, Bitmap: v.Bitmap,
			Signature: testKey{v.Validator}.Sign(v.Digest(testChain))})
	}
	return c
}

func TestForgedCertificatesAreRefused(t *testing.T) {
	sets := Sets{testSet(0, 4)}
	for _, kind := range []types.VoteKind{types.Notarize, types.Finalize, types.Nullify} {
		if _, err := CheckCertificate(testChain, testRecoverer{}, sets, signedCertificate(kind, 0, 2, 3)); err != nil {
			t.Errorf("a good %s certificate: %v", kind, err)
		}
		if _, err := CheckCertificate(testChain+1, testRecoverer{}, sets, signedCertificate(kind, 0, 2, 3)); err == nil {
			t.Errorf("a %s certificate of another chain passes", kind)
		}
		for name, forge := range forgeries {
			if kind == types.Nullify && name == "another kind" {
				continue
			}
			c := signedCertificate(kind, 0, 2, 3)
			forge(c)
			if _, err := CheckCertificate(testChain, testRecoverer{}, sets, c); err == nil {
				t.Errorf("a %s certificate with %s passes", kind, name)
			}
		}
	}
}

// A validator that sends every certificate forged in some way, and puts forged
// ones into its blocks.
func TestForgingValidator(t *testing.T) {
	names := make([]string, 0, len(forgeries))
	for name := range forgeries {
		names = append(names, name)
	}
	slices.Sort(names)
	turn := 0
	survives(t, func(w *world, s Send) []Send {
		turn++
		forge := func(c *types.Certificate) *types.Certificate {
			if c == nil || len(c.Votes) < 3 {
				return c
			}
			forged := *c
			forged.Votes = slices.Clone(c.Votes)
			forgeries[names[turn%len(names)]](&forged)
			return &forged
		}
		switch m := s.Message.(type) {
		case *types.Certificate:
			return []Send{{To: s.To, Message: forge(m)}}
		case *types.Proposal:
			block := *m.Block
			block.Parent = forge(block.Parent)
			p := &types.Proposal{View: m.View, Block: &block, Signature: m.Signature}
			return []Send{{Message: p}}
		}
		return []Send{s}
	})
}

// tamperings change a body under its header. The header's commitments are compared
// when the body is verified; no hash covers the certificates, and they are judged
// with the block's execution.
var tamperings = map[string]func(*types.Block){
	"transactions": func(b *types.Block) { b.Transactions = []types.Transaction{{}} },
	"certificates": func(b *types.Block) {
		if b.Parent != nil && len(b.Parent.Votes) > 3 {
			parent := *b.Parent
			parent.Votes = parent.Votes[1:]
			b.Parent = &parent
		}
	},
}

// A validator that answers requests with bodies that are tampered with: others
// are asked, and the block's hash is not held against it.
func TestTamperedBodies(t *testing.T) {
	for name, tampering := range tamperings {
		t.Run(name, func(t *testing.T) { survivesTampering(t, tampering) })
	}
}

func survivesTampering(t *testing.T, tampering func(*types.Block)) {
	whole := map[types.Hash]int{} // votes of the parent's notarization, as the leader proposed it
	w := newWorld(5, 4, func(w *world) {
		for _, n := range w.nodes {
			n.invalid = func(b *types.Block) bool {
				return len(b.Transactions) > 0 || b.Parent != nil && len(b.Parent.Votes) < whole[b.Hash()]
			}
		}
		w.tamper = func(from int, s Send) []Send {
			if a, ok := s.Message.(*BlockAnswer); ok && from == 1 {
				block := *a.Block
				tampering(&block)
				return []Send{{To: s.To, Message: &BlockAnswer{Block: &block}}}
			}
			if p, ok := s.Message.(*types.Proposal); ok && p.Block.Parent != nil {
				whole[p.Block.Hash()] = len(p.Block.Parent.Votes)
			}
			if p, ok := s.Message.(*types.Proposal); ok && from == 1 && p.View%2 == 1 {
				to := testAddress(2) // the others have to ask
				return []Send{{To: &to, Message: p}, {To: addressOf(0), Message: p}}
			}
			return []Send{s}
		}
	})
	if !w.run(10*60*1e9, func() bool { return w.minHeight() >= 60 }) {
		t.Fatalf("%q, %s", w.violation, describeWorld(w))
	}
}

func addressOf(i int) *types.Address { a := testAddress(i); return &a }

// The body of a notarized block comes tampered with: it is dropped, another peer
// is asked an interval later, and the true one is taken.
func TestTamperedBodyIsFetchedAgain(t *testing.T) {
	s := newSolo(t, 4, nil)
	first := s.settled()
	b := s.child(first, 2)
	s.receive(1, s.certificate(types.Notarize, 2, b, 1, 2, 3))
	if asked := s.requested(); len(asked) != 1 || asked[0] != testAddress(1) {
		t.Fatalf("asked %v", asked)
	}
	tampered := *b
	tampered.Parent = s.certificate(types.Notarize, 1, first, 0, 1, 2)
	s.receive(1, &BlockAnswer{Block: &tampered})
	s.execute(false)
	s.wait(500 * 1e6)
	if asked := s.requested(); len(asked) != 2 {
		t.Fatalf("asked %v", asked)
	}
	s.receive(2, &BlockAnswer{Block: b})
	s.execute(true)
	s.receive(2, s.certificate(types.Finalize, 2, b, 1, 2, 3))
	if s.m.Root().Hash != b.Hash() {
		t.Error("the true body is not taken")
	}
}

// A body that is not the one its header commits to reaches no core, however well
// its header is signed.
func TestABodyThatIsNotItsHeadersIsRefused(t *testing.T) {
	s := newSolo(t, 4, nil)
	first := s.settled()
	b := s.child(first, 2)
	b.Transactions = []types.Transaction{{Nonce: 1}, {Nonce: 2}}
	b.Header.Transactions = types.TransactionsHash(b.Transactions)
	for name, tamper := range map[string]func(*types.Block){
		"":                     func(*types.Block) {},
		"without transactions": func(b *types.Block) { b.Transactions = nil },
		"with one less":        func(b *types.Block) { b.Transactions = b.Transactions[:1] },
		"with one more":        func(b *types.Block) { b.Transactions = append(slices.Clone(b.Transactions), types.Transaction{}) },
		"in another order":     func(b *types.Block) { b.Transactions = []types.Transaction{{Nonce: 2}, {Nonce: 1}} },
		"with another signature": func(b *types.Block) {
			b.Transactions = []types.Transaction{{Nonce: 1, Signature: &types.Signature{1}}, {Nonce: 2}}
		},
	} {
		body := *b
		tamper(&body)
		p := &types.Proposal{View: 2, Block: &body}
		p.Signature = testKey{testAddress(2)}.Sign(p.Digest())
		for _, message := range []Message{p, &BlockAnswer{Block: &body}} {
			_, err := Check(testChain, testRecoverer{}, s.m.Sets(), message)
			var refused *Invalid
			if name == "" && err != nil || name != "" && (!errors.As(err, &refused) || refused.Code != "wrong_body") {
				t.Errorf("%T %s: %v", message, name, err)
			}
		}
	}
}

func (s *solo) requested() (peers []types.Address) {
	for _, send := range s.all.Send {
		if _, ok := send.Message.(*BlockRequest); ok {
			peers = append(peers, *send.To)
		}
	}
	return peers
}

// Unrequested bodies are not kept.
func TestUnaskedBodiesAreNotKept(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.receive(1, &BlockAnswer{Block: s.child(nil, 1)})
	if len(s.m.bodies.nodes) != 0 {
		t.Error("a body is kept")
	}
}

// A peer's requests are answered up to the limit, then again after an interval.
func TestRequestsAreLimited(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.settled()
	answers := func() (n int) {
		for range 3 * MaxRequests {
			n += len(s.receive(2, &BlockRequest{Hash: b.Hash()}).Send)
		}
		return n
	}
	if n := answers(); n != MaxRequests {
		t.Errorf("%d answers", n)
	}
	s.wait(600 * 1e6)
	if n := answers(); n != MaxRequests {
		t.Errorf("%d answers an interval later", n)
	}
}

// Possible errors in a header, without those of execution.
func TestWrongHeaders(t *testing.T) {
	for name, spoil := range map[string]func(*types.Block){
		"height":         func(b *types.Block) { b.Header.Height++ },
		"skips to wrap":  func(b *types.Block) { b.Header.Skipped = 1<<64 - 2; b.Header.Height -= 2 },
		"view":           func(b *types.Block) { b.Header.View = 1 },
		"a later view":   func(b *types.Block) { b.Header.View = 6 },
		"proposer":       func(b *types.Block) { b.Header.Proposer = testAddress(3) },
		"timestamp":      func(b *types.Block) { b.Header.Timestamp = 0 },
		"parent":         func(b *types.Block) { b.Parent = nil },
		"a finalization": func(b *types.Block) { c := *b.Parent; c.Kind = types.Finalize; b.Finalization = &c },
	} {
		s := newSolo(t, 4, nil)
		first := s.settled()
		b := s.child(first, 2)
		spoil(b)
		p := &types.Proposal{View: 2, Block: b}
		p.Signature = testKey{testAddress(2)}.Sign(p.Digest())
		if v, err := CheckProposal(testChain, testRecoverer{}, s.m.Sets(), p); err == nil {
			s.step(Received{From: testAddress(2), Message: v})
			if !s.voted(types.Nullify, 2) {
				t.Errorf("%s: not refused", name)
			}
		}
		if s.voted(types.Notarize, 2) || len(s.out.Ask) > 0 {
			t.Errorf("%s: taken", name)
		}
	}
}
