package exact

import (
	"cmp"
	"math/big"
	"math/bits"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Wide is an unsigned integer of 384 bits, the lowest word first. It holds values
// that are compared without rounding: scores of auctions, a bid of 256 bits before
// the point and a bias of 64 after it; effective priorities, a sum of two amounts
// times a weight.
type Wide [words]uint64

const words = 6

// WideOf returns n, which is not negative and has at most 384 bits.
func WideOf(n *big.Int) (w Wide) {
	var bytes [8 * len(w)]byte
	n.FillBytes(bytes[:])
	for i := range w {
		for _, b := range bytes[8*(len(w)-1-i) : 8*(len(w)-i)] {
			w[i] = w[i]<<8 | uint64(b)
		}
	}
	return w
}

// WideWei returns an amount × 2^64.
func WideWei(amount types.Wei) (w Wide) {
	if n, small := amount.Uint64(); small {
		w[1] = n
		return w
	}
	return WideOf(new(big.Int).Lsh(amount.Big(), 64))
}

// Big is w.
func (w *Wide) Big() *big.Int {
	n := new(big.Int)
	for i := len(w) - 1; i >= 0; i-- {
		n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(w[i]))
	}
	return n
}

// Plus is w + v, which stays below 2^384.
func (w Wide) Plus(v *Wide) Wide {
	var carry uint64
	for i := range w {
		w[i], carry = bits.Add64(w[i], v[i], carry)
	}
	if carry > 0 {
		panic("exact: a sum exceeds 384 bits")
	}
	return w
}

// Over is w / n, rounded down. n is not 0.
func (w Wide) Over(n uint64) Wide {
	var rest uint64
	for i := len(w) - 1; i >= 0; i-- {
		w[i], rest = bits.Div64(rest, w[i], n)
	}
	return w
}

// Times is w × n, whole.
func (w *Wide) Times(n uint64) (product Product) {
	var over, carry uint64
	for i := range w {
		high, low := bits.Mul64(w[i], n)
		product[i], carry = bits.Add64(low, over, 0)
		over = high + carry
	}
	product[words] = over
	return product
}

// SumTimes is (a + b) × n, whole.
func SumTimes(a, b types.Wei, n uint64) (w Wide) {
	p, q := a.Limbs(), b.Limbs()
	var sum [len(p) + 1]uint64
	var carry uint64
	for i := range p {
		sum[i], carry = bits.Add64(p[i], q[i], carry)
	}
	sum[len(p)], carry = carry, 0
	for i, word := range sum {
		high, low := bits.Mul64(word, n)
		low, over := bits.Add64(low, carry, 0)
		w[i], carry = low, high+over // high is at most 2^64 - 2
	}
	w[len(sum)] = carry
	return w
}

// Compare is -1, 0 or 1 as w is below, equal to or above v.
func (w *Wide) Compare(v *Wide) int { return compareWords(w[:], v[:]) }

// Product is a Wide times 64 bits, exact, the lowest word first.
type Product [words + 1]uint64

// Compare is -1, 0 or 1 as p is below, equal to or above q.
func (p *Product) Compare(q *Product) int { return compareWords(p[:], q[:]) }

// compareWords compares two numbers of as many words.
func compareWords(a, b []uint64) int {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return 0
}
