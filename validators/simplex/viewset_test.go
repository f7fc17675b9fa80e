package simplex

import (
	"math/rand/v2"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// A set of views holds what was added, in whatever order, and nothing else.
func TestAViewSetHoldsWhatWasAdded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var set viewSet
		added, from := map[types.View]bool{}, types.View(rng.IntN(300))
		for range 1 + rng.IntN(20) {
			v := from + types.View(rng.IntN(400))
			set.addView(v)
			added[v] = true
		}
		for v := types.View(0); v < 900; v++ {
			if set.hasView(v) != added[v] {
				t.Fatalf("of %v it says %v of %d", added, set.hasView(v), v)
			}
		}
	}
}
