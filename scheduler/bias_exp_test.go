package scheduler

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// floatExp is e^x by another way than ours: by the series at x / 2^40, squared
// forty times, in floating point of 640 bits.
func floatExp(x fixed) *big.Float {
	const precision, halvings = 640, 40
	num := func() *big.Float { return new(big.Float).SetPrec(precision) }
	small := num().SetInt(x.units().Big())
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
}, got *big.Int, x fixed) {
	exact := floatExp(x)
	want, _ := exact.SetMantExp(exact, 64).Int(nil)
	if want.Cmp(maxBias) > 0 {
		want = maxBias
	}
	if got.Cmp(want) != 0 {
		t.Fatalf("e^%v is %s, want %s", x, got, want)
	}
}

func TestSection92BiasIsTheExactExponentialRoundedDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := fixed{Frac: rapid.OneOf(rapid.Uint64(), rapid.Map(rapid.Uint64Range(64, 65535), func(n uint64) uint64 { return n << 48 })).Draw(t, "λ")}
		if rapid.Bool().Draw(t, "one") {
			rate = fixed{Whole: 1}
		}
		n := rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64Range(0, 140_000)).Draw(t, "n")
		x, _ := rate.times(n)
		if x.Whole >= biasEnd {
			x = fixed{Whole: biasEnd}
		}
		wantBias(t, biasOf(rate, n), x)
	})
}

func TestSection92BiasSaturatesAndNeverWraps(t *testing.T) {
	last := fixed{} // the greatest x below the bound
	for step := uint64(1) << 63; step > 0; step >>= 1 {
		if next := (fixed{Whole: 133, Frac: last.Frac | step}); usualExp.exact(next).Cmp(maxBias) <= 0 {
			last = next
		}
	}
	if last.Whole != 133 {
		t.Fatalf("e^133 is above 2^192 already")
	}
	for _, c := range []struct {
		rate fixed
		n    uint64
	}{
		{last, 1}, {fixed{Whole: 133, Frac: last.Frac + 1}, 1}, {fixed{Whole: 134}, 1}, {fixed{Whole: 1}, 1_000_000},
		{fixed{Whole: 1}, math.MaxUint64}, {fixed{Whole: 16}, math.MaxUint64}, {fixed{Whole: math.MaxUint64, Frac: math.MaxUint64}, math.MaxUint64},
		{fixed{Frac: 1}, math.MaxUint64}, {fixed{Frac: 1 << 54}, 136_279}, {fixed{Frac: 1 << 54}, 1_000_000},
	} {
		x, ok := c.rate.times(c.n)
		if !ok || x.Whole >= biasEnd {
			x = fixed{Whole: biasEnd}
		}
		wantBias(t, biasOf(c.rate, c.n), x)
	}
}

// With few bits behind the point most results are open, and the next precision
// settles them: the same integers come out.
func TestSection92AnOpenRoundingIsSettledByMoreBits(t *testing.T) {
	narrow, open := newExponential(80), 0
	for i := range uint64(200) {
		x := fixed{Whole: i % 30, Frac: i * 0x9e3779b97f4a7c15}
		value, sure := narrow.floor(x)
		if !sure {
			open++
		} else if value.Cmp(usualExp.exact(x)) != 0 {
			t.Fatalf("80 bits are sure of e^%v = %s", x, value)
		}
		wantBias(t, narrow.exact(x), x)
	}
	if open < 50 || open == 200 {
		t.Fatalf("%d of 200 are open", open)
	}
}

// The error bound of the tables holds with room for every λ n that can be met.
func TestTheUsualPrecisionIsAlwaysSure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := fixed{Whole: rapid.Uint64Range(0, biasEnd-1).Draw(t, "whole"), Frac: rapid.Uint64().Draw(t, "frac")}
		if _, sure := usualExp.floor(x); !sure {
			t.Fatalf("e^%v is open", x)
		}
	})
}

func TestPartsOfRatesAreRoundedDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := fixed{Whole: rapid.Uint64Range(0, 16).Draw(t, "whole"), Frac: rapid.Uint64().Draw(t, "frac")}
		n := rapid.SampledFrom([]uint64{9, 7}).Draw(t, "n")
		want := f.units().Big()
		want.Mul(want, big.NewInt(int64(n))).Quo(want, big.NewInt(8))
		if got := f.part(n, 8).units().Big(); got.Cmp(want) != 0 {
			t.Fatalf("%d/8 of %v is %s, want %s", n, f, got, want)
		}
	})
}

func TestWideArithmeticIsThatOfBigIntegers(t *testing.T) {
	words := rapid.SliceOfN(rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, math.MaxUint64})), wideWords, wideWords)
	rapid.Check(t, func(t *rapid.T) {
		a, b := wide(words.Draw(t, "a")), wide(words.Draw(t, "b"))
		n := rapid.Uint64Min(1).Draw(t, "n")
		if a.cmp(&b) != a.big().Cmp(b.big()) || wideOf(a.big()) != a {
			t.Fatalf("%v and %v", a, b)
		}
		divided := a.over(n)
		if want := new(big.Int).Quo(a.big(), new(big.Int).SetUint64(n)); divided.big().Cmp(want) != 0 {
			t.Fatalf("%v / %d is %v", a, n, divided)
		}
		product, want := a.times(n), new(big.Int).Mul(a.big(), new(big.Int).SetUint64(n))
		low := wide(product[:wideWords])
		got := new(big.Int).Lsh(new(big.Int).SetUint64(product[wideWords]), 64*wideWords)
		if got.Add(got, low.big()); got.Cmp(want) != 0 {
			t.Fatalf("%v × %d is %v", a, n, product)
		}
		a[wideWords-1], b[wideWords-1] = a[wideWords-1]>>1, b[wideWords-1]>>1
		sum := a.plus(&b)
		if want := new(big.Int).Add(a.big(), b.big()); sum.big().Cmp(want) != 0 {
			t.Fatalf("%v + %v is %v", a, b, sum)
		}
	})
}

func BenchmarkBias(b *testing.B) {
	rate := fixed{Frac: 1 << 54} // 1/1,024, the least λ
	b.Run("as started", func(b *testing.B) {
		for i := range uint64(b.N) {
			biasOf(rate, i%130_000)
		}
	})
	moved := rate.part(9, 8).part(9, 8).part(7, 8).part(9, 8).part(7, 8).part(7, 8)
	b.Run("moved", func(b *testing.B) {
		for i := range uint64(b.N) {
			biasOf(moved, i%130_000)
		}
	})
	b.Run("tables", func(b *testing.B) {
		for range b.N {
			newExponential(expBits)
		}
	})
}
