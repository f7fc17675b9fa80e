package types

import (
	"encoding/binary"
	"hash"
	"io"
	"sync"

	"golang.org/x/crypto/sha3"
)

// sponge is a keccak256 state with room for a digest, so that hashing
// allocates nothing. Read is faster than Sum, which copies the state to keep it.
type sponge struct {
	state interface {
		hash.Hash
		io.Reader
	}
	digest Hash
}

var sponges = sync.Pool{New: func() any {
	s := new(sponge)
	s.state = sha3.NewLegacyKeccak256().(interface {
		hash.Hash
		io.Reader
	})
	return s
}}

// Keccak returns the keccak256 digest of the parts, one after the other.
func Keccak(parts ...[]byte) Hash {
	s := sponges.Get().(*sponge)
	s.state.Reset()
	for _, part := range parts {
		s.state.Write(part)
	}
	s.state.Read(s.digest[:])
	digest := s.digest
	sponges.Put(s)
	return digest
}

// Digest is what is signed for content: keccak256 of the domain tag, the chain
// id in eight bytes big-endian, and the content (decision C10).
func Digest(domain string, chainID uint64, content []byte) Hash {
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], chainID)
	return Keccak([]byte(domain), id[:], content)
}
