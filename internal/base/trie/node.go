package trie

import (
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// node is a *leaf or an *inner; nil is the empty tree.
type node interface {
	// cachedDigest is where the node keeps its hash.
	cachedDigest() *digest
}

// leaf is a key and its value, in one piece of memory.
type leaf struct {
	digest
	keyLen uint32
	data   []byte // key ‖ value
}

// inner is where keys part: those with a 0 at bit go left. Both sides exist.
type inner struct {
	digest
	bit uint32
	place
	left, right node
}

func newLeaf(c Change) *leaf {
	data := make([]byte, 0, len(c.Key)+len(c.Value))
	data = append(append(data, c.Key...), c.Value...)
	return &leaf{keyLen: uint32(len(c.Key)), data: data}
}

func (l *leaf) key() []byte            { return l.data[:l.keyLen:l.keyLen] }
func (l *leaf) value() []byte          { return l.data[l.keyLen:len(l.data):len(l.data)] }
func (l *leaf) hasKey(key []byte) bool { return string(l.key()) == string(key) }
func (l *leaf) hasValue(v []byte) bool { return string(l.value()) == string(v) }
func (l *leaf) cachedDigest() *digest  { return &l.digest }
func (n *inner) cachedDigest() *digest { return &n.digest }
func (n *inner) sideOf(k []byte) node {
	if n.isSetIn(k) {
		return n.right
	}
	return n.left
}

// joinNodes returns the node above left and right, of which either may be nil.
func joinNodes(at uint32, left, right node) node {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	}
	return &inner{bit: at, place: placeOf(at), left: left, right: right}
}

// nearestLeaf returns the leaf that key leads to. If n has key, it is key's leaf;
// otherwise no leaf of n shares more leading bits with key.
func nearestLeaf(n node, key []byte) *leaf {
	for {
		in, ok := n.(*inner)
		if !ok {
			return n.(*leaf)
		}
		n = in.sideOf(key)
	}
}

// digest is a hash that is computed at most once a goroutine and published
// without a lock.
type digest struct {
	hash  types.Hash
	state atomic.Uint32
}

// The states of a digest.
const (
	unknown   = iota
	writing   // one goroutine is writing hash
	published // hash is readable, permanently
)

// publishedHash returns the hash if it is published.
func (d *digest) publishedHash() (types.Hash, bool) {
	if d.state.Load() != published {
		return types.Hash{}, false
	}
	return d.hash, true
}

// publishHash keeps the hash, unless another goroutine is doing so.
func (d *digest) publishHash(h *types.Hash) {
	if d.state.CompareAndSwap(unknown, writing) {
		d.hash = *h
		d.state.Store(published)
	}
}
