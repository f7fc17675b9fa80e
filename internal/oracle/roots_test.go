package oracle

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/trie"
)

// The one place where the oracle meets what it judges: both must compute the
// definition, on keys that are prefixes of one another, empty, or all zeros.
func TestRootIsTheDefinitionThatTheTrieImplements(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		seen := map[string]bool{}
		var state []Entry
		var changes []trie.Change
		for range n {
			key := make([]byte, rng.IntN(5))
			for i := range key {
				key[i] = byte(rng.IntN(4)) * 85
			}
			if seen[string(key)] {
				continue
			}
			seen[string(key)] = true
			value := fmt.Appendf(nil, "%d", rng.IntN(100))
			state = append(state, Entry{key, value})
			changes = append(changes, trie.Change{Key: key, Value: value})
		}
		if got, want := Root(state), trie.Build(changes).Root(); got != want {
			t.Fatalf("%d keys (seed 1): the definition gives %s, the trie %s", len(state), got, want)
		}
	}
}

func BenchmarkRoot(b *testing.B) {
	var state []Entry
	for i := range 1000 {
		state = append(state, Entry{be8(uint64(i) * 7919), be8(uint64(i))})
	}
	for range b.N {
		Root(state)
	}
}
