package draw

import (
	"math/big"
	"math/bits"

	"github.com/cowboyinc/devnet/internal/base/memo"
)

// ln2 is ln 2 in units of 2^-64.
const ln2 = 0xb17217f7d1cf79ab

// log2Bits is how many bits after the point a logarithm has.
const log2Bits = 40

// log2 is the logarithm of n to base 2, in units of 2^-log2Bits, rounded down. n is not 0.
func log2(n uint64) uint64 {
	whole := uint64(63 - bits.LeadingZeros64(n))
	x := n << (63 - whole) // in [1, 2) as units of 2^-63
	log := whole
	for range log2Bits {
		high, low := bits.Mul64(x, x) // in [1, 4) as units of 2^-126
		log <<= 1
		if high>>63 == 1 {
			log++
			x = high
		} else {
			x = high<<1 | low>>63
		}
	}
	return log
}

// Log is the natural logarithm of n in units of 2^-32, rounded down. n is not 0.
func Log(n uint64) uint64 {
	high, _ := bits.Mul64(log2(n), ln2)
	return high >> (log2Bits - 32)
}

// minusLog is -ln(n/2^64) in units of 2^-32, n being not 0.
func minusLog(n uint64) uint64 {
	high, _ := bits.Mul64(64<<log2Bits-log2(n), ln2)
	return high >> (log2Bits - 32)
}

// roots are 2^(2^-i) in units of 2^-62, from i = 1 on.
var roots = memo.OnNeed(rootsOfTwo)

func rootsOfTwo() *[32]uint64 {
	all := new([32]uint64)
	root := new(big.Int).Lsh(big.NewInt(2), 124) // 2 in units of 2^-124
	for i := range all {
		root.Sqrt(root)
		all[i] = root.Uint64()
		root.Lsh(root, 62)
	}
	return all
}

// power2 is 2^(x/2^32) without its whole part, in units of 2^-62, and the whole part.
func power2(x uint64) (fraction, whole uint64) {
	fraction, whole = 1<<62, x>>32
	for i, root := range roots() {
		if x>>(31-i)&1 == 1 {
			high, low := bits.Mul64(fraction, root)
			fraction = high<<2 | low>>62
		}
	}
	return fraction, whole
}

// inTwos is x/ln 2: how often e^x doubles, both in units of 2^-32, and the maximum where
// that is more.
func inTwos(x uint64) uint64 {
	const log2e = 0x171547652b82fe17 // log2 e in units of 2^-60
	high, low := bits.Mul64(x, log2e)
	if high>>60 != 0 {
		return ^uint64(0)
	}
	return high<<4 | low>>60
}

// timesExp is n·e^x, x in units of 2^-32, rounded down, and the maximum where it is more.
func timesExp(n, x uint64) uint64 {
	fraction, whole := power2(inTwos(x))
	high, low := bits.Mul64(n, fraction)
	// (high:low) >> 62 << whole.
	if whole >= 64+62 {
		return maxUnlessZero(n)
	}
	product := new(big.Int).SetUint64(high)
	product.Lsh(product, 64).Add(product, new(big.Int).SetUint64(low)).Lsh(product, uint(whole)).Rsh(product, 62)
	if !product.IsUint64() {
		return maxUnlessZero(n)
	}
	return product.Uint64()
}

func maxUnlessZero(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return ^uint64(0)
}

// timesNegativeExp is n·e^-x, x in units of 2^-32, rounded down.
func timesNegativeExp(n, x uint64) uint64 {
	fraction, whole := power2(inTwos(x))
	if whole >= 64 {
		return 0
	}
	// n·2^62/fraction >> whole.
	high, low := n>>2, n<<62
	quotient, _ := bits.Div64(high, low, fraction)
	return quotient >> whole
}
