package history

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Heads are the headers of the stored blocks, with the summaries of their lanes: the same
// as in whole blocks, at either end of a range.
func TestHeadsAreThoseOfBlocks(t *testing.T) {
	_, _, blocks := storyChain()
	blocks[4].Block.Transactions = []types.Transaction{{}, {}}
	skipping := append(append([]*ledger.Result{}, blocks[:6]...), blocks[8:]...) // 7 and 8 have no block
	archive := Of(mem.NewStore())
	commit(t, archive, NewWriter(archive, 0, nil), skipping...)
	for _, c := range []struct {
		from, to types.Height
		newest   bool
		limit    int
		want     []types.Height
	}{
		{1, 20, false, 100, []types.Height{1, 2, 3, 4, 5, 6, 9, 10}}, {5, 9, false, 2, []types.Height{5, 6}},
		{5, 9, true, 2, []types.Height{6, 9}},
		{7, 8, false, 5, nil}, {6, 6, true, 5, []types.Height{6}}, {0, ^types.Height(0), true, 1, []types.Height{10}},
	} {
		heads, err := archive.Heads(c.from, c.to, c.newest, c.limit)
		if err != nil || len(heads) != len(c.want) {
			t.Fatalf("%+v: %d heads, %v", c, len(heads), err)
		}
		for i, h := range heads {
			stored, err := archive.Block(c.want[i])
			if err != nil || h.Header != stored.Block.Header || h.Transactions != len(stored.Block.Transactions) ||
				h.Lane.Height != c.want[i] || h.Lane.Budget == 0 {
				t.Errorf("%+v: %+v, %v", c, h, err)
			}
		}
	}
}
