// Package trie is the state tree: an ordered map from byte strings to byte
// strings with a root hash that is a function of its content only (decision
// C12), whatever the order of the writes that led there.
//
// It is a binary Patricia tree. A key is read as nine bits per byte, the first of
// which says that there is a byte. The end of a key is thus a separate symbol and
// comes before every byte: the tree's order is bytes.Compare's. An inner node is at
// the first bit in which the keys below it differ, so every set of keys has one
// shape; leaves are at their shortest unique prefix.
//
//	leaf   keccak256(0x00 ‖ key length be4 ‖ key ‖ value)
//	inner  keccak256(0x01 ‖ bit position be4 ‖ left ‖ right)
//	empty  32 zero bytes
//
// A Tree never changes: Put returns another one that shares all it did not
// touch. Trees are safe for concurrent use, also where they share nodes. Root
// computes hashes, once per node, and publishes them atomically. A caller that
// finds a node unhashed hashes it, so no goroutine waits for another.
//
// Keys and values that a tree hands out are its own: they must not be changed.
package trie

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// MaxKeyBytes bounds a key: an actor's address, a state key of the largest size
// that params allows, and room for a prefix. The depth of the tree is at most nine
// times this.
const MaxKeyBytes = 4096

// Tree is an immutable map. Empty is the first one.
type Tree struct {
	root node
	len  int
}

// Empty is the tree without keys.
var Empty = new(Tree)

// Change is one write: Key gets Value, or is deleted where Value is nil. An
// empty value that is not nil is a value.
type Change struct {
	Key   []byte
	Value []byte
}

// Build returns the tree of these entries. It is Empty.Put.
func Build(entries []Change) *Tree { return Empty.Put(entries) }

// Len is the number of keys.
func (t *Tree) Len() int { return t.len }

// Get returns the value of a key.
func (t *Tree) Get(key []byte) (value []byte, found bool) {
	if t.root == nil {
		return nil, false
	}
	if l := nearestLeaf(t.root, key); l.hasKey(key) {
		return l.value(), true
	}
	return nil, false
}

// Put returns the tree after a batch of changes. They may come in any order; of
// several changes of one key the last counts. Deleting a missing key and writing an
// equal value change nothing. The batch is left as it is, and its bytes are copied.
// A key longer than MaxKeyBytes is a bug of the caller's: Put panics.
func (t *Tree) Put(batch []Change) *Tree {
	if len(batch) == 0 {
		return t
	}
	p := putter{len: t.len}
	root := p.putChanges(t.root, nil, sortChanges(batch))
	if root == t.root {
		return t
	}
	return &Tree{root, p.len}
}

// sortChanges returns the changes sorted by key, the last of each key.
func sortChanges(batch []Change) []Change {
	for i := range batch {
		if len(batch[i].Key) > MaxKeyBytes {
			panic(fmt.Sprintf("trie: a key of %d bytes, at most %d", len(batch[i].Key), MaxKeyBytes))
		}
	}
	if isStrictlySorted(batch) {
		return batch
	}
	order := make([]int, len(batch)) // positions, which are cheaper to move and keep equal keys in order
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if by := bytes.Compare(batch[a].Key, batch[b].Key); by != 0 {
			return by
		}
		return a - b
	})
	changes := make([]Change, 0, len(batch))
	for i, position := range order {
		if i+1 < len(order) && bytes.Equal(batch[position].Key, batch[order[i+1]].Key) {
			continue
		}
		changes = append(changes, batch[position])
	}
	return changes
}

func isStrictlySorted(batch []Change) bool {
	for i := 1; i < len(batch); i++ {
		if bytes.Compare(batch[i-1].Key, batch[i].Key) >= 0 {
			return false
		}
	}
	return true
}

// Root is the hash of the content.
func (t *Tree) Root() types.Hash {
	if t.root == nil {
		return types.Hash{}
	}
	return rootOf(t.root)
}
