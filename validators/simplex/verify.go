package simplex

import (
	"bytes"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Recoverer judges signatures.
type Recoverer interface {
	// Recover returns the signer of the digest; ok is false for an invalid
	// signature.
	Recover(digest types.Hash, signature types.Signature) (signer types.Address, ok bool)
}

// Invalid says what is wrong with a message. Its sender is at fault.
type Invalid struct {
	Code   string // snake_case
	Detail string
}

func (e *Invalid) Error() string { return "simplex: " + e.Code + ": " + e.Detail }

func newInvalid(code, format string, args ...any) error {
	return &Invalid{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// UnknownEpoch reports that a message belongs to an epoch whose set is not
// available. One of a later epoch hints that this validator is behind its sender.
type UnknownEpoch struct {
	Epoch   types.Epoch
	Current types.Epoch
}

func (e *UnknownEpoch) Error() string {
	return fmt.Sprintf("simplex: unknown_epoch: a message of epoch %d at a validator in epoch %d", e.Epoch, e.Current)
}

// Sets holds the current validator set and, if it is known, the one before it, the
// current one first. A Sets is never changed.
type Sets []types.ValidatorSet

// Of returns the set of an epoch, or an *UnknownEpoch.
func (s Sets) Of(e types.Epoch) (*types.ValidatorSet, error) {
	for i := range s {
		if s[i].Epoch == e {
			return &s[i], nil
		}
	}
	unknown := &UnknownEpoch{Epoch: e}
	if len(s) > 0 {
		unknown.Current = s[0].Epoch
	}
	return nil, unknown
}

// Check verifies any message that a peer may send.
func Check(chainID uint64, rec Recoverer, sets Sets, message Message) (Verified, error) {
	switch message := message.(type) {
	case *types.Vote:
		return CheckVote(chainID, rec, sets, message)
	case *types.Certificate:
		return CheckCertificate(chainID, rec, sets, message)
	case *types.Proposal:
		return CheckProposal(chainID, rec, sets, message)
	case *BlockAnswer:
		return CheckBlock(chainID, rec, sets, message.Block)
	case *BlockRequest:
		return message, nil
	case *CertificateRequest:
		return message, nil
	case *ViewRequest:
		return message, nil
	case *ViewAnswer:
		return CheckView(chainID, rec, sets, message)
	case *LifeRequest:
		return message, checkPython(message.Python)
	case *LifeAnswer:
		return message, checkPython(message.Python)
	}
	return nil, newInvalid("unknown_message", "%T is not a message of the consensus", message)
}

// CheckVote verifies that a vote is well-formed and signed by the member it
// names.
func CheckVote(chainID uint64, rec Recoverer, sets Sets, v *types.Vote) (VerifiedVote, error) {
	if err := checkContent(v.Kind, v.View, v.Height, v.Block); err != nil {
		return VerifiedVote{}, err
	}
	if err := checkBitmap(v.Kind, v.Bitmap); err != nil {
		return VerifiedVote{}, err
	}
	set, err := sets.Of(v.Epoch)
	if err != nil {
		return VerifiedVote{}, err
	}
	if set.Index(v.Validator) < 0 {
		return VerifiedVote{}, newInvalid("not_a_member", "%s votes in epoch %d without being a member", v.Validator, v.Epoch)
	}
	signer, ok := rec.Recover(v.Digest(chainID), v.Signature)
	if plant.Planted == plant.AnyonesVote && ok && set.Index(signer) >= 0 {
		return VerifiedVote{v}, nil
	}
	if !ok || signer != v.Validator {
		return VerifiedVote{}, newInvalid("bad_signature", "a %s vote of view %d is not signed by %s", v.Kind, v.View, v.Validator)
	}
	return VerifiedVote{v}, nil
}

// CheckCertificate verifies that a certificate holds valid votes of at least
// n - f distinct members, sorted by address (decision C1).
func CheckCertificate(chainID uint64, rec Recoverer, sets Sets, c *types.Certificate) (VerifiedCertificate, error) {
	if err := checkContent(c.Kind, c.View, c.Height, c.Block); err != nil {
		return VerifiedCertificate{}, err
	}
	set, err := sets.Of(c.Epoch)
	if err != nil {
		return VerifiedCertificate{}, err
	}
	if len(c.Votes) < quorumOf(set) || len(c.Votes) > len(set.Members) {
		return VerifiedCertificate{}, newInvalid("no_quorum", "a certificate of view %d holds %d votes of %d; it takes %d", c.View, len(c.Votes),
			len(set.Members), set.Quorum())
	}
	if err := checkMembers(set, c); err != nil {
		return VerifiedCertificate{}, err
	}
	var digest types.Hash
	for i := range c.Votes {
		vote := c.Vote(i)
		if err := checkBitmap(c.Kind, vote.Bitmap); err != nil {
			return VerifiedCertificate{}, err
		}
		if i == 0 || !bytes.Equal(vote.Bitmap, c.Votes[i-1].Bitmap) {
			digest = vote.Digest(chainID) // votes of one certificate differ only in their bitmaps
		}
		if signer, ok := rec.Recover(digest, vote.Signature); plant.Planted != plant.AnyonesCertificate && (!ok || signer != vote.Validator) {
			return VerifiedCertificate{}, newInvalid("bad_signature", "vote %d of a %s certificate of view %d is not signed by %s", i, c.Kind,
				c.View,
				vote.Validator)
		}
	}
	return VerifiedCertificate{c}, nil
}

// CheckView verifies the certificate of an answer, which is of the epoch that the
// answer names. Only a validator that knows this epoch's set can use the answer.
func CheckView(chainID uint64, rec Recoverer, sets Sets, a *ViewAnswer) (VerifiedView, error) {
	if _, err := sets.Of(a.Epoch); err != nil {
		return VerifiedView{}, err
	}
	if a.Certificate == nil {
		return VerifiedView{a}, nil
	}
	if a.Certificate.Epoch != a.Epoch {
		return VerifiedView{}, newInvalid("wrong_epoch", "a view of epoch %d by a certificate of epoch %d", a.Epoch, a.Certificate.Epoch)
	}
	_, err := CheckCertificate(chainID, rec, sets, a.Certificate)
	return VerifiedView{a}, err
}

// quorumOf is how many votes of a set are a certificate.
func quorumOf(set *types.ValidatorSet) int {
	if plant.Planted == plant.OneVoteLess {
		return set.Quorum() - 1
	}
	return set.Quorum()
}

// checkMembers walks the two sorted lists side by side.
func checkMembers(set *types.ValidatorSet, c *types.Certificate) error {
	m := 0
	for i := range c.Votes {
		validator := c.Votes[i].Validator
		for m < len(set.Members) && set.Members[m].Address != validator {
			m++
		}
		if m == len(set.Members) {
			return newInvalid("bad_voters", "vote %d of a certificate of view %d is by %s: no member, or out of order, or there twice", i, c.View,
				validator)
		}
		m++
	}
	return nil
}

// CheckProposal verifies that a proposal is signed by its view's leader, that the
// header commits to its block's body, and that the certificates in it are valid.
// The machine, which has the parent, judges the block's statements about it.
func CheckProposal(chainID uint64, rec Recoverer, sets Sets, p *types.Proposal) (VerifiedProposal, error) {
	if p.Block == nil || p.View == 0 {
		return VerifiedProposal{}, newInvalid("malformed", "a proposal needs a block and a view above 0")
	}
	set, err := sets.Of(p.Block.Header.SetEpoch)
	if err != nil {
		return VerifiedProposal{}, err
	}
	if p.Block.Header.ChainID != chainID {
		return VerifiedProposal{}, newInvalid("wrong_chain", "a block of chain %d on chain %d", p.Block.Header.ChainID, chainID)
	}
	hash := p.Block.Hash()
	if signer, ok := rec.Recover(p.DigestOf(hash), p.Signature); !ok || signer != set.Leader(p.View) {
		return VerifiedProposal{}, newInvalid("bad_signature", "a proposal of view %d is not signed by its leader %s", p.View, set.Leader(p.View))
	}
	if err := checkBody(chainID, rec, sets, p.Block); err != nil {
		return VerifiedProposal{}, err
	}
	return VerifiedProposal{p, hash}, nil
}

// CheckBlock verifies that a block's body is the one that its header commits to,
// and the certificates in it.
func CheckBlock(chainID uint64, rec Recoverer, sets Sets, b *types.Block) (VerifiedBlock, error) {
	if b == nil {
		return VerifiedBlock{}, newInvalid("malformed", "an answer without a block")
	}
	if b.Header.ChainID != chainID {
		return VerifiedBlock{}, newInvalid("wrong_chain", "a block of chain %d on chain %d", b.Header.ChainID, chainID)
	}
	if err := checkBody(chainID, rec, sets, b); err != nil {
		return VerifiedBlock{}, err
	}
	return VerifiedBlock{b, b.Hash()}, nil
}

func checkBody(chainID uint64, rec Recoverer, sets Sets, b *types.Block) error {
	if err := b.CheckBody(); err != nil {
		return newInvalid("wrong_body", "%v", err)
	}
	return checkParentCertificate(chainID, rec, sets, b)
}

func checkParentCertificate(chainID uint64, rec Recoverer, sets Sets, b *types.Block) error {
	if b.Parent != nil && b.Parent.Kind != types.Notarize || b.Finalization != nil && b.Finalization.Kind != types.Finalize {
		return newInvalid("wrong_kind", "block %d carries a certificate of another kind than notarization and finalization", b.Header.Height)
	}
	for _, c := range []*types.Certificate{b.Parent, b.Finalization} {
		if c == nil {
			continue
		}
		if c.Block != b.Header.Parent {
			return newInvalid("wrong_parent", "block %d carries a certificate for another block than its parent", b.Header.Height)
		}
		if _, err := CheckCertificate(chainID, rec, sets, c); err != nil {
			return err
		}
	}
	return nil
}

func checkContent(kind types.VoteKind, view types.View, height types.Height, block types.Hash) error {
	switch {
	case kind < types.Notarize || kind > types.Finalize:
		return newInvalid("unknown_kind", "a vote of kind %d", kind)
	case view == 0:
		return newInvalid("malformed", "a vote in view 0; the first is 1")
	case kind == types.Nullify && (height != 0 || !block.IsZero()):
		return newInvalid("malformed", "a nullify vote names a block")
	case kind != types.Nullify && (height == 0 || block.IsZero()):
		return newInvalid("malformed", "a %s vote names no block", kind)
	}
	return nil
}

// checkBitmap judges the form of a presence bitmap, which is one (docs/WIRE.md).
// Its length is no matter here: one of another registry counts as CIP-11 §8.4 says.
func checkBitmap(kind types.VoteKind, bitmap []byte) error {
	if kind != types.Notarize {
		if bitmap != nil {
			return newInvalid("malformed", "a %s vote has a bitmap", kind)
		}
		return nil
	}
	if len(bitmap) > MaxBitmapBytes {
		return newInvalid("bitmap_too_long", "%d bytes, at most %d", len(bitmap), MaxBitmapBytes)
	}
	if _, err := selection.ParseBitmap(bitmap); err != nil {
		return newInvalid("malformed", "%v", err)
	}
	return nil
}
