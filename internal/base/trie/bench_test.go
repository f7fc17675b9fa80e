package trie

import (
	"runtime"
	"testing"
)

const (
	benchKeys    = 100_000
	benchUpdates = 10_000
)

func updates(round int) []Change {
	batch := numbered(0, benchKeys)
	picked := make([]Change, 0, benchUpdates)
	for i := range benchUpdates {
		c := batch[i*(benchKeys/benchUpdates)]
		c.Value = []byte{byte(round), byte(round >> 8), 1, 2, 3, 4, 5, 6}
		picked = append(picked, c)
	}
	return picked
}

func perKey(b *testing.B, keys int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(keys), "ns/key")
}

// BenchmarkUpdate puts 10,000 updates into 100,000 keys and computes the root.
func BenchmarkUpdate(b *testing.B) {
	tree := Build(numbered(0, benchKeys))
	tree.Root()
	even, odd := updates(0), updates(1)
	b.ReportAllocs()
	for b.Loop() {
		tree = tree.Put(even)
		tree.Root()
		even, odd = odd, even
	}
	perKey(b, benchUpdates)
}

// BenchmarkUpdateWithoutRoot is the part of BenchmarkUpdate that is not keccak.
func BenchmarkUpdateWithoutRoot(b *testing.B) {
	tree := Build(numbered(0, benchKeys))
	even, odd := updates(0), updates(1)
	for b.Loop() {
		tree = tree.Put(even)
		even, odd = odd, even
	}
	perKey(b, benchUpdates)
}

// BenchmarkRehash is the baseline: a root over everything after each batch.
func BenchmarkRehash(b *testing.B) {
	entries := numbered(0, benchKeys)
	for b.Loop() {
		Build(entries).Root()
	}
	perKey(b, benchUpdates)
}

// BenchmarkSmallBlock is a quiet block: 20 writes into 100,000 keys.
func BenchmarkSmallBlock(b *testing.B) {
	tree := Build(numbered(0, benchKeys))
	tree.Root()
	even, odd := updates(0)[:20], updates(1)[:20]
	for b.Loop() {
		tree = tree.Put(even)
		tree.Root()
		even, odd = odd, even
	}
	perKey(b, 20)
}

func BenchmarkGet(b *testing.B) {
	entries := numbered(0, benchKeys)
	b.Run("tree", func(b *testing.B) {
		tree := Build(entries)
		i := 0
		for b.Loop() {
			tree.Get(entries[i%benchKeys].Key)
			i++
		}
	})
	b.Run("map", func(b *testing.B) {
		m := make(map[string][]byte, benchKeys)
		for _, c := range entries {
			m[string(c.Key)] = c.Value
		}
		i := 0
		for b.Loop() {
			_ = m[string(entries[i%benchKeys].Key)]
			i++
		}
	})
}

// BenchmarkMemory reports the heap of one leaf, its share of inner nodes and
// its 25 bytes of key and 40 of value.
func BenchmarkMemory(b *testing.B) {
	entries := numbered(0, benchKeys)
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		tree := Build(entries)
		tree.Root()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/benchKeys, "B/key")
		runtime.KeepAlive(tree)
	}
}
