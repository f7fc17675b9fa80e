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

// bit returns bit n of key.
func bit(key []byte, n uint32) byte {
	i := int(n / bitsPerByte)
	if i >= len(key) {
		return 0
	}
	if n %= bitsPerByte; n == 0 {
		return 1
	}
	return key[i] >> (8 - n) & 1
}

// differ returns the first bit in which a and b differ, or noBit.
func differ(a, b []byte) uint32 {
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
