package oracle

import (
	"bytes"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// judgeCertificates judges the certificates that come with a block: the notarization of
// its parent, and its own finalization (decisions C1, C3, C6).
func (j *Judge) judgeCertificates(o *Observation) {
	h := &o.Block.Header
	wrong := func(format string, args ...any) {
		j.reportViolation("certificates", h.Height, o.Validator, format, args...)
	}
	if o.NextSet != nil {
		if _, known := j.sets[o.NextSet.Epoch]; !known {
			j.sets[o.NextSet.Epoch] = *o.NextSet
			clear(j.inForce)
		}
	}
	if parent := h.Height - types.Height(h.Skipped) - 1; parent > 0 {
		j.judgeQuorum(o.Block.Parent, types.Notarize, parent, h.Parent, "the notarization of its parent", wrong)
		if f := o.Block.Finalization; f != nil {
			j.judgeQuorum(f, types.Finalize, parent, h.Parent, "the finalization of its parent", wrong)
		}
	} else if o.Block.Parent != nil {
		wrong("the first block carries a notarization of genesis")
	}
	if o.Finalization != nil {
		j.judgeQuorum(o.Finalization, types.Finalize, h.Height, o.Hash, "its finalization", wrong)
	}
}

// judgeQuorum judges that a certificate holds enough distinct valid votes.
func (j *Judge) judgeQuorum(c *types.Certificate, kind types.VoteKind, h types.Height, block types.Hash, what string,
	wrong func(string, ...any)) {
	if c == nil {
		wrong("%s is missing", what)
		return
	}
	j.seen.Certificates++
	if c.Kind != kind || c.Height != h || c.Block != block {
		wrong("%s is a %s certificate of %s at height %d, want %s of %s at %d", what, c.Kind, c.Block, c.Height, kind, block, h)
		return
	}
	if slices.Contains(j.sound[:], c) {
		return // what is observed is never changed, and validators that read one frame have one certificate
	}
	set, known := j.sets[c.Epoch]
	if !known {
		wrong("%s belongs to epoch %d, whose set was not announced", what, c.Epoch)
		return
	}
	members := map[types.Address]bool{} // whether it voted
	for _, m := range set.Members {
		members[m.Address] = false
	}
	valid := 0
	var digest types.Hash // of a vote; the next one's is the same where its bitmap is
	for i := range c.Votes {
		vote := c.Vote(i)
		if i == 0 || !bytes.Equal(vote.Bitmap, c.Votes[i-1].Bitmap) {
			digest = vote.Digest(j.rules.ChainID)
		}
		voted, member := members[vote.Validator]
		signer, ok := j.rules.Recover(digest, vote.Signature)
		switch {
		case !member:
			wrong("%s holds a vote of %s, who is not in the set", what, vote.Validator)
		case voted:
			wrong("%s holds two votes of %s", what, vote.Validator)
		case !ok || signer != vote.Validator:
			wrong("%s holds a vote that %s did not sign", what, vote.Validator)
		default:
			members[vote.Validator] = true
			valid++
			j.seen.Signatures++
			j.Vote(vote)
		}
	}
	n := len(set.Members)
	if f := (n - 1) / 3; valid < n-f {
		wrong("%s has %d valid votes, needs %d of %d", what, valid, n-f, n)
	} else if valid == len(c.Votes) {
		j.sound[j.seen.Certificates%len(j.sound)] = c
	}
}

// votes remembers what each validator voted, to find one that votes against
// itself.
type votes struct {
	cast    map[voteKey]*ballots
	excused map[types.Address]bool
}

type voteKey struct {
	validator types.Address
	epoch     types.Epoch // the epoch of the votes: each is a separate Simplex, whose views overlap with the last one's
	view      types.View
}

// ballots are the votes of one validator in one view.
type ballots struct {
	notarized, finalized choice
	nullified            bool
	accused              bool
	sought               []sentVote // on disk, when they left (Sends)
}

// choice is the block that it voted for last, if it did.
type choice struct {
	block types.Hash
	made  bool
}

// sentVote identifies one vote of a view, whichever node sends it again.
type sentVote struct {
	kind  types.VoteKind
	block types.Hash
}

func newVotes() votes { return votes{map[voteKey]*ballots{}, map[types.Address]bool{}} }

// votesInView is what the vote's validator voted in its view.
func (v *votes) votesInView(vote *types.Vote) *ballots {
	key := voteKey{vote.Validator, vote.Epoch, vote.View}
	b := v.cast[key]
	if b == nil {
		b = &ballots{}
		v.cast[key] = b
	}
	return b
}

// Excuse says that a validator is one of the f that may vote against themselves,
// from here on: it was told to lie, or lost its log in a network of up to three,
// which cannot do without its vote (finding F17). Its votes count in certificates
// as before.
func (j *Judge) Excuse(validator types.Address) { j.votes.excused[validator] = true }

// Vote judges one vote of an honest validator, whose signature the caller has
// checked: at most one notarize a view of an epoch, and never both nullify and finalize
// (decision C1). Votes may come more than once; those of one that is excused are
// nothing to go by.
func (j *Judge) Vote(v types.Vote) {
	if j.votes.excused[v.Validator] {
		return
	}
	before, contradiction := j.votes.votesInView(&v), ""
	switch v.Kind {
	case types.Notarize:
		if other := before.notarized; other.made && other.block != v.Block {
			contradiction = "it notarized " + other.block.String() + " and " + v.Block.String()
		}
		before.notarized = choice{v.Block, true}
	case types.Nullify:
		if before.finalized.made {
			contradiction = "it nullified the view that it finalized"
		}
		before.nullified = true
	case types.Finalize:
		if before.nullified {
			contradiction = "it finalized the view that it nullified"
		}
		if other := before.finalized; other.made && other.block != v.Block {
			contradiction = "it finalized " + other.block.String() + " and " + v.Block.String()
		}
		before.finalized = choice{v.Block, true}
	}
	j.seen.Votes++
	if contradiction != "" && !before.accused {
		before.accused = true
		j.reportViolation("certificates", v.Height, v.Validator, "in view %d of epoch %d %s", v.View, v.Epoch, contradiction)
	}
}
