package simplex

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// A validator of which nothing is heard.
func TestSilentValidator(t *testing.T) {
	survives(t, func(*world, Send) []Send { return nil })
}

// A leader that never proposes but votes: each of its views takes the leader
// timeout.
func TestSilentLeader(t *testing.T) {
	survives(t, func(w *world, s Send) []Send {
		if _, ok := s.Message.(*types.Proposal); ok {
			return nil
		}
		return []Send{s}
	})
}

// While one of four is stopped, the others keep at least a quarter of their
// block rate, whatever the block time: from its second turn on it is not waited
// for.
func TestRateWithOneStopped(t *testing.T) {
	for _, blockTime := range []time.Duration{0, 100 * time.Millisecond, time.Second} {
		w := newWorld(3, 4, func(w *world) { w.cfg.Timing.BlockTime = blockTime })
		w.run(time.Minute, func() bool { return w.minHeight() >= 20 })
		start := w.now
		w.run(time.Hour, func() bool { return w.minHeight() >= 220 })
		whole := w.now.Sub(start)
		w.stop(w.nodes[2])
		start = w.now
		height := len(w.finalized)
		w.run(time.Hour, func() bool { return len(w.finalized) >= height+200 })
		if took := w.now.Sub(start); took > 4*whole {
			t.Errorf("block time %v: 200 blocks in %v, with all four in %v", blockTime, took, whole)
		}
		w.start(w.nodes[2])
		if !w.run(10*time.Second+3*blockTime, func() bool { return w.minHeight() >= height+200 }) {
			t.Errorf("block time %v: the stopped one did not rejoin: %s", blockTime, describeWorld(w))
		}
	}
}
