package simplex

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/types"
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
			v.Bitmap = []byte{byte(i)}
		}
		c.Votes = append(c.Votes, types.CertificateVote{Validator: v.Validator, Bitmap: v.Bitmap, Signature: testKey{v.Validator}.Sign(v.Digest(testChain))})
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

// A validator that answers requests with bodies that are tampered with: others
// are asked, and the block's hash is not held against it.
func TestTamperedBodies(t *testing.T) {
	w := newWorld(5, 4, func(w *world) {
		for _, n := range w.nodes {
			n.invalid = func(b *types.Block) bool { return len(b.Transactions) > 0 }
		}
		w.tamper = func(from int, s Send) []Send {
			if a, ok := s.Message.(*BlockAnswer); ok && from == 1 {
				block := *a.Block
				block.Transactions = []types.Transaction{{}}
				return []Send{{To: s.To, Message: &BlockAnswer{Block: &block}}}
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
