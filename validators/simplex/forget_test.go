package simplex

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Hundreds of views pass without finality: peers nullify each, after a good block
// was executed, or this validator's own came too late. The application's memory is
// bounded by the bodies that the machine holds, and not by the views.
func TestWhatIsExecutedWithoutFinalityIsBounded(t *testing.T) {
	const views = 3 * MaxOpenBlocks
	s := newSolo(t, 4, nil)
	held, most := map[types.Hash]bool{}, 0
	note := func(out Output) {
		for _, hash := range out.Forget {
			delete(held, hash)
		}
		if most = max(most, len(held)); len(held) > len(s.m.bodies.nodes) {
			t.Fatalf("view %d: the application holds %d blocks, the machine %d", s.m.view, len(held), len(s.m.bodies.nodes))
		}
	}
	builds, executed := 0, 0
	for view := types.View(1); view <= views; view++ {
		if s.m.view != view {
			t.Fatalf("in view %d, not %d", s.m.view, view)
		}
		var late *Built
		if s.m.set.Leader(view) == testAddress(0) {
			s.wait(s.cfg.Timing.BlockTime)
			late = &Built{View: view, Block: s.child(nil, view)}
			builds++
		} else if note(s.propose(view, s.child(nil, view))); len(s.m.bodies.nodes) < MaxOpenBlocks {
			for _, ask := range s.out.Ask {
				if a, ok := ask.(Execute); ok {
					executed++
					held[a.Hash] = true
					note(s.step(Executed{Hash: a.Hash, Valid: true}))
				}
			}
		}
		note(s.receive(1, s.certificate(types.Nullify, view, nil, 1, 2, 3)))
		if late != nil {
			held[late.Block.Hash()] = true
			note(s.step(*late))
		}
	}
	if most < 16 || builds < views/8 || executed < MaxOpenBlocks/2 {
		t.Errorf("at most %d were held, of %d built and %d executed", most, builds, executed)
	}
}
