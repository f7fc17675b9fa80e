package trie

import (
	"encoding/binary"
	"hash"
	"io"
	"sync"

	"golang.org/x/crypto/sha3"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// First bytes of a hash's input, so that no leaf passes for an inner node.
const (
	leafTag  = 0x00
	innerTag = 0x01
)

// innerBytes are the bytes that an inner node's hash covers.
const innerBytes = 1 + 4 + 32 + 32

// hasher hashes the nodes of one Root, in its own memory.
type hasher struct {
	keccak interface {
		hash.Hash
		io.Reader // of the digest, without the copy that Sum makes
	}
	inner [innerBytes]byte
	out   types.Hash
}

var hashers = sync.Pool{New: func() any {
	h := new(hasher)
	h.keccak = sha3.NewLegacyKeccak256().(interface {
		hash.Hash
		io.Reader
	})
	return h
}}

// rootOf returns the hash of n, hashing what is not hashed yet.
func rootOf(n node) types.Hash {
	if known, ok := n.cachedDigest().publishedHash(); ok {
		return known
	}
	h := hashers.Get().(*hasher)
	defer hashers.Put(h)
	return h.hashNode(n)
}

func (h *hasher) hashNode(n node) types.Hash {
	if known, ok := n.cachedDigest().publishedHash(); ok {
		return known
	}
	switch n := n.(type) {
	case *leaf:
		h.hashLeaf(n)
	case *inner:
		left, right := h.hashNode(n.left), h.hashNode(n.right)
		h.inner[0] = innerTag
		binary.BigEndian.PutUint32(h.inner[1:], n.bit)
		copy(h.inner[5:], left[:])
		copy(h.inner[37:], right[:])
		h.sumParts(h.inner[:], nil)
	}
	n.cachedDigest().publishHash(&h.out)
	return h.out
}

func (h *hasher) hashLeaf(l *leaf) {
	h.inner[0] = leafTag
	binary.BigEndian.PutUint32(h.inner[1:], l.keyLen)
	h.sumParts(h.inner[:5], l.data)
}

// sumParts leaves the digest of both parts in out.
func (h *hasher) sumParts(head, rest []byte) {
	h.keccak.Reset()
	h.keccak.Write(head)
	h.keccak.Write(rest)
	h.keccak.Read(h.out[:])
}
