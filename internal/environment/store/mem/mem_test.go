package mem

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Store(t, func(testing.TB) env.Store { return NewStore() })
}

func TestLog(t *testing.T) {
	storetest.Log(t, func(testing.TB) env.Log { return NewLog() })
}

// TestATableIsASortedMap: with keys enough to split and empty pages, in order
// and out of it, a table holds what a map holds, sorted, in pages within their
// bounds.
func TestATableIsASortedMap(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		table, twin := &table{}, map[string]string{}
		stride := rapid.SampledFrom([]int{1, 7919}).Draw(r, "stride")
		count := rapid.IntRange(0, 3000).Draw(r, "count")
		for i := range count {
			key := fmt.Sprintf("%06d", i*stride%100_000)
			table.putValue(key, []byte(key))
			twin[key] = key
		}
		from, to := rapid.IntRange(0, count).Draw(r, "from"), rapid.IntRange(0, count).Draw(r, "to")
		for i := from; i < to; i++ {
			key := fmt.Sprintf("%06d", i*stride%100_000)
			table.removeKey(key)
			delete(twin, key)
		}
		var keys []string
		for _, page := range table.pages {
			if len(page) == 0 || len(page) >= pageEntries {
				r.Fatalf("a page of %d", len(page))
			}
			for _, e := range page {
				keys = append(keys, e.key)
				if twin[e.key] != string(e.value) {
					r.Fatalf("%s has %q", e.key, e.value)
				}
			}
		}
		if len(keys) != len(twin) || !slices.IsSorted(keys) {
			r.Fatalf("%d keys of %d, sorted %v", len(keys), len(twin), slices.IsSorted(keys))
		}
	})
}

func BenchmarkStore(b *testing.B) { storetest.BenchStore(b, NewStore()) }

func BenchmarkLog(b *testing.B) {
	storetest.BenchLog(b, func(testing.TB) env.Log { return NewLog() })
}
