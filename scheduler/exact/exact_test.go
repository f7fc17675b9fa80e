package exact

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestPartsAreRoundedDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Fixed{Whole: rapid.Uint64Range(0, 16).Draw(t, "whole"), Frac: rapid.Uint64().Draw(t, "frac")}
		n := rapid.SampledFrom([]uint64{9, 7}).Draw(t, "n")
		want := f.Units()
		want.Mul(want, big.NewInt(int64(n))).Quo(want, big.NewInt(8))
		if got := f.Part(n, 8).Units(); got.Cmp(want) != 0 {
			t.Fatalf("%d/8 of %v is %s, want %s", n, f, got, want)
		}
	})
}

func TestWideArithmeticIsThatOfBigIntegers(t *testing.T) {
	limbs := rapid.SliceOfN(rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, math.MaxUint64})), words, words)
	rapid.Check(t, func(t *rapid.T) {
		a, b := Wide(limbs.Draw(t, "a")), Wide(limbs.Draw(t, "b"))
		n := rapid.Uint64Min(1).Draw(t, "n")
		if a.Compare(&b) != a.Big().Cmp(b.Big()) || WideOf(a.Big()) != a {
			t.Fatalf("%v and %v", a, b)
		}
		divided := a.Over(n)
		if want := new(big.Int).Quo(a.Big(), new(big.Int).SetUint64(n)); divided.Big().Cmp(want) != 0 {
			t.Fatalf("%v / %d is %v", a, n, divided)
		}
		product, want := a.Times(n), new(big.Int).Mul(a.Big(), new(big.Int).SetUint64(n))
		low := Wide(product[:words])
		got := new(big.Int).Lsh(new(big.Int).SetUint64(product[words]), 64*words)
		if got.Add(got, low.Big()); got.Cmp(want) != 0 {
			t.Fatalf("%v × %d is %v", a, n, product)
		}
		a[words-1], b[words-1] = a[words-1]>>1, b[words-1]>>1
		sum := a.Plus(&b)
		if want := new(big.Int).Add(a.Big(), b.Big()); sum.Big().Cmp(want) != 0 {
			t.Fatalf("%v + %v is %v", a, b, sum)
		}
	})
}

// The error bound of the tables holds with room for every λ n that can be met.
func TestTheUsualPrecisionIsAlwaysSure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := Fixed{Whole: rapid.Uint64Range(0, 133).Draw(t, "whole"), Frac: rapid.Uint64().Draw(t, "frac")}
		if _, sure := usual().floorExp(x); !sure {
			t.Fatalf("e^%v is open", x)
		}
	})
}

// With few bits after the point most results are open, and the next precision
// settles them: the same integers come out.
func TestAnOpenRoundingIsSettledByMoreBits(t *testing.T) {
	narrow, open := newExponential(80), 0
	for i := range uint64(200) {
		x := Fixed{Whole: i % 30, Frac: i * 0x9e3779b97f4a7c15}
		value, sure := narrow.floorExp(x)
		if !sure {
			open++
		} else if value.Cmp(usual().exactExp(x)) != 0 {
			t.Fatalf("80 bits are sure of e^%v = %s", x, value)
		}
		exp := floatExp(x)
		if want, _ := exp.SetMantExp(exp, 64).Int(nil); narrow.exactExp(x).Cmp(want) != 0 {
			t.Fatalf("e^%v is %s, want %s", x, narrow.exactExp(x), want)
		}
	}
	if open < 50 || open == 200 {
		t.Fatalf("%d of 200 are open", open)
	}
}

// floatExp is e^x by another way than ours: by the series at x / 2^40, squared
// forty times, in floating point of 640 bits.
func floatExp(x Fixed) *big.Float {
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

func BenchmarkTables(b *testing.B) {
	for b.Loop() {
		newExponential(expBits)
	}
}
