package scheduler

import (
	"bytes"
	"sort"

	"github.com/cowboyinc/devnet/internal/base/trie"
)

// memory is the state of the tests: an ordered map in chunks, with a journal
// that can be rolled back.
type memory struct {
	chunks  [][]pair
	size    int
	writes  int // calls of Set
	journal []pair
}

type pair struct{ key, value []byte }

const chunkPairs = 512

func newMemory() *memory { return &memory{chunks: [][]pair{nil}} }

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

func (m *memory) Get(key []byte) []byte {
	chunk, at, found := m.locate(key)
	if !found {
		return nil
	}
	return m.chunks[chunk][at].value
}

func (m *memory) Set(key, value []byte) {
	m.writes++
	m.journal = append(m.journal, pair{key, m.Get(key)})
	m.put(key, value)
}

func (m *memory) put(key, value []byte) {
	chunk, at, found := m.locate(key)
	c := m.chunks[chunk]
	switch {
	case found && value != nil:
		c[at].value = value
	case found:
		m.size--
		m.chunks[chunk] = append(c[:at], c[at+1:]...)
		if len(c) == 1 && len(m.chunks) > 1 {
			m.chunks = append(m.chunks[:chunk], m.chunks[chunk+1:]...)
		}
	case value != nil:
		m.size++
		c = append(c, pair{})
		copy(c[at+1:], c[at:])
		c[at] = pair{key, value}
		m.chunks[chunk] = c
		if len(c) > chunkPairs {
			m.split(chunk)
		}
	}
}

func (m *memory) split(chunk int) {
	c := m.chunks[chunk]
	half := append(make([]pair, 0, chunkPairs+1), c[len(c)/2:]...)
	m.chunks[chunk] = c[:len(c)/2]
	m.chunks = append(m.chunks, nil)
	copy(m.chunks[chunk+2:], m.chunks[chunk+1:])
	m.chunks[chunk+1] = half
}

func (m *memory) Scan(from, to []byte, each func(key, value []byte) bool) {
	chunk, at, _ := m.locate(from)
	for ; chunk < len(m.chunks); chunk, at = chunk+1, 0 {
		for _, p := range m.chunks[chunk][at:] {
			if bytes.Compare(p.key, to) >= 0 || !each(p.key, p.value) {
				return
			}
		}
	}
}

// mark is a point to roll back to.
func (m *memory) mark() int { return len(m.journal) }

func (m *memory) rollback(mark int) {
	for len(m.journal) > mark {
		last := m.journal[len(m.journal)-1]
		m.journal = m.journal[:len(m.journal)-1]
		m.put(last.key, last.value)
	}
}

func (m *memory) dump() (all []pair) {
	for _, c := range m.chunks {
		all = append(all, c...)
	}
	return all
}

// onTrie is the state trie as a KV, each write a separate batch.
type onTrie struct{ tree *trie.Tree }

func (o *onTrie) Get(key []byte) []byte {
	value, _ := o.tree.Get(key)
	return value
}

func (o *onTrie) Set(key, value []byte) { o.tree = o.tree.Put([]trie.Change{{Key: key, Value: value}}) }

func (o *onTrie) Scan(from, to []byte, each func(key, value []byte) bool) {
	o.tree.Scan(from, to, each)
}
