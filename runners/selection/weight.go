package selection

import (
	"math"
	"math/bits"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Weight returns how heavily a stake weighs in a draw: floor(log2(stake /
// minStake + 1)) + 1, from 1 to 257. The quotient is rounded down, which changes
// nothing: powers of two are whole. It panics where minStake is 0.
//
// Spec: CIP-11 §9.3, decision J3. Vectors: fixtures/vectors/cip11/9.3-weight.json.
func Weight(stake, minStake types.Wei) uint64 {
	small, fits := stake.Uint64()
	unit, fitsToo := minStake.Uint64()
	if fits && fitsToo && small != math.MaxUint64 { // as nearly all stakes are; the quotient and 1 then fit as well
		return uint64(bits.Len64(small/unit + 1))
	}
	multiple, _ := stake.MulDiv(types.WeiOf(1), minStake) // never greater than the stake
	next, ok := multiple.AddOk(types.WeiOf(1))
	if !ok {
		return 257 // log2 of 2^256, and 1
	}
	return uint64(bitLen(next)) // floor(log2 x) + 1
}

// A refusal halves a weight, at most maxHalvings times. Weights are then counted in
// parts of refusalUnit.
const (
	maxHalvings = 4
	refusalUnit = 1 << maxHalvings
)

// Weights returns the weights of runners in a draw. If one of them refused a job within
// cip2.refusal_window_blocks, all weights are in sixteenths: each refusal of the window
// halves the refuser's, down to a sixteenth. Otherwise they are the weights by stake.
//
// Spec: CIP-11 §9.3, decisions J3, J21.
func (f *Filter) Weights(runners []Runner) []uint64 {
	weights := make([]uint64, len(runners))
	refused := false
	for i := range runners {
		weights[i] = Weight(runners[i].Stake, f.Limits.MinStake)
		refused = refused || f.countRefusals(&runners[i]) > 0
	}
	if refused {
		for i := range runners {
			weights[i] = weights[i] * refusalUnit >> min(f.countRefusals(&runners[i]), maxHalvings)
		}
	}
	return weights
}

// countRefusals counts a runner's refusals that lower its weight: each came within the
// window after the one before.
func (f *Filter) countRefusals(r *Runner) uint64 {
	if uint64(f.Height-r.RefusedAt) >= f.Limits.RefusalWindow {
		return 0
	}
	return r.Refusals
}

func bitLen(w types.Wei) int {
	limbs := w.Limbs()
	for i := len(limbs) - 1; i >= 0; i-- {
		if limbs[i] != 0 {
			return 64*i + bits.Len64(limbs[i])
		}
	}
	return 0
}
