package selection

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// MaxRunners is the most registrations there can be: the bits of a bitmap of
// 8,192 bytes with its length (decision J12).
const MaxRunners = 65_504

// lengthBytes is the head of a bitmap that is not empty.
const lengthBytes = 4

// wordBits is how many bits are counted at once.
const wordBits = 64

// Bitmap has a bit for each runner, by its index in the registry: what one
// validator saw, or what all of them say. No bit beyond its length is ever set.
//
// Spec: CIP-11 §§7.1, 12.3, decision J12.
type Bitmap struct {
	length int
	words  []uint64 // bit i is bit i mod 64, from the lowest, of word i / 64
}

// NewBitmap returns a bitmap without set bits. It panics for a length that no
// registry has: one below 0 or above MaxRunners.
func NewBitmap(length int) *Bitmap {
	if length < 0 || length > MaxRunners {
		panic(fmt.Sprintf("selection: a bitmap of %d bits; a registry has 0 to %d runners", length, MaxRunners))
	}
	if length == 0 {
		return &empty
	}
	return &Bitmap{length: length, words: make([]uint64, (length+wordBits-1)/wordBits)}
}

// empty is the bitmap of an empty registry. There is no bit in it to set.
var empty Bitmap

// BitmapError is the reason why bytes are not a bitmap. The voter is at fault: the
// vote is invalid.
type BitmapError struct{ Detail string }

func (e *BitmapError) Error() string { return "CIP-11 §12.3: no presence bitmap: " + e.Detail }

func noBitmap(format string, args ...any) (*Bitmap, error) {
	return nil, &BitmapError{fmt.Sprintf(format, args...)}
}

// ParseBitmap reads bit_length_be4 ‖ bytes, or the empty string of an empty
// registry; nil is neither. Bit i is bit i mod 8, from the lowest, of byte i / 8.
// It refuses every other form with a *BitmapError, so that a bitmap has one.
//
// Vectors: fixtures/vectors/cip11/12.3-bitmap.json.
func ParseBitmap(data []byte) (*Bitmap, error) {
	if data == nil {
		return noBitmap("it is null; that of an empty registry is the empty string")
	}
	if len(data) == 0 {
		return NewBitmap(0), nil
	}
	if len(data) < lengthBytes {
		return noBitmap("no length in %s", plural.Of(len(data), "byte"))
	}
	length, body := binary.BigEndian.Uint32(data), data[lengthBytes:]
	switch {
	case length == 0:
		return noBitmap("a length of 0; that of an empty registry is the empty string")
	case length > MaxRunners:
		return noBitmap("%d bits, at most %d", length, MaxRunners)
	case len(body) != (int(length)+7)/8:
		return noBitmap("%s for %s", plural.Of(len(body), "byte"), plural.Of(length, "bit"))
	case length%8 != 0 && body[len(body)-1]>>(length%8) != 0:
		return noBitmap("a bit beyond the %d there are", length)
	}
	b := NewBitmap(int(length))
	for i := range b.words {
		if len(body) >= 8 {
			b.words[i], body = binary.LittleEndian.Uint64(body), body[8:]
			continue
		}
		for j, each := range body {
			b.words[i] |= uint64(each) << (8 * j)
		}
	}
	return b, nil
}

// Bytes returns the one form that ParseBitmap reads.
func (b *Bitmap) Bytes() []byte {
	if b.length == 0 {
		return []byte{}
	}
	size := lengthBytes + (b.length+7)/8
	out := binary.BigEndian.AppendUint32(make([]byte, 0, size+8), uint32(b.length))
	for _, word := range b.words {
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return out[:size]
}

// Hash is keccak256 of the bytes: a vote signs it, and a header holds it for
// P(parent).
func (b *Bitmap) Hash() types.Hash { return types.Keccak(b.Bytes()) }

// Len is the number of bits, set or not.
func (b *Bitmap) Len() int { return b.length }

// Has reports whether bit i is set. Beyond the length no bit is (CIP-11 §8.4,
// decision J12).
func (b *Bitmap) Has(i int) bool {
	return i >= 0 && i < b.length && b.words[i/wordBits]>>(i%wordBits)&1 == 1
}

// Set sets bit i, or clears it. It panics beyond the length.
func (b *Bitmap) Set(i int, there bool) {
	if i < 0 || i >= b.length {
		panic(fmt.Sprintf("selection: bit %d of a bitmap of %d", i, b.length))
	}
	bit := uint64(1) << (i % wordBits)
	if there {
		b.words[i/wordBits] |= bit
	} else {
		b.words[i/wordBits] &^= bit
	}
}

// And clears the bits that another bitmap does not have.
func (b *Bitmap) And(other *Bitmap) {
	for i := range b.words {
		b.words[i] &= other.wordAt(i)
	}
}

// Count is the number of set bits.
func (b *Bitmap) Count() (n int) {
	for _, word := range b.words {
		n += bits.OnesCount64(word)
	}
	return n
}

// wordAt is the i-th word, 0 beyond the last.
func (b *Bitmap) wordAt(i int) uint64 {
	if i < len(b.words) {
		return b.words[i]
	}
	return 0
}

// clipLastWord clears the bits beyond the length in the last word.
func (b *Bitmap) clipLastWord() {
	if rest := b.length % wordBits; rest != 0 {
		b.words[len(b.words)-1] &= 1<<rest - 1
	}
}
