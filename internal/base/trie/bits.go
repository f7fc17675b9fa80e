package trie

import (
	"encoding/binary"
	"math/bits"
)

// A key's bits are numbered from 0, nine a byte: bit 9i says whether there is a
// byte i, and its eight bits follow, the highest first. Beyond its end a key is
// all zeros.

// bitsPerByte counts the bit that says "there is a byte".
const bitsPerByte = 9

// noBit is where equal keys differ: beyond every bit.
const noBit = ^uint32(0)

// place is where a key has a bit: in which byte, and under which mask. The mask
// is 0 for the bit that says that there is this byte.
type place struct {
	index uint16 // MaxKeyBytes fits
	mask  uint8
}

func placeOf(n uint32) place {
	return place{uint16(n / bitsPerByte), uint8(uint32(1<<8) >> (n % bitsPerByte))}
}

// isSetIn reports whether the bit is set in key.
func (p place) isSetIn(key []byte) bool {
	return int(p.index) < len(key) && (p.mask == 0 || key[p.index]&p.mask != 0)
}

// bitAt returns bit n of key.
func bitAt(key []byte, n uint32) byte {
	if placeOf(n).isSetIn(key) {
		return 1
	}
	return 0
}

// firstDifference returns the first bit in which a and b differ, or noBit.
func firstDifference(a, b []byte) uint32 {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.BigEndian.Uint64(a[i:]) ^ binary.BigEndian.Uint64(b[i:]); x != 0 {
			same := bits.LeadingZeros64(x)
			return uint32(bitsPerByte*(i+same/8) + 1 + same%8)
		}
	}
	for ; i < n; i++ {
		if x := a[i] ^ b[i]; x != 0 {
			return uint32(bitsPerByte*i + 1 + bits.LeadingZeros8(x))
		}
	}
	if len(a) == len(b) {
		return noBit
	}
	return uint32(bitsPerByte * n)
}
