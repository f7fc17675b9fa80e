package simplex

import (
	"errors"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// The sets that forged messages are checked by: epoch 5 has four validators, 0 to
// 3, with a quorum of three. Epoch 4 had seven, 0 to 6, with a quorum of five.
const presentEpoch, formerEpoch = 5, 4

func forgedSets() Sets { return Sets{testSet(presentEpoch, 4), testSet(formerEpoch, 7)} }

func signedBy(i int, digest types.Hash) types.Signature { return testKey{testAddress(i)}.Sign(digest) }

// voteOf is a good vote of a member, in view 6.
func voteOf(epoch types.Epoch, kind types.VoteKind, member int) *types.Vote {
	v := &types.Vote{Kind: kind, Epoch: epoch, View: 6, Height: 9, Block: types.Hash{7}, Validator: testAddress(member)}
	switch kind {
	case types.Nullify:
		v.Height, v.Block = 0, types.Hash{}
	case types.Notarize:
		v.Bitmap = bitmapOf(byte(member))
	}
	v.Signature = signedBy(member, v.Digest(testChain))
	return v
}

// certificateOf is the votes of members, each signed by itself.
func certificateOf(epoch types.Epoch, kind types.VoteKind, members ...int) *types.Certificate {
	c := &types.Certificate{}
	for _, i := range members {
		v := voteOf(epoch, kind, i)
		c.Kind, c.Epoch, c.View, c.Height, c.Block = v.Kind, v.Epoch, v.View, v.Height, v.Block
		c.Votes = append(c.Votes, types.CertificateVote{Validator: v.Validator, Bitmap: v.Bitmap, Signature: v.Signature})
	}
	return c
}

// blockAfter is a block of view 7 on the block that certificates of view 6 name.
func blockAfter() *types.Block {
	return &types.Block{Header: types.Header{ChainID: testChain, Epoch: presentEpoch, SetEpoch: presentEpoch, View: 7, Height: 10,
		Parent:   types.Hash{7},
		Proposer: testAddress(3), Transactions: noTransactions, Passed: types.PassedHash(nil)},
		Parent: certificateOf(presentEpoch, types.Notarize, 0, 1, 2)}
}

// proposalOf is block b for a view, signed by a member.
func proposalOf(b *types.Block, view types.View, member int) *types.Proposal {
	p := &types.Proposal{View: view, Block: b}
	p.Signature = signedBy(member, p.Digest())
	return p
}

// forgery is a message, and the one check that refuses it: "" takes it, the
// epoch's name stands for one whose set is not known.
type forgery struct {
	name    string
	message Message
	code    string
}

const unknownEpoch = "unknown_epoch"

func expectVerdicts(t *testing.T, rows []forgery) {
	t.Helper()
	for _, row := range rows {
		_, err := Check(testChain, testRecoverer{}, forgedSets(), row.message)
		code := ""
		var refused *Invalid
		var unknown *UnknownEpoch
		switch {
		case errors.As(err, &refused):
			code = refused.Code
		case errors.As(err, &unknown):
			code = unknownEpoch
		case err != nil:
			code = err.Error()
		}
		if code != row.code {
			t.Errorf("%s: %q, want %q (%v)", row.name, code, row.code, err)
		}
	}
}

func TestForgedVotesAreRefused(t *testing.T) {
	var rows []forgery
	for _, kind := range []types.VoteKind{types.Notarize, types.Nullify, types.Finalize} {
		forge := func(name, code string, change func(v *types.Vote)) {
			v := voteOf(presentEpoch, kind, 1)
			change(v)
			rows = append(rows, forgery{kind.String() + " " + name, v, code})
		}
		sign := func(v *types.Vote, by int) { v.Signature = signedBy(by, v.Digest(testChain)) }
		forge("as it is", "", func(*types.Vote) {})
		forge("signed by another member", "bad_signature", func(v *types.Vote) { sign(v, 2) })
		forge("with another's name", "bad_signature", func(v *types.Vote) { v.Validator = testAddress(2) })
		forge("signed by a stranger", "bad_signature", func(v *types.Vote) { sign(v, 9) })
		forge("of a stranger", "not_a_member", func(v *types.Vote) { v.Validator = testAddress(9); sign(v, 9) })
		forge("of a former member", "not_a_member", func(v *types.Vote) { v.Validator = testAddress(6); sign(v, 6) })
		forge("of a former member in its epoch", "", func(v *types.Vote) { v.Validator, v.Epoch = testAddress(6), formerEpoch; sign(v, 6) })
		forge("moved to the epoch before", "bad_signature", func(v *types.Vote) { v.Epoch = formerEpoch })
		forge("of an epoch to come", unknownEpoch, func(v *types.Vote) { v.Epoch++; sign(v, 1) })
		forge("of an epoch long past", unknownEpoch, func(v *types.Vote) { v.Epoch = 1; sign(v, 1) })
		forge("of another chain", "bad_signature", func(v *types.Vote) { v.Signature = signedBy(1, v.Digest(testChain+1)) })
		forge("moved to another view", "bad_signature", func(v *types.Vote) { v.View++ })
		forge("unsigned", "bad_signature", func(v *types.Vote) { v.Signature = types.Signature{} })
		forge("of view 0", "malformed", func(v *types.Vote) { v.View = 0; sign(v, 1) })
		forge("of no kind", "unknown_kind", func(v *types.Vote) { v.Kind = 9; sign(v, 1) })
		if kind != types.Nullify {
			forge("for another block", "bad_signature", func(v *types.Vote) { v.Block[3]++ })
			forge("for another height", "bad_signature", func(v *types.Vote) { v.Height++ })
			forge("for no block", "malformed", func(v *types.Vote) { v.Block = types.Hash{}; sign(v, 1) })
			forge("turned into the other kind", "bad_signature", func(v *types.Vote) {
				v.Kind, v.Bitmap = types.Notarize+types.Finalize-v.Kind, nil
				if v.Kind == types.Notarize {
					v.Bitmap = []byte{}
				}
			})
		} else {
			forge("of a block", "malformed", func(v *types.Vote) { v.Height, v.Block = 9, types.Hash{7}; sign(v, 1) })
		}
		if kind == types.Notarize {
			forge("with another bitmap", "bad_signature", func(v *types.Vote) { v.Bitmap = bitmapOf(9) })
			forge("with a misshapen bitmap", "malformed", func(v *types.Vote) { v.Bitmap = []byte{0, 0, 0, 3, 8}; sign(v, 1) })
			forge("with a bitmap of null", "malformed", func(v *types.Vote) { v.Bitmap = nil; sign(v, 1) })
			forge("with a long bitmap", "bitmap_too_long", func(v *types.Vote) { v.Bitmap = make([]byte, MaxBitmapBytes+1); sign(v, 1) })
		} else {
			forge("with a bitmap", "malformed", func(v *types.Vote) { v.Bitmap = []byte{1}; sign(v, 1) })
		}
	}
	expectVerdicts(t, rows)
}

// certificateForgeries have the wrong voters, epoch or chain.
func certificateForgeries(kind types.VoteKind) []forgery {
	altered := func(epoch types.Epoch, change func(*types.Certificate), members ...int) *types.Certificate {
		c := certificateOf(epoch, kind, members...)
		change(c)
		return c
	}
	return []forgery{
		{"a quorum", certificateOf(presentEpoch, kind, 0, 2, 3), ""},
		{"all", certificateOf(presentEpoch, kind, 0, 1, 2, 3), ""},
		{"a quorum of the set before", certificateOf(formerEpoch, kind, 0, 1, 2, 3, 6), ""},
		{"the set before by the present quorum", certificateOf(formerEpoch, kind, 0, 1, 2), "no_quorum"},
		{"one too few of the set before", certificateOf(formerEpoch, kind, 0, 1, 2, 3), "no_quorum"},
		{"one too few", certificateOf(presentEpoch, kind, 0, 1), "no_quorum"},
		{"members of the set before", certificateOf(presentEpoch, kind, 3, 4, 5), "bad_voters"},
		{"more than there are", certificateOf(presentEpoch, kind, 0, 1, 2, 3, 4), "no_quorum"},
		{"a member twice", certificateOf(presentEpoch, kind, 0, 1, 1), "bad_voters"},
		{"in another order", certificateOf(presentEpoch, kind, 0, 2, 1), "bad_voters"},
		{"moved to the epoch before", altered(presentEpoch, func(c *types.Certificate) { c.Epoch = formerEpoch }, 0, 1, 2, 3), "no_quorum"},
		{"moved to the present epoch", altered(formerEpoch, func(c *types.Certificate) { c.Epoch = presentEpoch }, 0, 1, 2), "bad_signature"},
		{"of an epoch to come", certificateOf(presentEpoch+1, kind, 0, 1, 2), unknownEpoch},
		{"one signs for all", altered(presentEpoch, func(c *types.Certificate) {
			for i := range c.Votes {
				v := c.Vote(i)
				c.Votes[i].Signature = signedBy(1, v.Digest(testChain))
			}
		}, 0, 1, 2), "bad_signature"},
		{"the last in another's name", altered(presentEpoch, func(c *types.Certificate) { c.Votes[2].Validator = testAddress(3) }, 0, 1, 2),
			"bad_signature"},
		{"of another chain", altered(presentEpoch, func(c *types.Certificate) {
			for i := range c.Votes {
				v := c.Vote(i)
				c.Votes[i].Signature = signedBy(i, v.Digest(testChain+1))
			}
		}, 0, 1, 2), "bad_signature"},
	}
}

func TestForgedQuorumsAreRefused(t *testing.T) {
	for _, kind := range []types.VoteKind{types.Notarize, types.Nullify, types.Finalize} {
		expectVerdicts(t, certificateForgeries(kind))
	}
}

// A proposal is its view's leader's: 3 leads view 7 of four validators, and 0
// view 7 of seven.
func TestForgedProposalsAreRefused(t *testing.T) {
	former := blockAfter()
	former.Header.Epoch, former.Header.SetEpoch = formerEpoch, formerEpoch
	former.Parent = certificateOf(formerEpoch, types.Notarize, 0, 1, 2, 3, 4)
	altered := func(change func(*types.Proposal)) *types.Proposal {
		p := proposalOf(blockAfter(), 7, 3)
		change(p)
		return p
	}
	elsewhere := blockAfter()
	elsewhere.Header.ChainID++
	rows := []forgery{
		{"as it is", proposalOf(blockAfter(), 7, 3), ""},
		{"of the epoch before, by its leader", proposalOf(former, 7, 0), ""},
		{"of the epoch before, by the present leader", proposalOf(former, 7, 3), "bad_signature"},
		{"by a member that does not lead", proposalOf(blockAfter(), 7, 2), "bad_signature"},
		{"by the next view's leader", proposalOf(blockAfter(), 7, 0), "bad_signature"},
		{"for another view, by the block's proposer", proposalOf(blockAfter(), 8, 3), "bad_signature"},
		{"by a stranger", proposalOf(blockAfter(), 7, 9), "bad_signature"},
		{"unsigned", altered(func(p *types.Proposal) { p.Signature = types.Signature{} }), "bad_signature"},
		{"moved to its leader's next view", altered(func(p *types.Proposal) { p.View += 4 }), "bad_signature"},
		{"with another header", altered(func(p *types.Proposal) { p.Block.Header.StateRoot[0]++ }), "bad_signature"},
		{"of another chain", proposalOf(elsewhere, 7, 3), "wrong_chain"},
		{"of no block", &types.Proposal{View: 7}, "malformed"},
		{"of view 0", proposalOf(blockAfter(), 0, 0), "malformed"},
	}
	for _, carried := range carriedForgeries() {
		rows = append(rows, forgery{"that carries " + carried.name, proposalOf(carried.message.(*BlockAnswer).Block, 7, 3), carried.code})
	}
	expectVerdicts(t, rows)
}

// carriedForgeries are block answers whose certificates are wrong.
func carriedForgeries() []forgery {
	carrying := func(parent, finalization *types.Certificate) *BlockAnswer {
		b := blockAfter()
		b.Parent, b.Finalization = parent, finalization
		return &BlockAnswer{Block: b}
	}
	other := certificateOf(presentEpoch, types.Notarize, 0, 1, 2)
	other.Block[9]++
	rows := []forgery{
		{"nothing", carrying(nil, nil), ""},
		{"a notarization of something else", carrying(other, nil), "wrong_parent"},
		{"a finalization for a notarization", carrying(certificateOf(presentEpoch, types.Finalize, 0, 1, 2), nil), "wrong_kind"},
		{"a notarization for a finalization", carrying(nil, certificateOf(presentEpoch, types.Notarize, 0, 1, 2)), "wrong_kind"},
	}
	for _, f := range certificateForgeries(types.Notarize) {
		rows = append(rows, forgery{"as notarization " + f.name, carrying(f.message.(*types.Certificate), nil), f.code})
	}
	for _, f := range certificateForgeries(types.Finalize) {
		rows = append(rows, forgery{"as finalization " + f.name, carrying(nil, f.message.(*types.Certificate)), f.code})
	}
	return rows
}

func TestForgedAnswersAreRefused(t *testing.T) {
	elsewhere := blockAfter()
	elsewhere.Header.ChainID++
	passing := blockAfter()
	passing.Passed = &types.Passed{}
	body := blockAfter()
	body.Transactions = []types.Transaction{{}}
	expectVerdicts(t, append(carriedForgeries(),
		forgery{"of another chain", &BlockAnswer{Block: elsewhere}, "wrong_chain"},
		forgery{"of another body", &BlockAnswer{Block: body}, "wrong_body"},
		forgery{"with more passed over", &BlockAnswer{Block: passing}, "wrong_body"},
		forgery{"of no block", &BlockAnswer{}, "malformed"},
		forgery{"of no kind", "a message", "unknown_message"}))
}

// A proposal comes from its leader itself: one that another hands on, well
// signed as it is, must not take the place of the one that the leader sends.
// That it is the leader's is for CheckProposal, that it came from the leader is
// for the machine; neither stands in for the other.
func TestAProposalComesFromItsLeader(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.child(nil, 1)
	p := &types.Proposal{View: 1, Block: b}
	p.Signature = testKey{testAddress(1)}.Sign(p.Digest())
	for _, from := range []int{2, 3} {
		if out := s.receive(from, p); len(out.Ask) > 0 || s.m.rounds[1].proposal != nil {
			t.Fatalf("the proposal is taken from %d", from)
		}
	}
	s.propose(1, b)
	s.execute(true)
	if !s.voted(types.Notarize, 1) {
		t.Error("the leader's own is not voted for")
	}
}

// One liar signs in the names of all, without effect: neither a certificate nor
// evidence against the honest results.
func TestImpersonatingValidator(t *testing.T) {
	w := survives(t, func(w *world, s Send) []Send {
		v, ok := s.Message.(*types.Vote)
		if !ok {
			return []Send{s}
		}
		sends := []Send{s}
		for _, id := range []int{0, 2, 3} {
			forged := *v
			if forged.Kind != types.Nullify {
				forged.Block = types.Keccak(v.Block[:])
			}
			forged.Signature = w.nodes[1].key.Sign(forged.Digest(testChain))
			forged.Validator = testAddress(id)
			sends = append(sends, Send{Message: &forged})
		}
		return sends
	})
	if slices.ContainsFunc(w.evidence, func(e Evidence) bool { return e.Offender != testAddress(1) }) {
		t.Error("the honest are accused")
	}
}
