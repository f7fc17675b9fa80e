package actors

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/trie"
	"pgregory.net/rapid"
)

// TestTheOverlayEqualsAMap holds State against maps that are copied for every
// snapshot: reads, ordered scans, reverts, and the tree it seals.
func TestTheOverlayEqualsAMap(t *testing.T) {
	key := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\xff")), 1, 3)
	rapid.Check(t, func(t *rapid.T) {
		twin := map[string]string{}
		base := trie.Empty
		for _, k := range rapid.SliceOf(key).Draw(t, "base") {
			twin[string(k)] = "base"
			base = base.Put([]trie.Change{{Key: k, Value: []byte("base")}})
		}
		state := NewState(base)
		type saved struct {
			at   int
			twin map[string]string
		}
		var stack []saved
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			k := key.Draw(t, "key")
			switch rapid.IntRange(0, 6).Draw(t, "verb") {
			case 0, 1:
				v := rapid.SliceOfN(rapid.Byte(), 0, 2).Draw(t, "value")
				state.Set(k, nonNil(v))
				twin[string(k)] = string(v)
			case 2:
				state.Set(k, nil)
				delete(twin, string(k))
			case 3:
				stack = append(stack, saved{state.Snapshot(), maps.Clone(twin)})
			case 4:
				if len(stack) > 0 {
					last := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					state.Revert(last.at)
					twin = last.twin
				}
			case 5:
				to := key.Draw(t, "to")
				if rapid.Bool().Draw(t, "open") {
					to = nil
				}
				scanEquals(t, state, twin, k, to, rapid.IntRange(0, 9).Draw(t, "limit"))
			case 6:
				want, found := twin[string(k)]
				if got := state.Get(k); (got != nil) != found || string(got) != want {
					t.Fatalf("Get(%q) = %q, want %q, %v", k, got, want, found)
				}
			}
		}
		scanEquals(t, state, twin, nil, nil, 1000)
		sealEquals(t, base, state, twin)
	})
}

func scanEquals(t *rapid.T, state *State, twin map[string]string, from, to []byte, limit int) {
	var got, want []string
	state.Scan(from, to, func(k, v []byte) bool {
		if len(got) == limit {
			return false
		}
		got = append(got, string(k)+"="+string(v))
		return true
	})
	for _, k := range slices.Sorted(maps.Keys(twin)) {
		if k >= string(from) && (to == nil || k < string(to)) && len(want) < limit {
			want = append(want, k+"="+twin[k])
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("Scan(%q, %q) = %q, want %q", from, to, got, want)
	}
}

func sealEquals(t *rapid.T, base *trie.Tree, state *State, twin map[string]string) {
	tree, changes := state.Seal()
	fresh := trie.Empty
	for k, v := range twin {
		fresh = fresh.Put([]trie.Change{{Key: []byte(k), Value: []byte(v)}})
	}
	if tree.Root() != fresh.Root() {
		t.Fatal("the root depends on how the content came about")
	}
	if base.Put(changes).Root() != tree.Root() {
		t.Fatal("the changes do not lead from the base to the tree")
	}
	for i, c := range changes {
		if i > 0 && bytes.Compare(changes[i-1].Key, c.Key) >= 0 {
			t.Fatal("the changes are not sorted")
		}
		if old, found := base.Get(c.Key); found == (c.Value != nil) && bytes.Equal(old, c.Value) {
			t.Fatalf("the change of %q changes nothing", c.Key)
		}
	}
}
