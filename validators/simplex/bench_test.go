package simplex

import (
	"testing"
	"time"
)

// BenchmarkBlocks makes blocks with four machines in memory, trivial signatures
// and an instant network, records encoded and messages checked.
func BenchmarkBlocks(b *testing.B) {
	w := newWorld(1, 4, func(w *world) {
		w.cfg.Timing.BlockTime, w.latency = 0, time.Millisecond
	})
	w.signed = nil
	w.tamper = func(_ int, s Send) []Send { return []Send{s} }
	b.ReportAllocs()
	b.ResetTimer()
	w.run(365*24*time.Hour, func() bool { return w.minHeight() >= b.N })
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
}

// BenchmarkHeaderHashes is the baseline of BenchmarkBlocks: four header hashes,
// one a machine.
func BenchmarkHeaderHashes(b *testing.B) {
	block := testGenesis(time.Second).Block
	for b.Loop() {
		for range 4 {
			block.Hash()
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
}

// BenchmarkHundred makes blocks with 100 machines.
func BenchmarkHundred(b *testing.B) {
	w := newWorld(1, 100, func(w *world) {
		w.cfg.Timing.BlockTime, w.latency = 0, time.Millisecond
	})
	w.tamper = func(_ int, s Send) []Send { return []Send{s} }
	b.ResetTimer()
	w.run(365*24*time.Hour, func() bool { return w.minHeight() >= b.N })
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
}
