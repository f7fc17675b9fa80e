package types

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// Limits of the digests that are remembered: those of the ballots of some views, and of the
// storage keys that each block reads, in 80 KiB.
const (
	recallPlaces = 512 // a power of two
	recallBytes  = 112 // of a longest input: a vote's, rounded up to whole words
)

// recallPlace remembers the digest of one input, and gives it up to the next.
type recallPlace struct {
	mu     sync.Mutex
	known  bool
	length uint8
	input  [recallBytes]byte // zero from length on
	digest Hash
}

var recall [recallPlaces]recallPlace

// RecallKeccak is Keccak of an input that comes again soon. It remembers digests with their whole
// input; one of more than recallBytes is computed each time. It is safe for concurrent use.
func RecallKeccak(data []byte) Hash {
	if len(data) > recallBytes {
		return Keccak(data)
	}
	var input [recallBytes]byte
	copy(input[:], data)
	p := &recall[placeOf(&input, len(data))]
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known || int(p.length) != len(data) || p.input != input {
		p.known, p.length, p.input, p.digest = true, uint8(len(data)), input, Keccak(data)
	}
	return p.digest
}

// placeOf mixes the words of an input.
func placeOf(input *[recallBytes]byte, length int) int {
	mixed := uint64(length)
	for at := 0; at < length; at += 8 {
		mixed = bits.RotateLeft64(mixed^binary.LittleEndian.Uint64(input[at:]), 29) * 0x9e3779b97f4a7c15
	}
	return int(mixed >> 40 % recallPlaces)
}
