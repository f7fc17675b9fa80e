// Package feemarket is the arithmetic of CIP-3's fees: the base fee of a
// resource from block to block, the timer lane's (CIP-1 §5), tips, and what a
// payer is charged and refunded.
//
// All of it is exact in integers. Fractions of a limit are kept as fractions
// until the one division that ends a formula, products take 512 bits, and a sum
// that would pass 2^256 stays there or is reported: nothing wraps. The package
// holds no state and no parameter.
package feemarket

import "github.com/cowboyinc/devnet/internal/base/types"

// Next returns a resource's base fee for the next block, in wei a unit, where
// this block used used of limit:
//
//	new = base × (1 + clip((U - T)/T/divisor, ±1/divisor)), T = limit/2
//
// T is exact, also of an odd limit. The change is truncated toward zero, but an
// increase is at least 1 wei; the fee never falls below min and never passes
// 2^256 - 1. The divisor is 8 unless a parameter sets another; the parameters'
// ranges keep limit and divisor above 0.
//
// Spec: CIP-3 (docs/DRAFTS.md), decision C14. **Finding**: with plain truncation, a
// fee below 8 wei never rises again. Vectors: fixtures/vectors/cip3/basefee.json.
func Next(base types.Wei, used, limit, divisor uint64, min types.Wei) types.Wei {
	whole := types.WeiOf(limit)
	size, up := distanceFromHalf(used, whole)
	size = size.Min(whole) // a block over its limit moves the fee no further
	change := mulDiv(base, size, whole.Mul(divisor))
	return moveWithin(base, change, up, min)
}

// NextLane returns the timer lane's base fee for the next block, in wei a
// cycle, where this block used used of the lane's budget:
//
//	new = base × (1 + clip((2u - B)/B, ±1/divisor))
//
// It is rounded and bounded as Next is. **Finding**: the clip is reached at
// 43.75 % and 56.25 % of the budget, so the fee nearly always moves by the
// whole eighth; kept as written.
//
// Spec: CIP-1 §5, decision T12. Vectors: fixtures/vectors/cip1/5-basefee.json.
func NextLane(base types.Wei, used, budget types.Cycles, divisor uint64, min types.Wei) types.Wei {
	return NextLaneByGain(base, used, budget, divisor, AsWritten, min)
}

// AsWritten is the gain of CIP-1 §5's formula, in thousandths.
const AsWritten = 1000

// NextLaneByGain is NextLane with a gain in thousandths:
//
//	new = base × (1 + clip(gain × (2u - B)/B, ±1/divisor))
//
// A gain of 1/divisor is EIP-1559's, and one of 0 holds the fee still.
func NextLaneByGain(base types.Wei, used, budget types.Cycles, divisor, gainPermille uint64, min types.Wei) types.Wei {
	if gainPermille == 0 {
		return base
	}
	whole := types.WeiOf(uint64(budget))
	size, up := distanceFromHalf(uint64(used), whole)
	change := mulDiv(base, size.Mul(gainPermille), whole.Mul(AsWritten))
	change = change.Min(mulDiv(base, types.WeiOf(1), types.WeiOf(divisor)))
	return moveWithin(base, change, up, min)
}

// distanceFromHalf returns |2 used - limit|, and whether used is more than half.
func distanceFromHalf(used uint64, limit types.Wei) (size types.Wei, up bool) {
	twice := types.WeiOf(used).Mul(2)
	if limit.Less(twice) {
		return twice.Sub(limit), true
	}
	return limit.Sub(twice), false
}

// mulDiv returns base × n / d, rounded down, at most 2^256 - 1; more comes up
// only for a lane far over its budget, and is clipped after.
func mulDiv(base, n, d types.Wei) types.Wei {
	part, ok := base.MulDiv(n, d)
	if !ok {
		return types.MaxWei
	}
	return part
}

// moveWithin applies a change to base, within min..2^256-1.
func moveWithin(base, change types.Wei, up bool, min types.Wei) types.Wei {
	next := base
	if up {
		if change.IsZero() {
			change = types.WeiOf(1)
		}
		sum, ok := base.AddOk(change)
		if !ok {
			sum = types.MaxWei
		}
		next = sum
	} else {
		next = base.Sub(change.Min(base))
	}
	if next.Less(min) {
		return min
	}
	return next
}
