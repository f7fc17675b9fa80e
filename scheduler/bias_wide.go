package scheduler

import (
	"math/big"
	"math/bits"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// wide is an unsigned integer of 384 bits, the least word first. It holds the
// scores of auctions, which are compared without rounding: a bid of 256 bits
// before the point and a bias of 64 bits behind it.
type wide [wideWords]uint64

const wideWords = 6

// wideOf returns n, which is not negative and has at most 384 bits.
func wideOf(n *big.Int) (w wide) {
	var bytes [8 * len(w)]byte
	n.FillBytes(bytes[:])
	for i := range w {
		for _, b := range bytes[8*(len(w)-1-i) : 8*(len(w)-i)] {
			w[i] = w[i]<<8 | uint64(b)
		}
	}
	return w
}

// wideWei returns an amount × 2^64.
func wideWei(amount types.Wei) (w wide) {
	if n, small := amount.Uint64(); small {
		w[1] = n
		return w
	}
	return wideOf(new(big.Int).Lsh(amount.Big(), 64))
}

func (w *wide) big() *big.Int {
	n := new(big.Int)
	for i := len(w) - 1; i >= 0; i-- {
		n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(w[i]))
	}
	return n
}

// plus is w + v, which stays below 2^384.
func (w wide) plus(v *wide) wide {
	var carry uint64
	for i := range w {
		w[i], carry = bits.Add64(w[i], v[i], carry)
	}
	if carry > 0 {
		panic("scheduler: a score exceeds 384 bits")
	}
	return w
}

// over is w / n, rounded down. n is not 0.
func (w wide) over(n uint64) wide {
	var rest uint64
	for i := len(w) - 1; i >= 0; i-- {
		w[i], rest = bits.Div64(rest, w[i], n)
	}
	return w
}

// times is w × n, whole.
func (w *wide) times(n uint64) (product [wideWords + 1]uint64) {
	var over, carry uint64
	for i := range w {
		high, low := bits.Mul64(w[i], n)
		product[i], carry = bits.Add64(low, over, 0)
		over = high + carry
	}
	product[wideWords] = over
	return product
}

func (w *wide) cmp(v *wide) int { return compareWords(w[:], v[:]) }

// compareWords compares two numbers of as many words.
func compareWords(a, b []uint64) int {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			if a[i] < b[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}
