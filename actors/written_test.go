package actors

import (
	"bytes"
	"maps"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
	"pgregory.net/rapid"
)

// TestWhatWasWrittenIsWhatDiffers holds WrittenSince against copies of the whole
// storage, whatever is written, deleted and reverted in between.
func TestWhatWasWrittenIsWhatDiffers(t *testing.T) {
	actors := []types.Address{one, two}
	rapid.Check(t, func(t *rapid.T) {
		base := NewState(trie.Empty)
		base.SetStorage(one, []byte("a"), []byte("base"))
		base.SetStorage(two, []byte("b"), nil)
		tree, _ := base.Seal()
		state := NewState(tree)
		write := func() {
			who := rapid.SampledFrom(actors).Draw(t, "actor")
			key := rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "key")
			switch rapid.IntRange(0, 3).Draw(t, "verb") {
			case 0:
				state.DeleteStorage(who, []byte(key))
			case 1:
				state.Credit(who, types.WeiOf(1)) // no storage
			default:
				state.SetStorage(who, []byte(key), rapid.SampledFrom([][]byte{nil, []byte("base"), []byte("new")}).Draw(t, "value"))
			}
		}
		some := func() {
			for range rapid.IntRange(0, 8).Draw(t, "writes") {
				write()
			}
		}
		some()
		snapshot, before := state.Snapshot(), storageOf(state)
		for range rapid.IntRange(0, 3).Draw(t, "rounds") {
			mark := state.Snapshot()
			some()
			if rapid.Bool().Draw(t, "revert") {
				state.Revert(mark)
			}
		}
		after := storageOf(state)
		want := maps.Clone(after)
		maps.DeleteFunc(want, func(k, v string) bool { old, had := before[k]; return had && old == v })
		for k := range before {
			if _, still := after[k]; !still {
				want[k] = "gone"
			}
		}
		got := state.WrittenSince(snapshot)
		if len(got) != len(want) {
			t.Fatalf("%d keys were written, %d differ", len(got), len(want))
		}
		for _, w := range got {
			key := string(append(append([]byte{prefixStorage}, w.Actor[:]...), w.Key[:]...))
			if _, differs := want[key]; !differs || !sameAs(before, key, w.Before) || !sameAs(after, key, w.After) {
				t.Fatalf("%+v", w)
			}
		}
	})
}

// storageOf copies all storage of a state.
func storageOf(s *State) map[string]string {
	all := map[string]string{}
	s.Scan([]byte{prefixStorage}, []byte{prefixStorage + 1}, func(key, value []byte) bool {
		all[string(key)] = string(value)
		return true
	})
	return all
}

func sameAs(all map[string]string, key string, value []byte) bool {
	want, found := all[key]
	return found == (value != nil) && bytes.Equal([]byte(want), value)
}
