package simplex

import (
	"testing"
	"time"
)

// Networks of every size make blocks, through several epochs.
func TestBlocksBecomeFinal(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7} {
		w := newWorld(1, n, func(w *world) { w.cfg.Timing.BlockTime = 0; w.epochBlocks = 5 })
		if !w.run(time.Minute, func() bool { return w.minHeight() >= 100 }) {
			t.Errorf("%d validators: height %d at %v, violation %q", n, w.minHeight(), time.Duration(w.now), w.violation)
		}
		t.Logf("%d validators: height %d at %v", n, w.minHeight(), time.Duration(w.now))
	}
}
