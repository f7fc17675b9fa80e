package simplex

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// A leader that proposes two blocks to different validators.
func TestEquivocatingLeader(t *testing.T) {
	survives(t, func(w *world, s Send) []Send {
		if p, ok := s.Message.(*types.Proposal); ok {
			return equivocate(w, 1, p)
		}
		return []Send{s}
	})
}

// A leader that proposes two blocks to everybody is found out.
func TestEquivocatingLeaderLeavesEvidence(t *testing.T) {
	w := survives(t, func(w *world, s Send) []Send {
		if p, ok := s.Message.(*types.Proposal); ok {
			other := *p.Block
			other.Header.Timestamp++
			q := &types.Proposal{View: p.View, Block: &other}
			q.Signature = w.nodes[1].key.Sign(q.Digest())
			return []Send{s, {Message: q}}
		}
		return []Send{s}
	})
	if len(w.evidence) == 0 {
		t.Error("nobody noticed")
	}
}

// A voter that votes for two blocks, and both nullifies and finalizes.
func TestDoubleVoter(t *testing.T) {
	w := survives(t, func(w *world, s Send) []Send {
		v, ok := s.Message.(*types.Vote)
		if !ok {
			return []Send{s}
		}
		other := *v
		if v.Kind == types.Nullify {
			other.Kind, other.Height, other.Block = types.Finalize, 1, types.Hash{1}
		} else {
			other.Block[0]++
		}
		nullify := types.Vote{Kind: types.Nullify, Epoch: v.Epoch, View: v.View}
		return []Send{s, {Message: w.resign(other, 1)}, {Message: w.resign(nullify, 1)}}
	})
	if len(w.evidence) == 0 {
		t.Error("nobody noticed")
	}
}
