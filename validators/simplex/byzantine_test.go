package simplex

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// hostile is a network of four with one faulty validator, v1, whose messages tamper
// changes. Honest ones are watched for contradictions.
func hostile(seed uint64, tamper func(w *world, s Send) []Send) *world {
	return newWorld(seed, 4, func(w *world) {
		w.jitter, w.loss, w.epochBlocks = 30*time.Millisecond, 0.02, 5
		w.tamper = func(from int, s Send) []Send {
			if from == 1 {
				return tamper(w, s)
			}
			w.witness(w.nodes[from], s.Message)
			return []Send{s}
		}
	})
}

// survives lets the network run, and expects that the honest agree and continue.
func survives(t *testing.T, tamper func(w *world, s Send) []Send) *world {
	t.Helper()
	var last *world
	for seed := uint64(1); seed <= 4; seed++ {
		w := hostile(seed, tamper)
		ok := w.run(3*time.Minute, func() bool {
			return min(len(w.nodes[0].chain), len(w.nodes[2].chain), len(w.nodes[3].chain)) >= 40
		})
		if !ok {
			t.Fatalf("seed %d: %q, %s", seed, w.violation, describeWorld(w))
		}
		for _, e := range w.evidence {
			if e.Offender != testAddress(1) {
				t.Fatalf("seed %d: evidence against the honest %s: %s, %s", seed, name(e.Offender), describe(e.First), describe(e.Second))
			}
		}
		last = w
	}
	return last
}

func (w *world) resign(v types.Vote, id int) *types.Vote {
	v.Validator = testAddress(id)
	v.Signature = w.nodes[id].key.Sign(v.Digest(testChain))
	return &v
}
