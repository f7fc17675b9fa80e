package exact

import (
	"math/big"
	"math/bits"
)

// Fixed is a number of 64 fraction bits: Whole + Frac / 2^64.
type Fixed struct {
	_     struct{} `cbor:",toarray"`
	Whole uint64
	Frac  uint64
}

// Times is f × n; ok is false where it reaches 2^64.
func (f Fixed) Times(n uint64) (product Fixed, ok bool) {
	carry, frac := bits.Mul64(f.Frac, n)
	over, whole := bits.Mul64(f.Whole, n)
	whole, more := bits.Add64(whole, carry, 0)
	return Fixed{Whole: whole, Frac: frac}, over == 0 && more == 0
}

// Part is f × n / d, rounded down, for a quotient below 2^64 and n, d of a few.
func (f Fixed) Part(n, d uint64) Fixed {
	product, ok := f.Times(n)
	if !ok || product.Whole/d >= 1<<63 {
		panic("exact: a part of a number is 2^63 or more")
	}
	frac, _ := bits.Div64(product.Whole%d, product.Frac, d)
	return Fixed{Whole: product.Whole / d, Frac: frac}
}

// Less reports whether f is below g.
func (f Fixed) Less(g Fixed) bool {
	return f.Whole < g.Whole || f.Whole == g.Whole && f.Frac < g.Frac
}

// Units is f in units of 2^-64.
func (f Fixed) Units() *big.Int {
	n := new(big.Int).SetUint64(f.Whole)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(f.Frac))
}
