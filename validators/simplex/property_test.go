package simplex

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

var (
	seedFlag  = flag.Uint64("simplex.seed", 0, "replay this seed of TestAgreementAndLiveness only")
	seedsFlag = flag.Int("simplex.seeds", 40, "seeds that TestAgreementAndLiveness runs")
)

// chaos disturbs a world for a while, then heals it.
func chaos(w *world, rng *rand.Rand, d time.Duration) {
	end := w.now.Add(d)
	for w.now < end && w.violation == "" {
		switch n := w.nodes[rng.IntN(len(w.nodes))]; rng.IntN(7) {
		case 0:
			if n.down {
				w.start(n)
			} else {
				w.stop(n)
			}
		case 1:
			if !n.down {
				n.crash = true
			}
		case 2:
			for i := range w.groups {
				w.groups[i] = rng.IntN(2)
			}
		case 3:
			clear(w.groups)
		case 4:
			w.loss = []float64{0, 0.05, 0.3, 0.6}[rng.IntN(4)]
		case 5:
			w.jitter = []time.Duration{0, 50 * time.Millisecond, 400 * time.Millisecond}[rng.IntN(3)]
		case 6:
			w.unfinal = !w.unfinal
		}
		w.run(time.Duration(rng.Int64N(int64(3*time.Second))), nil)
	}
	heal(w)
}

func heal(w *world) {
	clear(w.groups)
	w.loss, w.jitter, w.unfinal = 0, 20*time.Millisecond, false
	for _, n := range w.nodes {
		n.crash = false
		if n.down {
			w.start(n)
		}
	}
}

func describeWorld(w *world) string {
	s := fmt.Sprintf("now %v", time.Duration(w.now))
	for _, n := range w.nodes {
		if n.down {
			s += fmt.Sprintf("; v%d down", n.id)
			continue
		}
		m := n.machine
		s += fmt.Sprintf("; v%d height %d view %d epoch %d armed %v ended %v wants %d newest %d final %v deadline %v", n.id, len(n.chain), m.view,
			m.set.Epoch, m.pace.armed, m.hasReachedBorder(), len(m.fetcher.wants), m.newest, m.final != nil, time.Duration(m.Deadline()))
	}
	return s
}

// Under any links and crashes, no two blocks are final at one height and no
// validator contradicts a vote. Once these stop, blocks become final within a
// bound: the longest doubled view timeout, and some views.
func TestAgreementAndLiveness(t *testing.T) {
	first, count := uint64(1), uint64(*seedsFlag)
	if *seedFlag != 0 {
		first, count = *seedFlag, 1
	}
	for seed := first; seed < first+count; seed++ {
		rng := rand.New(rand.NewPCG(seed, 2))
		n := []int{1, 2, 3, 4, 4, 5, 7}[rng.IntN(7)]
		w := newWorld(seed, n, func(w *world) {
			w.epochBlocks = []uint64{1, 2, 3, 64}[rng.IntN(4)]
			if quiet := types.Epoch(rng.IntN(4)); quiet > 0 {
				w.quiet = func(e types.Epoch) bool { return e%quiet != 0 }
			}
			w.cfg.Timing.BlockTime = []time.Duration{0, 100 * time.Millisecond, time.Second}[rng.IntN(3)]
			w.cfg.Timing.LinkDelay = 100 * time.Millisecond
			w.cfg.Timing.Auto = rng.IntN(4) == 0
			w.duplicate = 0.05
			w.torn = true
			w.jitter = 20 * time.Millisecond
			w.execution = time.Duration(rng.IntN(3)) * 5 * time.Millisecond
			for _, n := range w.nodes {
				n.pending = true
			}
		})
		for range 3 {
			chaos(w, rng, 15*time.Second)
			before := len(w.finalized)
			longest := 16 * (w.cfg.Timing.BlockTime + viewDelays*w.cfg.Timing.LinkDelay)
			bound := 2*longest + 20*(w.cfg.Timing.BlockTime+viewDelays*w.cfg.Timing.LinkDelay)
			for _, e := range w.evidence {
				t.Fatalf("seed %d: evidence against %s, who is honest: %s, %s", seed, name(e.Offender), describe(e.First), describe(e.Second))
			}
			if !w.run(bound, func() bool { return w.minHeight() >= before+3 }) {
				t.Fatalf("seed %d, %d validators, epochs of %d, auto %v: from height %d no 3 more within %v of healing; violation %q\n%s\nreplay: "+
					"go test ./validators/simplex -run TestAgreementAndLiveness -simplex.seed %d",
					seed, n, w.epochBlocks, w.cfg.Timing.Auto, before, bound, w.violation, describeWorld(w), seed)
			}
		}
	}
}
