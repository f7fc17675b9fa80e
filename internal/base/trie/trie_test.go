package trie

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// keys draws few distinct short keys, some after a prefix like an actor's, so that
// batches overwrite, delete, and hold keys that begin other keys.
var keys = rapid.Custom(func(t *rapid.T) []byte {
	prefix := rapid.SampledFrom([]string{"", "", "an actor", "an actor 12"}).Draw(t, "prefix")
	return []byte(prefix + rapid.StringOfN(rapid.SampledFrom([]rune{0, 1, 2, 'a', 0x7f}), 0, 5, -1).Draw(t, "key"))
})

var changes = rapid.Custom(func(t *rapid.T) Change {
	c := Change{Key: keys.Draw(t, "key")}
	if rapid.IntRange(0, 2).Draw(t, "kind") > 0 {
		c.Value = []byte(rapid.SampledFrom([]string{"", "v", "value", "another"}).Draw(t, "value"))
	}
	return c
})

var batches = rapid.SliceOfN(changes, 0, 12)

// check holds a tree against its model in everything a caller can ask.
func check(t interface{ Fatalf(string, ...any) }, tree *Tree, m model) {
	if tree.Len() != len(m) {
		t.Fatalf("Len is %d, want %d", tree.Len(), len(m))
	}
	if got, want := tree.Root(), m.root(); got != want {
		t.Fatalf("root %s, want %s of %q", got, want, m)
	}
	if got, want := scanned(tree.Scan, nil, nil), m.keys(nil, nil); !slices.Equal(got, want) {
		t.Fatalf("keys %q, want %q", got, want)
	}
	for k, v := range m {
		if got, found := tree.Get([]byte(k)); !found || string(got) != v {
			t.Fatalf("Get(%q) = %q, %v, want %q", k, got, found, v)
		}
	}
}

func scanned(scan func(from, to []byte, each func(k, v []byte) bool), from, to []byte) (keys []string) {
	scan(from, to, func(k, _ []byte) bool {
		keys = append(keys, string(k))
		return true
	})
	return keys
}

func TestTreeIsItsModelAfterEveryBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, m := Empty, model{}
		for range rapid.IntRange(1, 8).Draw(t, "batches") {
			before, was := tree, m
			batch := batches.Draw(t, "batch")
			tree, m = tree.Put(batch), m.put(batch)
			check(t, tree, m)
			check(t, before, was) // a tree never changes
		}
		key := keys.Draw(t, "absent")
		if got, found := tree.Get(key); found != (m[string(key)] != "" || slices.Contains(m.keys(nil, nil), string(key))) {
			t.Fatalf("Get(%q) = %q, %v", key, got, found)
		}
	})
}

func TestDifferIsTheFirstDifferentBitOfTheSpeltKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "a")
		b := append(bytes.Clone(a[:rapid.IntRange(0, len(a)).Draw(t, "shared")]), rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "rest")...)
		x, y := spell(string(a)), spell(string(b))
		want := noBit
		for i := range min(len(x), len(y)) {
			if x[i]-'0' != bitAt(a, uint32(i)) {
				t.Fatalf("bit %d of %x is %d", i, a, bitAt(a, uint32(i)))
			}
			if x[i] != y[i] {
				want = uint32(i)
				break
			}
		}
		if got := firstDifference(a, b); got != want || firstDifference(b, a) != want {
			t.Fatalf("%x and %x differ at %d, want %d", a, b, got, want)
		}
	})
}

func TestRootIsAFunctionOfTheContentOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := rapid.SliceOfNDistinct(changes, 0, 30, func(c Change) string { return string(c.Key) }).Draw(t, "batch")
		atOnce := Build(batch)
		oneByOne := Empty
		for _, c := range rapid.Permutation(batch).Draw(t, "order") {
			oneByOne = oneByOne.Put([]Change{c})
			if rapid.Bool().Draw(t, "hash in between") {
				oneByOne.Root()
			}
		}
		if atOnce.Root() != oneByOne.Root() || atOnce.Len() != oneByOne.Len() {
			t.Fatalf("at once %s, one by one %s", atOnce.Root(), oneByOne.Root())
		}
	})
}

func TestDeletingRestoresTheOldRootAndTheOldShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := Build(batches.Draw(t, "content"))
		batch := batches.Draw(t, "batch")
		undo := make([]Change, len(batch))
		for i, c := range batch {
			undo[i].Key = c.Key
			undo[i].Value, _ = tree.Get(c.Key)
		}
		if back := tree.Put(batch).Put(undo); back.Root() != tree.Root() || back.Len() != tree.Len() {
			t.Fatalf("root %s, before %s", back.Root(), tree.Root())
		}
	})
}

func TestABatchThatChangesNothingReturnsTheTreeItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := Build(batches.Draw(t, "content"))
		batch := batches.Draw(t, "batch")
		for i := range batch {
			batch[i].Value, _ = tree.Get(batch[i].Key)
		}
		if tree.Put(batch) != tree {
			t.Fatalf("another tree after %q", batch)
		}
	})
}

func TestScansAreTheSortedRangeAndStopWhenTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := rapid.SliceOfN(changes, 0, 30).Draw(t, "content")
		tree, m := Build(batch), model{}.put(batch)
		bound := rapid.OneOf(keys, rapid.Just([]byte(nil)))
		from, to := bound.Draw(t, "from"), bound.Draw(t, "to")
		want := m.keys(from, to)
		if got := scanned(tree.Scan, from, to); !slices.Equal(got, want) {
			t.Fatalf("Scan(%q, %q) = %q, want %q", from, to, got, want)
		}
		back := scanned(tree.ScanBack, from, to)
		slices.Reverse(back)
		if !slices.Equal(back, want) {
			t.Fatalf("ScanBack(%q, %q) reversed = %q, want %q", from, to, back, want)
		}
		for _, scan := range []func(from, to []byte, each func(k, v []byte) bool){tree.Scan, tree.ScanBack} {
			limit, calls := rapid.IntRange(1, 5).Draw(t, "limit"), 0
			scan(from, to, func(_, _ []byte) bool { calls++; return calls < limit })
			if calls != min(limit, len(want)) {
				t.Fatalf("%d calls of %d keys, told to stop at %d", calls, len(want), limit)
			}
		}
	})
}

func TestDiffIsWhatDiffersInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := Build(batches.Draw(t, "old"))
		var next *Tree
		if rapid.Bool().Draw(t, "related") {
			next = old.Put(batches.Draw(t, "batch"))
		} else {
			next = Build(batches.Draw(t, "new"))
		}
		if rapid.Bool().Draw(t, "hashed") {
			old.Root()
			next.Root()
		}
		var changed []Change
		last := []byte(nil)
		Diff(old, next, func(key, was, is []byte) bool {
			before, _ := old.Get(key)
			after, _ := next.Get(key)
			if !same(before, was) || !same(after, is) || same(was, is) {
				t.Fatalf("%q: diff says %q to %q, the trees %q to %q", key, was, is, before, after)
			}
			if last != nil && bytes.Compare(last, key) >= 0 {
				t.Fatalf("%q after %q", key, last)
			}
			last = append([]byte{}, key...)
			changed = append(changed, Change{key, is})
			return true
		})
		if got := old.Put(changed); got.Root() != next.Root() {
			t.Fatalf("the diff leads to %s, want %s", got.Root(), next.Root())
		}
		calls := 0
		Diff(old, next, func(_, _, _ []byte) bool { calls++; return false })
		if calls > 1 {
			t.Fatalf("%d calls after false", calls)
		}
	})
}

// same tells an absent value from an empty one.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func TestDiffOfRelatedTreesLooksAtTheChangeOnly(t *testing.T) {
	tree := Build(numbered(0, 10_000))
	next := tree.Put([]Change{{Key: numbered(77, 78)[0].Key, Value: []byte("new")}})
	shared := 0
	var walk func(a, b node)
	walk = func(a, b node) {
		if a == b {
			shared++
			return
		}
		x, ok := a.(*inner)
		y, ok2 := b.(*inner)
		if ok && ok2 {
			walk(x.left, y.left)
			walk(x.right, y.right)
		}
	}
	walk(tree.root, next.root)
	if shared < 5 || shared > 40 {
		t.Errorf("one change in 10,000 keys shares %d subtrees, not one a level", shared)
	}
}

func TestOfSeveralChangesOfOneKeyTheLastCounts(t *testing.T) {
	k := []byte("k")
	tree := Empty.Put([]Change{{k, []byte("1")}, {[]byte("a"), []byte("x")}, {k, nil}, {k, []byte("2")}})
	if v, _ := tree.Get(k); string(v) != "2" || tree.Len() != 2 {
		t.Errorf("k is %q in %d keys", v, tree.Len())
	}
	if tree = tree.Put([]Change{{k, []byte("3")}, {k, nil}}); tree.Len() != 1 {
		t.Errorf("k outlives its delete")
	}
}

func TestPutKeepsNeitherTheBatchNorItsBytes(t *testing.T) {
	batch := []Change{{[]byte("b"), []byte("2")}, {[]byte("a"), []byte("1")}}
	tree := Empty.Put(batch)
	if string(batch[0].Key) != "b" {
		t.Error("Put sorted the caller's batch")
	}
	root := tree.Root()
	batch[0].Key[0], batch[0].Value[0] = 'z', 'z'
	if v, _ := tree.Get([]byte("b")); string(v) != "2" || Build(tree.all()).Root() != root {
		t.Error("the tree changed with the caller's bytes")
	}
}

func (t *Tree) all() (entries []Change) {
	t.Scan(nil, nil, func(k, v []byte) bool {
		entries = append(entries, Change{k, v})
		return true
	})
	return entries
}

func TestKeysAreBounded(t *testing.T) {
	longest := []byte(strings.Repeat("k", MaxKeyBytes))
	tree := Empty.Put([]Change{{longest, []byte("v")}, {longest[:MaxKeyBytes-1], []byte("w")}})
	if v, _ := tree.Get(longest); string(v) != "v" || tree.Len() != 2 {
		t.Errorf("the longest key is lost")
	}
	defer func() {
		if recover() == nil {
			t.Error("a longer key was taken")
		}
	}()
	tree.Put([]Change{{append(longest, 'k'), nil}})
}

// Every prefix of a long key: the deepest tree there is.
func TestTheDeepestTree(t *testing.T) {
	long := bytes.Repeat([]byte{0xff}, MaxKeyBytes)
	batch := make([]Change, MaxKeyBytes+1)
	for i := range batch {
		batch[i] = Change{long[:i], []byte{byte(i)}}
	}
	tree := Build(batch)
	root := tree.Root()
	if got := len(scanned(tree.Scan, long[:10], long[:20])); got != 10 {
		t.Errorf("%d keys between the prefixes of 10 and 20 bytes", got)
	}
	for i := range batch {
		batch[i].Value = nil
	}
	if emptied := tree.Put(batch[1:]); emptied.Len() != 1 || emptied.Root() != Build([]Change{{[]byte{}, []byte{0}}}).Root() {
		t.Errorf("%d keys are left", emptied.Len())
	}
	if tree.Root() != root {
		t.Error("the tree changed")
	}
}

func TestEmptyRootIsZeroAndAllDeletedIsEmpty(t *testing.T) {
	if Empty.Root() != (types.Hash{}) || Empty.Len() != 0 {
		t.Error("Empty is not")
	}
	tree := Build([]Change{{[]byte("k"), []byte{}}}).Put([]Change{{[]byte("k"), nil}})
	if tree.Root() != (types.Hash{}) || tree.Len() != 0 {
		t.Error("a tree with its only key deleted is not empty")
	}
	if Build([]Change{{[]byte("k"), []byte{}}}).Root() == (types.Hash{}) {
		t.Error("an empty value counts as missing")
	}
}

// Meant for the race detector: validators of one process hash, read and extend
// trees that share nodes, at once.
func TestConcurrentUseOfSharedNodes(t *testing.T) {
	base := Build(numbered(0, 2_000))
	var group sync.WaitGroup
	for v := range 4 {
		group.Go(func() {
			tree := base
			for round := range 5 {
				batch := []Change{{Key: fmt.Appendf(nil, "own %d", v), Value: []byte{byte(round)}}}
				tree = tree.Put(append(batch, numbered(round*100, round*100+50)...))
				tree.Root()
				if tree.Len() != 2_001 || base.Root() == tree.Root() {
					t.Errorf("%d keys", tree.Len())
				}
			}
		})
	}
	group.Wait()
	if base.Root() != Build(base.all()).Root() {
		t.Error("the shared tree has another root")
	}
}

// numbered are entries like those of state: 20 bytes of address, a short key.
func numbered(from, to int) []Change {
	batch := make([]Change, 0, to-from)
	for i := from; i < to; i++ {
		address := types.Keccak([]byte{byte(i), byte(i >> 8), byte(i >> 16)})
		key := fmt.Appendf(address[:20:20], "key %d", i%7)
		batch = append(batch, Change{key, bytes.Repeat([]byte{byte(i)}, 40)})
	}
	return batch
}

// FuzzPut reads a batch from bytes: length of the key, key, and one byte of
// value, 0 for a delete.
func FuzzPut(f *testing.F) {
	f.Add([]byte{1, 'a', 1, 0, 5, 1, 'a', 0})
	f.Add([]byte{2, 'a', 'b', 1, 1, 'a', 2, 3, 'a', 'b', 0, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, m := Empty, model{}
		var batch []Change
		for len(data) > 0 {
			n := min(int(data[0]%16), len(data)-1)
			c := Change{Key: data[1 : 1+n]}
			data = data[1+n:]
			if len(data) > 0 {
				if data[0] != 0 {
					c.Value = data[:1]
				}
				data = data[1:]
			}
			batch = append(batch, c)
			if len(batch) == 5 || len(data) == 0 {
				tree, m = tree.Put(batch), m.put(batch)
				batch = nil
			}
		}
		check(t, tree, m)
	})
}
