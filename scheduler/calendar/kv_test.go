package calendar

import (
	"bytes"
	"slices"
	"sort"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/trie"
)

type pair struct{ key, value []byte }

// memory is the state of the tests: an ordered map in chunks. Its lent values are
// overwritten after the call, and it refuses a Set during a Scan, so that no caller
// relies on more than KV promises.
type memory struct {
	chunks     [][]pair
	lent       pair
	scanning   bool
	sets, gets int
	scans      int // calls of Scan
	read       int // keys lent by Scan
}

const chunkPairs = 256

func newMemory(pairs ...pair) *memory {
	m := &memory{chunks: [][]pair{nil}}
	for _, p := range pairs {
		m.put(p.key, p.value)
	}
	return m
}

// locate returns where key is, or would be.
func (m *memory) locate(key []byte) (chunk, at int, found bool) {
	chunk = sort.Search(len(m.chunks), func(i int) bool {
		c := m.chunks[i]
		return len(c) > 0 && bytes.Compare(c[0].key, key) > 0
	}) - 1
	chunk = max(chunk, 0)
	c := m.chunks[chunk]
	at = sort.Search(len(c), func(i int) bool { return bytes.Compare(c[i].key, key) >= 0 })
	return chunk, at, at < len(c) && bytes.Equal(c[at].key, key)
}

func (m *memory) lend(p pair) (key, value []byte) {
	m.lent.key, m.lent.value = append(m.lent.key[:0], p.key...), append(m.lent.value[:0], p.value...)
	if m.lent.value == nil {
		m.lent.value = []byte{}
	}
	return m.lent.key, m.lent.value
}

func (m *memory) Get(key []byte) []byte {
	m.gets++
	chunk, at, found := m.locate(key)
	if !found {
		return nil
	}
	_, value := m.lend(m.chunks[chunk][at])
	return value
}

func (m *memory) Set(key, value []byte) {
	if m.scanning {
		panic("a Set during a Scan")
	}
	m.sets++
	m.put(key, value)
}

func (m *memory) put(key, value []byte) {
	chunk, at, found := m.locate(key)
	c := m.chunks[chunk]
	switch {
	case found && value != nil:
		c[at].value = value
	case found:
		m.chunks[chunk] = slices.Delete(c, at, at+1)
		if len(c) == 1 && len(m.chunks) > 1 {
			m.chunks = slices.Delete(m.chunks, chunk, chunk+1)
		}
	case value != nil:
		c = slices.Insert(c, at, pair{key, value})
		m.chunks[chunk] = c
		if len(c) > chunkPairs {
			m.chunks = slices.Insert(m.chunks, chunk+1, slices.Clone(c[len(c)/2:]))
			m.chunks[chunk] = c[:len(c)/2]
		}
	}
}

func (m *memory) Scan(from, to []byte, each func(key, value []byte) bool) {
	m.scans++
	m.scanning = true
	defer func() { m.scanning = false }()
	chunk, at, _ := m.locate(from)
	for ; chunk < len(m.chunks); chunk, at = chunk+1, 0 {
		for _, p := range m.chunks[chunk][at:] {
			if bytes.Compare(p.key, to) >= 0 {
				return
			}
			m.read++
			if !each(m.lend(p)) {
				return
			}
		}
	}
}

func (m *memory) dump() (all []pair) {
	for _, c := range m.chunks {
		all = append(all, c...)
	}
	return all
}

func (m *memory) clone() *memory { return newMemory(m.dump()...) }

func equal(a, b []pair) bool {
	return slices.EqualFunc(a, b, func(a, b pair) bool { return bytes.Equal(a.key, b.key) && bytes.Equal(a.value, b.value) })
}

// block is the writes of a block over the state trie, made as actors.State makes
// them (a core does not import another): a map, a journal to revert by, and the
// keys of the map, sorted for a scan.
type block struct {
	base    *trie.Tree
	writes  map[string][]byte // nil: deleted
	journal []undo
	sorted  []string
	fresh   []string
}

type undo struct {
	key   string
	value []byte
	known bool
}

func onTree(base *trie.Tree) *block { return &block{base: base, writes: map[string][]byte{}} }

func (b *block) Get(key []byte) []byte {
	if value, known := b.writes[string(key)]; known {
		return value
	}
	value, _ := b.base.Get(key)
	return value
}

func (b *block) Set(key, value []byte) {
	name := string(key)
	old, known := b.writes[name]
	b.journal = append(b.journal, undo{name, old, known})
	b.writes[name] = value
	if !known {
		b.fresh = append(b.fresh, name)
	}
}

// revert takes back all writes.
func (b *block) revert() {
	for i := len(b.journal) - 1; i >= 0; i-- {
		if u := b.journal[i]; u.known {
			b.writes[u.key] = u.value
		} else {
			delete(b.writes, u.key)
		}
	}
	b.journal, b.sorted, b.fresh = b.journal[:0], b.sorted[:0], b.fresh[:0]
}

func (b *block) Scan(from, to []byte, each func(key, value []byte) bool) {
	if len(b.fresh) > 0 {
		b.sorted = append(b.sorted, b.fresh...)
		b.fresh = nil
		slices.Sort(b.sorted)
	}
	at, _ := slices.BinarySearch(b.sorted, string(from))
	more := true
	give := func(key string) {
		if value := b.writes[key]; value != nil && more {
			more = each([]byte(key), value)
		}
	}
	b.base.Scan(from, to, func(key, value []byte) bool {
		for ; more && at < len(b.sorted) && b.sorted[at] < string(key); at++ {
			give(b.sorted[at])
		}
		if at < len(b.sorted) && b.sorted[at] == string(key) {
			give(b.sorted[at])
			at++
		} else if more {
			more = each(key, value)
		}
		return more
	})
	for ; more && at < len(b.sorted) && b.sorted[at] < string(to); at++ {
		give(b.sorted[at])
	}
}

// seal returns the tree with all writes.
func (b *block) seal() *trie.Tree {
	changes := make([]trie.Change, 0, len(b.writes))
	for key, value := range b.writes {
		changes = append(changes, trie.Change{Key: []byte(key), Value: value})
	}
	return b.base.Put(changes)
}

func dumpTree(tree *trie.Tree) (all []pair) {
	tree.Scan(nil, nil, func(key, value []byte) bool {
		all = append(all, pair{key, value})
		return true
	})
	return all
}

func TestTheMemoryOfTheTestsIsAMap(t *testing.T) {
	m, want := newMemory(), map[string]string{}
	for i := range 20_000 {
		key := []byte{byte(i * 7919 >> 8), byte(i * 31)}
		m.put(key, []byte{byte(i)})
		want[string(key)] = string([]byte{byte(i)})
		if i%3 == 0 {
			gone := []byte{byte(i * 104729 >> 8), byte(i * 17)}
			m.put(gone, nil)
			delete(want, string(gone))
		}
	}
	all := m.dump()
	if len(all) != len(want) || !slices.IsSortedFunc(all, func(a, b pair) int { return bytes.Compare(a.key, b.key) }) {
		t.Fatalf("%d keys, want %d, in order", len(all), len(want))
	}
	for _, p := range all {
		if want[string(p.key)] != string(p.value) || string(m.Get(p.key)) != string(p.value) {
			t.Fatalf("%x holds %x", p.key, p.value)
		}
	}
}
