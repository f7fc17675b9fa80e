package exact

import (
	"math/big"

	"github.com/cowboyinc/devnet/internal/base/memo"
)

// Exp is e^x in units of 2^-64: the exact value rounded down. x is below 256.
func Exp(x Fixed) *big.Int { return usual().exactExp(x) }

// exponential computes e^x from below, by products of tabled powers of e for each
// four bits of x, with a fixed number of bits after the point.
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

// usual leaves some 120 bits between its error and the precision needed.
var usual = memo.OnNeed(func() *exponential { return newExponential(expBits) })

// newExponential builds the tables. A row's first power is cut off by little
// more than one unit of 2^-bits (series), and each further one adds that and
// the rounding of a product: at most 30 for the fifteenth.
func newExponential(bits uint) *exponential {
	e := &exponential{bits: bits, one: new(big.Int).Lsh(big.NewInt(1), bits)}
	for i := range e.table {
		row := &e.table[i]
		row[0], row[1] = e.one, expSeries(uint(4*i), bits)
		for d := 2; d < len(row); d++ {
			row[d] = e.roundedProduct(row[d-1], row[1])
		}
	}
	return e
}

// expSeries returns e^(2^(shift-64)) with the given number of bits after the point,
// rounded down: the sum of the x^k / k!. The error of cutting its terms is below
// 2^32 units of the last of the guard bits, since x is at most 16.
func expSeries(shift, bits uint) *big.Int {
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

// roundedProduct is a × b, rounded down.
func (e *exponential) roundedProduct(a, b *big.Int) *big.Int {
	p := new(big.Int).Mul(a, b)
	return p.Rsh(p, e.bits)
}

// exactExp is e^x in units of 2^-64, rounded down. It ends, e^x being irrational
// for every x but 0, of which floor is sure. x is below 256.
func (e *exponential) exactExp(x Fixed) *big.Int {
	for {
		if value, sure := e.floorExp(x); sure {
			return value
		}
		e = newExponential(2 * e.bits)
	}
}

// floorExp is e^x in units of 2^-64, rounded down; sure is false where the error
// of the computation leaves open which integer that is. x is below 256.
func (e *exponential) floorExp(x Fixed) (value *big.Int, sure bool) {
	low := e.one
	for i := range e.table {
		digit := x.Frac >> (4 * i) & 15
		if i >= 16 {
			digit = x.Whole >> (4 * (i - 16)) & 15
		}
		if digit > 0 {
			low = e.roundedProduct(low, e.table[i][digit])
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
