package byzantine

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/runners/selection"
)

// hated is the runner whose votes a leader overlooks that chooses: the first of the
// registry.
const hated = 0

// Start implements env.Mesh. The masked validator never received the overlooked
// votes, so it carries a quorum of other votes in the blocks that it proposes
// (CIP-11 §8.1: the proposer includes "a quorum").
func (t *transport) Start(receive func(from types.Address, frame []byte)) error {
	return t.Mesh.Start(func(from types.Address, frame []byte) {
		if current := t.mask.active.Load(); current != nil && current.kind == ChooseVotes {
			if frame = t.dropOverlookedVotes(frame, current); frame == nil {
				return
			}
		}
		receive(from, frame)
	})
}

// dropOverlookedVotes returns a frame without the overlooked votes; nil if nothing is left, or too
// little for a certificate: the leader then waits for other votes.
func (t *transport) dropOverlookedVotes(frame []byte, current *active) []byte {
	if len(frame) == 0 {
		return frame
	}
	switch frame[0] {
	case mesh.Vote:
		var v types.Vote
		if codec.Unmarshal(frame[1:], env.MaxFrameBytes, &v) == nil && v.Kind == types.Notarize && t.overlooksVote(v.Validator, v.Bitmap) {
			current.counts.Withheld.Add(1)
			return nil
		}
	case mesh.Certificate:
		var c types.Certificate
		if codec.Unmarshal(frame[1:], env.MaxFrameBytes, &c) != nil || c.Kind != types.Notarize {
			return frame
		}
		left := slices.DeleteFunc(slices.Clone(c.Votes), func(v types.CertificateVote) bool { return t.overlooksVote(v.Validator, v.Bitmap) })
		if len(left) == len(c.Votes) {
			return frame
		}
		current.counts.Withheld.Add(1)
		if n := t.countValidators(); len(left) < n-(n-1)/3 {
			return nil
		}
		c.Votes = left
		return encodeFrame(mesh.Certificate, &c)
	}
	return frame
}

// overlooksVote reports whether a vote is left out: it sees the hated runner, and its
// validator is one of the first f that did, so that a quorum remains.
func (t *transport) overlooksVote(validator types.Address, bitmap []byte) bool {
	b, err := selection.ParseBitmap(bitmap)
	if err != nil || b.Len() <= hated || !b.Has(hated) || validator == t.mask.signer.Address() { // its own it has anyway
		return false
	}
	t.choosing.Lock()
	defer t.choosing.Unlock()
	if !slices.Contains(t.overlooked, validator) && len(t.overlooked) < (t.countValidators()-1)/3 {
		t.overlooked = append(t.overlooked, validator)
	}
	return slices.Contains(t.overlooked, validator)
}

// countValidators is how many there are, the liar included.
func (t *transport) countValidators() int { return len(t.receiverOf(types.Address{}).others) + 1 }
