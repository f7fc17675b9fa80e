package exact

import (
	"math"
	"math/bits"
)

// Sum is a + b, at most 2^64 - 1.
func Sum(a, b uint64) uint64 {
	if s, over := bits.Add64(a, b, 0); over == 0 {
		return s
	}
	return math.MaxUint64
}

// Times is a × b, at most 2^64 - 1.
func Times(a, b uint64) uint64 {
	if over, p := bits.Mul64(a, b); over == 0 {
		return p
	}
	return math.MaxUint64
}

// PartOf is one × n / d, rounded down and at most one, which it is where d is 0.
func PartOf(one, n, d uint64) uint64 {
	if n >= d {
		return one
	}
	high, low := bits.Mul64(n, one)
	part, _ := bits.Div64(high, low, d)
	return part
}
