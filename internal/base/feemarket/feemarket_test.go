package feemarket

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
)

var amounts = rapid.Custom(func(t *rapid.T) types.Wei {
	length := rapid.IntRange(0, 32).Draw(t, "bytes")
	w, _ := types.WeiFromBig(new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), length, length).Draw(t, "amount")))
	return w
})

// rate is the formula's right side as a fraction, clipped.
func rate(numerator, denominator *big.Int, divisor uint64) *big.Rat {
	r := new(big.Rat).SetFrac(numerator, denominator)
	bound := big.NewRat(1, int64(divisor))
	if r.Cmp(bound) > 0 {
		return bound
	}
	if bound.Neg(bound); r.Cmp(bound) < 0 {
		return bound
	}
	return r
}

// moved applies decision C14's rounding with big numbers.
func moved(base types.Wei, r *big.Rat, least types.Wei) types.Wei {
	change := new(big.Int).Mul(base.Big(), r.Num())
	change.Quo(change, r.Denom())
	if r.Sign() > 0 && change.Sign() == 0 {
		change.SetInt64(1)
	}
	next, ok := types.WeiFromBig(change.Add(change, base.Big()))
	if !ok {
		next = types.MaxWei
	}
	if next.Cmp(least) < 0 {
		return least
	}
	return next
}

func TestBothRulesAreTheirFormulasInFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, least := amounts.Draw(t, "base"), amounts.Draw(t, "min")
		limit := rapid.Uint64Min(1).Draw(t, "limit")
		used := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, limit)).Draw(t, "used")
		divisor := rapid.Uint64Range(2, 1000).Draw(t, "divisor")

		whole := new(big.Int).SetUint64(limit)
		twice := new(big.Int).Lsh(new(big.Int).SetUint64(used), 1)
		over := new(big.Int).Sub(twice, whole)
		wide := new(big.Int).Mul(whole, new(big.Int).SetUint64(divisor))

		if got, want := Next(base, used, limit, divisor, least), moved(base, rate(over, wide, divisor), least); got != want {
			t.Fatalf("Next = %s, want %s", got, want)
		}
		got := NextLane(base, types.Cycles(used), types.Cycles(limit), divisor, least)
		if want := moved(base, rate(over, whole, divisor), least); got != want {
			t.Fatalf("NextLane = %s, want %s", got, want)
		}
	})
}

func TestNoUseMovesAFeeByMoreThanAnEighthOrBelowTheFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := types.WeiOf(rapid.Uint64Range(1, 1<<60).Draw(t, "base"))
		used := rapid.Uint64().Draw(t, "used")
		limit := rapid.Uint64Min(2).Draw(t, "limit")
		one := types.WeiOf(1)
		for _, next := range []types.Wei{Next(base, used, limit, 8, one), NextLane(base, types.Cycles(used), types.Cycles(limit), 8, one)} {
			if next.Less(one) || base.Add(base.Div(8)).Add(one).Less(next) || next.Less(base.Sub(base.Div(8))) {
				t.Fatalf("%s became %s", base, next)
			}
		}
	})
}

func TestCostAndRefundAddUpToTheCharge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := Price{amounts.Draw(t, "cycle"), amounts.Draw(t, "lane"), amounts.Draw(t, "cell"), amounts.Draw(t, "tip"),
			amounts.Draw(t, "tip cell")}
		cycles, cells := rapid.Uint64().Draw(t, "cycles"), rapid.Uint64().Draw(t, "cells")
		perCycle := new(big.Int).Add(price.BaseFeeCycle.Big(), price.BaseFeeLane.Big())
		perCycle.Add(perCycle, price.TipCycle.Big()).Mul(perCycle, new(big.Int).SetUint64(cycles))
		perCell := new(big.Int).Add(price.BaseFeeCell.Big(), price.TipCell.Big())
		want, fits := types.WeiFromBig(perCell.Mul(perCell, new(big.Int).SetUint64(cells)).Add(perCell, perCycle))

		charge, ok := NewCharge(price, types.Cycles(cycles), types.Cells(cells))
		if ok != fits || ok && charge.Total != want {
			t.Fatalf("charge %s, %v, want %s, %v", charge.Total, ok, want, fits)
		}
		if !ok {
			return
		}
		cost, refund := charge.Settle(types.Cycles(rapid.Uint64().Draw(t, "used cycles")), types.Cells(rapid.Uint64().Draw(t, "used cells")))
		if cost.Total().Add(refund) != charge.Total || cost.Burned().Add(cost.Tip) != cost.Total() {
			t.Fatalf("cost %v and refund %s of %s", cost, refund, charge.Total)
		}
	})
}

func TestACostBeyond256BitsIsRefusedAndDoesNotWrap(t *testing.T) {
	for _, price := range []Price{
		{BaseFeeCycle: types.MaxWei}, {BaseFeeLane: types.MaxWei}, {BaseFeeCell: types.MaxWei}, {TipCycle: types.MaxWei}, {TipCell: types.MaxWei},
	} {
		if cost, ok := price.Cost(2, 2); ok {
			t.Errorf("%v costs %v", price, cost)
		}
		if _, ok := price.Cost(1, 1); !ok {
			t.Errorf("%v cannot be paid though it fits", price)
		}
	}
	both := Price{BaseFeeCycle: types.MaxWei, TipCell: types.WeiOf(1)}
	if cost, ok := both.Cost(1, 1); ok {
		t.Errorf("the parts fit, the total does not: %v", cost)
	}
}

func TestUseBeyondALimitIsNotCharged(t *testing.T) {
	charge, _ := NewCharge(Price{BaseFeeCycle: types.WeiOf(1), BaseFeeCell: types.WeiOf(1)}, 10, 20)
	if cost, refund := charge.Settle(math.MaxUint64, math.MaxUint64); cost.Total() != types.WeiOf(30) || !refund.IsZero() {
		t.Errorf("cost %v, refund %s", cost, refund)
	}
}

// The baseline is the same rule in big integers.
func BenchmarkNext(b *testing.B) {
	base, least := types.WeiOf(123_456_789), types.WeiOf(1)
	b.Run("256 bits", func(b *testing.B) {
		for b.Loop() {
			Next(base, 15_000_000, 20_000_000, 8, least)
		}
	})
	b.Run("big", func(b *testing.B) {
		for b.Loop() {
			moved(base, rate(big.NewInt(10_000_000), big.NewInt(160_000_000), 8), least)
		}
	})
}
