package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Heaps of all sizes up to a few levels, with many events of one time among them.
func TestEventsComeByTimeAndThenAsTheyWereEntered(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for size := range 120 {
		var heap eventHeap
		var want []event
		for i := range size {
			e := event{at: types.Time(rng.IntN(size/2 + 1)), sequence: uint64(i)}
			heap.pushEvent(e)
			want = append(want, e)
		}
		slices.SortFunc(want, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.sequence, b.sequence)) })
		for i, e := range want {
			if got := heap.popEvent(); got.at != e.at || got.sequence != e.sequence {
				t.Fatalf("event %d of %d is of %d, number %d, want %d, number %d", i, size, got.at, got.sequence, e.at, e.sequence)
			}
		}
	}
}
