package scheduler

import (
	"math/big"
	"math/bits"
)

// fixed is a number of 64 fraction bits: Whole + Frac / 2^64.
type fixed struct {
	_     struct{} `cbor:",toarray"`
	Whole uint64
	Frac  uint64
}

// times is f × n; ok is false where it reaches 2^64.
func (f fixed) times(n uint64) (product fixed, ok bool) {
	carry, frac := bits.Mul64(f.Frac, n)
	over, whole := bits.Mul64(f.Whole, n)
	whole, more := bits.Add64(whole, carry, 0)
	return fixed{Whole: whole, Frac: frac}, over == 0 && more == 0
}

// part is f × n / d, rounded down, for a quotient below 2^64 and n, d of a few.
func (f fixed) part(n, d uint64) fixed {
	product, ok := f.times(n)
	if !ok || product.Whole/d >= 1<<63 {
		panic("scheduler: a rate of bias grows beyond all bounds")
	}
	frac, _ := bits.Div64(product.Whole%d, product.Frac, d)
	return fixed{Whole: product.Whole / d, Frac: frac}
}

func (f fixed) less(g fixed) bool {
	return f.Whole < g.Whole || f.Whole == g.Whole && f.Frac < g.Frac
}

const (
	biasBits = 256 // of the greatest bias, 64 of them behind the point
	// biasEnd is above ln(2^192), from where on the bias is the greatest.
	biasEnd = 134
)

// maxBias is the greatest bias, in units of 2^-64: 2^256 - 1, just below 2^192.
var maxBias = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), biasBits), big.NewInt(1))

// biasOf is Bias(n) = e^(nλ) in units of 2^-64: the exact value rounded down,
// and at most 2^256 - 1.
//
// Spec: CIP-5 §9.2, decision T24. Vectors: fixtures/vectors/cip5/9.2-exponential.json.
func biasOf(rate fixed, n uint64) *big.Int {
	x, ok := rate.times(n)
	if !ok || x.Whole >= biasEnd {
		return maxBias
	}
	value := usualExp.exact(x)
	if value.Cmp(maxBias) > 0 {
		return maxBias
	}
	return value
}

// exponential computes e^x from below, by products of tabled powers of e for
// each four bits of x, with so many bits behind the point.
type exponential struct {
	bits  uint
	one   *big.Int
	table [expDigits][16]*big.Int // of digit d at place i: e^(d × 16^i / 2^64)
}

const (
	expDigits = 18 // 72 bits of x: eight before the point
	expBits   = 384
	// expSlack is the logarithm of how much the relative error, in units of
	// 2^-bits, can be: of 18 factors at most 30 each (newExponential), and one
	// for each of their products.
	expSlack = 10
	expGuard = 64 // bits beyond, for the series
)

// usualExp leaves some 120 bits between its error and what is asked of it.
var usualExp = newExponential(expBits)

// newExponential builds the tables. A row's first power is cut off by little
// more than one unit of 2^-bits (series), and each further one adds that and
// the rounding of a product: at most 30 for the fifteenth.
func newExponential(bits uint) *exponential {
	e := &exponential{bits: bits, one: new(big.Int).Lsh(big.NewInt(1), bits)}
	for i := range e.table {
		row := &e.table[i]
		row[0], row[1] = e.one, series(uint(4*i), bits)
		for d := 2; d < len(row); d++ {
			row[d] = e.product(row[d-1], row[1])
		}
	}
	return e
}

// series is e^(2^(shift-64)) with so many bits behind the point, rounded down:
// the sum of the x^k / k!. What is cut off of its terms, x being at most 16, is
// below 2^32 units of the last of the guard bits.
func series(shift, bits uint) *big.Int {
	wide := bits + expGuard
	term := new(big.Int).Lsh(big.NewInt(1), wide)
	sum := new(big.Int).Set(term)
	for k := int64(1); term.Sign() > 0; k++ {
		term.Lsh(term, shift).Rsh(term, 64)
		term.Quo(term, big.NewInt(k))
		sum.Add(sum, term)
	}
	return sum.Rsh(sum, expGuard)
}

// product is a × b, rounded down.
func (e *exponential) product(a, b *big.Int) *big.Int {
	p := new(big.Int).Mul(a, b)
	return p.Rsh(p, e.bits)
}

// exact is e^x in units of 2^-64, rounded down. It ends, e^x being irrational
// for every x but 0, of which floor is sure. x is below 256.
func (e *exponential) exact(x fixed) *big.Int {
	for {
		if value, sure := e.floor(x); sure {
			return value
		}
		e = newExponential(2 * e.bits)
	}
}

// floor is e^x in units of 2^-64, rounded down; sure is false where the error
// of the computation leaves open which integer that is. x is below 256.
func (e *exponential) floor(x fixed) (value *big.Int, sure bool) {
	low := e.one
	for i := range e.table {
		digit := x.Frac >> (4 * i) & 15
		if i >= 16 {
			digit = x.Whole >> (4 * (i - 16)) & 15
		}
		if digit > 0 {
			low = e.product(low, e.table[i][digit])
		}
	}
	if low == e.one { // x is 0
		return new(big.Int).Lsh(big.NewInt(1), 64), true
	}
	high := new(big.Int).Rsh(low, e.bits-expSlack-1)
	high.Add(high, low).Add(high, big.NewInt(1))
	value = new(big.Int).Rsh(low, e.bits-64)
	return value, value.Cmp(high.Rsh(high, e.bits-64)) == 0
}
