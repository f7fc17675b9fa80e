package scheduler

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/scheduler/exact"
)

// floatExp is e^x by another way than ours: by the series at x / 2^40, squared
// forty times, in floating point of 640 bits.
func floatExp(x exact.Fixed) *big.Float {
	const precision, halvings = 640, 40
	num := func() *big.Float { return new(big.Float).SetPrec(precision) }
	small := num().SetInt(x.Units())
	small.SetMantExp(small, -64-halvings)
	sum, term := num().SetInt64(1), num().SetInt64(1)
	for k := int64(1); k < 40; k++ {
		term.Mul(term, small).Quo(term, num().SetInt64(k))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// wantBias holds a bias against floatExp, whose error is below 2^-500 of it.
func wantBias(t interface {
	Fatalf(string, ...any)
}, got *big.Int, x exact.Fixed) {
	exp := floatExp(x)
	want, _ := exp.SetMantExp(exp, 64).Int(nil)
	if want.Cmp(maxBias) > 0 {
		want = maxBias
	}
	if got.Cmp(want) != 0 {
		t.Fatalf("e^%v is %s, want %s", x, got, want)
	}
}

func TestSection92BiasIsTheExactExponentialRoundedDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := exact.Fixed{Frac: rapid.OneOf(rapid.Uint64(),
			rapid.Map(rapid.Uint64Range(64, 65535), func(n uint64) uint64 { return n << 48 })).Draw(t, "λ")}
		if rapid.Bool().Draw(t, "one") {
			rate = exact.Fixed{Whole: 1}
		}
		n := rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64Range(0, 140_000)).Draw(t, "n")
		x, _ := rate.Times(n)
		if x.Whole >= biasEnd {
			x = exact.Fixed{Whole: biasEnd}
		}
		wantBias(t, biasOf(rate, n), x)
	})
}

func TestSection92BiasSaturatesAndNeverWraps(t *testing.T) {
	last := exact.Fixed{} // the largest x below the bound
	for step := uint64(1) << 63; step > 0; step >>= 1 {
		if next := (exact.Fixed{Whole: 133, Frac: last.Frac | step}); exact.Exp(next).Cmp(maxBias) <= 0 {
			last = next
		}
	}
	if last.Whole != 133 {
		t.Fatalf("e^133 is above 2^192 already")
	}
	for _, c := range []struct {
		rate exact.Fixed
		n    uint64
	}{
		{last, 1}, {exact.Fixed{Whole: 133, Frac: last.Frac + 1}, 1}, {exact.Fixed{Whole: 134}, 1}, {exact.Fixed{Whole: 1}, 1_000_000},
		{exact.Fixed{Whole: 1}, math.MaxUint64}, {exact.Fixed{Whole: 16}, math.MaxUint64},
		{exact.Fixed{Whole: math.MaxUint64, Frac: math.MaxUint64}, math.MaxUint64},
		{exact.Fixed{Frac: 1}, math.MaxUint64}, {exact.Fixed{Frac: 1 << 54}, 136_279}, {exact.Fixed{Frac: 1 << 54}, 1_000_000},
	} {
		x, ok := c.rate.Times(c.n)
		if !ok || x.Whole >= biasEnd {
			x = exact.Fixed{Whole: biasEnd}
		}
		wantBias(t, biasOf(c.rate, c.n), x)
	}
}

func BenchmarkBias(b *testing.B) {
	rate := exact.Fixed{Frac: 1 << 54} // 1/1,024, the smallest λ
	b.Run("as started", func(b *testing.B) {
		for i := range uint64(b.N) {
			biasOf(rate, i%130_000)
		}
	})
	moved := rate.Part(9, 8).Part(9, 8).Part(7, 8).Part(9, 8).Part(7, 8).Part(7, 8)
	b.Run("moved", func(b *testing.B) {
		for i := range uint64(b.N) {
			biasOf(moved, i%130_000)
		}
	})
}
