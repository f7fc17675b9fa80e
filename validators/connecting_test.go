package validators

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// J21: a block that fills emptied places drew those who took them, and not the members that stayed.
func TestJ21ADrawIsOfThoseWhoTookPlaces(t *testing.T) {
	change := &types.JobChange{At: 9, Committee: []types.Address{{1}, {2}, {3}}, Drawn: []types.Height{5, 9, 5}}
	if got := drawnIn(change); !slices.Equal(got, []types.Address{{2}}) {
		t.Errorf("drawn in block 9: %v, want the second alone", got)
	}
	change.At = 5
	if got := drawnIn(change); !slices.Equal(got, []types.Address{{1}, {3}}) {
		t.Errorf("drawn in block 5: %v, want the first and the third", got)
	}
}
