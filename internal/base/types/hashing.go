package types

import (
	"encoding/binary"
	"hash"
	"io"
	"sync"

	"golang.org/x/crypto/sha3"
)

// sponge is a keccak256 state with room for its input and for a digest, so that
// hashing allocates nothing: arguments of an interface's methods would escape to
// the heap. Read is faster than Sum, which copies the state to keep it.
type sponge struct {
	state interface {
		hash.Hash
		io.Reader
	}
	input  [1024]byte
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
	n := 0
	for _, part := range parts {
		for {
			copied := copy(s.input[n:], part)
			n, part = n+copied, part[copied:]
			if len(part) == 0 {
				break
			}
			s.state.Write(s.input[:n])
			n = 0
		}
	}
	s.state.Write(s.input[:n])
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
