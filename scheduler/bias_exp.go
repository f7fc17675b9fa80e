package scheduler

import (
	"math/big"

	"github.com/cowboyinc/devnet/scheduler/exact"
)

const (
	biasBits = 256 // bits of the largest bias, 64 of them after the point
	// biasEnd is above ln(2^192); from there on the bias is at its maximum.
	biasEnd = 134
)

// maxBias is the largest bias, in units of 2^-64: 2^256 - 1, just below 2^192.
var maxBias = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), biasBits), big.NewInt(1))

// biasOf is Bias(n) = e^(nλ) in units of 2^-64: the exact value rounded down,
// and at most 2^256 - 1.
//
// Spec: CIP-5 §9.2, decision T24. Vectors: fixtures/vectors/cip5/9.2-exponential.json.
func biasOf(rate exact.Fixed, n uint64) *big.Int {
	x, ok := rate.Times(n)
	if !ok || x.Whole >= biasEnd {
		return maxBias
	}
	value := exact.Exp(x)
	if value.Cmp(maxBias) > 0 {
		return maxBias
	}
	return value
}
