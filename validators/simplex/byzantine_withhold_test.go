package simplex

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// A validator that withholds all votes.
func TestVotesWithheld(t *testing.T) {
	survives(t, func(w *world, s Send) []Send {
		if _, ok := s.Message.(*types.Vote); ok {
			return nil
		}
		return []Send{s}
	})
}

// A validator that votes towards one peer only.
func TestVotesForOneAlone(t *testing.T) {
	survives(t, func(w *world, s Send) []Send {
		if _, ok := s.Message.(*types.Vote); ok {
			to := testAddress(3)
			return []Send{{To: &to, Message: s.Message}}
		}
		return []Send{s}
	})
}

// A validator that nullifies each view at once, its own included.
func TestNullifiesAlways(t *testing.T) {
	survives(t, func(w *world, s Send) []Send {
		if v, ok := s.Message.(*types.Vote); ok {
			nullify := types.Vote{Kind: types.Nullify, Epoch: v.Epoch, View: v.View + 1}
			return []Send{{Message: w.resign(nullify, 1)}}
		}
		return nil
	})
}
