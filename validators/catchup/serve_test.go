package catchup

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// A request for pruned blocks gets an empty answer, and no blocks that do not
// continue the requester's chain.
func TestServeGivesNothingOfWhatIsNoLongerKept(t *testing.T) {
	c := newChain(50)
	c.bytes, c.final, c.first = 600, func(types.Height) bool { return true }, 20
	for from, blocks := range map[types.Height]int{1: 0, 19: 0, 20: 31, 50: 1} {
		if b := Serve(&RangeRequest{From: from, To: 50}, c); b.From != from || len(b.Blocks) != blocks {
			t.Errorf("from %d: %d blocks from %d, want %d", from, len(b.Blocks), b.From, blocks)
		}
	}
}

// An answer ends at a block with its own finalization.
func TestServeEndsFinal(t *testing.T) {
	c := newChain(350)
	for _, test := range []struct {
		name          string
		from, to, tip types.Height
		bytes         int
		final         types.Height // every final heights
		blocks, links int
		finalizes     types.Height
	}{
		{"up to the last finalization in range", 1, 50, 350, 600, 3, 48, 0, 48},
		{"the tip is final", 341, 400, 350, 600, 3, 10, 0, 350},
		{"an epoch's end", 90, 200, 350, 600, 3, 11, 0, 100},
		{"count", 101, 200, 350, 600, 7, 0, 0, 0},
		{"links with none in range", 1, 2, 350, 600, 7, 2, 5, 7},
		{"links after bytes", 1, 50, 350, MaxBatchBytes / 2, 9, 2, 7, 9},
		{"one block too large", 1, 50, 350, MaxBatchBytes * 2, 9, 1, 8, 9},
		{"beyond the tip", 351, 400, 350, 600, 3, 0, 0, 0},
		{"no range", 5, 4, 350, 600, 3, 0, 0, 0},
		{"height 0", 0, 4, 350, 600, 3, 0, 0, 0},
		{"greatest heights", 1<<64 - 1, 1<<64 - 1, 350, 600, 3, 0, 0, 0},
	} {
		c.tip, c.bytes, c.final = test.tip, test.bytes, func(h types.Height) bool { return h%test.final == 0 }
		b := Serve(&RangeRequest{From: test.from, To: test.to}, c)
		if test.name == "count" {
			if len(b.Blocks) > MaxBatchBlocks || len(b.Blocks) < MaxBatchBlocks-7 || b.Finalization == nil {
				t.Errorf("%s: %d blocks", test.name, len(b.Blocks))
			}
			continue
		}
		if len(b.Blocks) != test.blocks || len(b.Links) != test.links {
			t.Errorf("%s: %d blocks, %d links", test.name, len(b.Blocks), len(b.Links))
			continue
		}
		if test.blocks == 0 {
			continue
		}
		if b.Finalization.Height != test.finalizes {
			t.Errorf("%s: finalizes %d", test.name, b.Finalization.Height)
		}
		root := c.root(test.from - 1)
		if v, err := Check(b, &root, checkTestCertificate); err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if (v.Finalization() != nil) != (test.links == 0) {
			t.Errorf("%s: finalization of the last block: %v", test.name, v.Finalization())
		} else if v.Proof() == nil || v.Proof().Height != test.finalizes {
			t.Errorf("%s: proof %v, want the finalization of height %d", test.name, v.Proof(), test.finalizes)
		}
	}
}
