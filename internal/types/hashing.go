package types

import (
	"encoding/binary"
	"hash"
	"sync"

	"golang.org/x/crypto/sha3"
)

var keccaks = sync.Pool{New: func() any { return sha3.NewLegacyKeccak256() }}

// Keccak returns the keccak256 digest of the parts, one after the other.
func Keccak(parts ...[]byte) (digest Hash) {
	state := keccaks.Get().(hash.Hash)
	state.Reset()
	for _, part := range parts {
		state.Write(part)
	}
	state.Sum(digest[:0])
	keccaks.Put(state)
	return digest
}

// Digest is what is signed for content: keccak256 of the domain tag, the chain
// id in eight bytes big-endian, and the content (decision C10).
func Digest(domain string, chainID uint64, content []byte) Hash {
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], chainID)
	return Keccak([]byte(domain), id[:], content)
}
