package simplex

import (
	"bytes"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// round is the machine's knowledge of one view of the current epoch.
type round struct {
	view           types.View
	proposal       *types.Proposal // the first one of the leader
	hash           types.Hash      // the hash of the proposal's block
	rejected       bool            // the proposal is not voted for
	reason         string          // why it is not
	buildRequested bool            // Build is out
	equivocated    bool            // the leader was reported for a second proposal

	ballots [3]ballot // the votes by kind
	own     [3]*types.Vote
	sent    types.Time // when own votes or the own proposal were last sent

	notarization  *types.Certificate
	nullification *types.Certificate
	finalization  *types.Certificate
}

// ballot is the votes of one kind in one view, the first of each validator.
type ballot struct {
	votes       []*types.Vote // each member's vote, by index in the set; nil before the first
	tallies     []tally       // one per content, at most one per validator
	equivocated []bool        // validators reported for a second vote
}

// tally counts equal votes.
type tally struct {
	block  types.Hash
	height types.Height
	count  int
}

func slotOf(kind types.VoteKind) int { return int(kind - types.Notarize) }

func (r *round) ballotOf(kind types.VoteKind) *ballot { return &r.ballots[slotOf(kind)] }

func (r *round) ownVote(kind types.VoteKind) *types.Vote { return r.own[slotOf(kind)] }

func (r *round) certificateOf(kind types.VoteKind) **types.Certificate {
	switch kind {
	case types.Notarize:
		return &r.notarization
	case types.Nullify:
		return &r.nullification
	}
	return &r.finalization
}

// bestCertificate returns the certificate that says most of the view, or nil.
func (r *round) bestCertificate() *types.Certificate {
	switch {
	case r.finalization != nil:
		return r.finalization
	case r.notarization != nil:
		return r.notarization
	}
	return r.nullification
}

// isNotarized reports whether the view is known to have notarized a block.
func (r *round) isNotarized(hash types.Hash) bool {
	return r != nil && (r.notarization != nil && r.notarization.Block == hash || r.finalization != nil && r.finalization.Block == hash)
}

// forgetVotes drops what is needed only while votes come in.
func (r *round) forgetVotes() { r.ballots = [3]ballot{} }

// addVote files a vote of the set's member at index and returns how many equal
// votes there are, or the earlier vote of that member.
func (b *ballot) addVote(v *types.Vote, index, members int) (count int, earlier *types.Vote) {
	if b.votes == nil {
		b.votes = make([]*types.Vote, members)
	}
	if b.votes[index] != nil {
		return 0, b.votes[index]
	}
	b.votes[index] = v
	for i := range b.tallies {
		if b.tallies[i].block == v.Block && b.tallies[i].height == v.Height {
			b.tallies[i].count++
			return b.tallies[i].count, nil
		}
	}
	b.tallies = append(b.tallies, tally{block: v.Block, height: v.Height, count: 1})
	return 1, nil
}

// countVoters is how many members voted.
func (b *ballot) countVoters() (n int) {
	for _, v := range b.votes {
		if v != nil {
			n++
		}
	}
	return n
}

// noteEquivocation notes that the member voted twice, and reports whether it is caught
// for the first time.
func (b *ballot) noteEquivocation(index, members int) bool {
	if b.equivocated == nil {
		b.equivocated = make([]bool, members)
	}
	first := !b.equivocated[index]
	b.equivocated[index] = true
	return first
}

// collectCertificate makes a certificate of all votes equal to like.
func (b *ballot) collectCertificate(like *types.Vote) *types.Certificate {
	c := &types.Certificate{Kind: like.Kind, Epoch: like.Epoch, View: like.View, Height: like.Height, Block: like.Block,
		Votes: make([]types.CertificateVote, 0, len(b.votes))}
	for _, v := range b.votes {
		if v != nil && v.Block == like.Block && v.Height == like.Height {
			c.Votes = append(c.Votes, types.CertificateVote{Validator: v.Validator, Bitmap: v.Bitmap, Signature: v.Signature})
		}
	}
	return c
}

// fullNotarization is the notarization with every valid vote held for its
// block, as the next block carries it (decision C3), or nil.
func (r *round) fullNotarization(set *types.ValidatorSet) *types.Certificate {
	base := r.notarization
	if base == nil {
		return nil
	}
	votes := r.ballotOf(types.Notarize).votes
	if votes == nil {
		return base
	}
	full := *base
	full.Votes = make([]types.CertificateVote, 0, len(set.Members))
	next := 0
	for i := range set.Members {
		if next < len(base.Votes) && base.Votes[next].Validator == set.Members[i].Address {
			full.Votes = append(full.Votes, base.Votes[next])
			next++
			continue
		}
		if v := votes[i]; v != nil && v.Block == base.Block && v.Height == base.Height {
			full.Votes = append(full.Votes, types.CertificateVote{Validator: v.Validator, Bitmap: v.Bitmap, Signature: v.Signature})
		}
	}
	return &full
}

// sameVote reports whether two votes of one validator, kind and view say the
// same.
func sameVote(a, b *types.Vote) bool {
	return a.Block == b.Block && a.Height == b.Height && bytes.Equal(a.Bitmap, b.Bitmap)
}
