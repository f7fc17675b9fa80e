package experiment

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The figures are those of a printed table of Student's t, two-sided, 95 %.
func TestStudentsTIsThatOfThePrintedTable(t *testing.T) {
	for freedom, want := range map[int]string{1: "12.706", 2: "4.303", 3: "3.182", 4: "2.776", 5: "2.571", 7: "2.365", 9: "2.262", 10: "2.228",
		15: "2.131", 19: "2.093", 20: "2.086", 29: "2.045", 30: "2.042", 60: "2.000", 120: "1.980", 999: "1.962", 100_000: "1.960"} {
		if got := fmt.Sprintf("%.3f", StudentQuantile(confidence, freedom)); got != want {
			t.Errorf("%d degrees of freedom: %s, want %s", freedom, got, want)
		}
	}
}

// The expansion takes over where it and the finite sums are one.
func TestTheQuantileHasNoStep(t *testing.T) {
	at, after := StudentQuantile(confidence, manyFreedoms), StudentQuantile(confidence, manyFreedoms+1)
	if at <= after || at-after > 1e-5 {
		t.Errorf("%v with %d degrees of freedom, and %v with one more", at, manyFreedoms, after)
	}
	if mass := 2 * densities(after, manyFreedoms+1); math.Abs(mass-0.95) > 1e-9 {
		t.Errorf("%v of the mass is within the quantile", mass)
	}
}

// densities integrates the density of Student's t from 0 on by Simpson's rule.
func densities(to float64, freedom int) float64 {
	v := float64(freedom)
	above, _ := math.Lgamma((v + 1) / 2)
	below, _ := math.Lgamma(v / 2)
	density := func(x float64) float64 {
		return math.Exp(above-below-(v+1)/2*math.Log1p(x*x/v)) / math.Sqrt(v*math.Pi)
	}
	const steps = 20_000
	sum := density(0) + density(to)
	for i := 1; i < steps; i++ {
		sum += density(to*float64(i)/steps) * float64(2+2*(i%2))
	}
	return sum * to / steps / 3
}

// A mean, its variance and its interval by exact fractions and an integral share no code with
// the sums that are kept.
func TestEstimatesAreThoseOfExactFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figures := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 40).Draw(t, "figures")
		var s sums
		total := new(big.Rat)
		for _, f := range figures {
			s.addFigure(f)
			total.Add(total, new(big.Rat).SetFloat64(f))
		}
		n := new(big.Rat).SetInt64(int64(len(figures)))
		mean := new(big.Rat).Quo(total, n)
		squares := new(big.Rat)
		for _, f := range figures {
			off := new(big.Rat).Sub(new(big.Rat).SetFloat64(f), mean)
			squares.Add(squares, off.Mul(off, off))
		}
		want, _ := mean.Float64()
		spread, _ := squares.Float64()
		got := s.estimateMean(&quantiles{})
		if got.Seeds != len(figures) || math.Abs(got.Mean-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("%+v, want the mean %v", got, want)
		}
		root := math.Sqrt(spread / float64(len(figures)-1) / float64(len(figures)))
		if root < 1e-3 {
			return // alike to the digits that floats have
		}
		if mass := 2 * densities(*got.HalfWidth/root, len(figures)-1); math.Abs(mass-0.95) > 1e-6 {
			t.Fatalf("the interval %v holds %v of the mass", *got.HalfWidth, mass)
		}
	})
}

// By hand: 1 to 5 have the mean 3 and the deviation √2.5; t is 2.776445 with 4 degrees of
// freedom, so that half the interval is 2.776445 × √(2.5/5) = 1.963243.
func TestAnEstimateByHand(t *testing.T) {
	var s sums
	for i := range 5 {
		s.addFigure(float64(i + 1))
	}
	got := s.estimateMean(&quantiles{})
	if got.Seeds != 5 || got.Mean != 3 || math.Abs(*got.HalfWidth-1.963243) > 1e-6 || got.String() != "3.0 ± 2.0" {
		t.Errorf("%+v, half width %v, in words %s", got, *got.HalfWidth, got)
	}
}

func TestOneSeedHasNoInterval(t *testing.T) {
	var s sums
	s.addFigure(4)
	if got := s.estimateMean(&quantiles{}); got.HalfWidth != nil || got.Mean != 4 || got.String() != "4" {
		t.Errorf("%+v", got)
	}
	// Figures that are too large to square have none either, and still a mean.
	s.addFigure(math.MaxFloat64)
	s.addFigure(-math.MaxFloat64)
	if got := s.estimateMean(&quantiles{}); got.HalfWidth != nil || math.IsNaN(got.Mean) || math.IsInf(got.Mean, 0) {
		t.Errorf("%+v", got)
	}
}

func TestEstimatesInWords(t *testing.T) {
	if got := (Estimate{Seeds: 1, Mean: 82753.21}).String(); got != "82753" {
		t.Errorf("of one seed: %s", got)
	}
	for want, pair := range map[string][2]float64{"3.25 ± 0.12": {3.2512, 0.1234}, "3251 ± 12": {3251.4, 12.4}, "99.50 ± 0.50": {99.5, 0.5},
		"0.0001234 ± 0.0000050": {0.0001234, 0.000005}, "7 ± 0": {7, 0}, "-0.5 ± 1.0": {-0.46, 1}, "1.5e+20 ± 2e+18": {1.5e20, 2e18},
		"123456789 ± 100": {123456789, 100}} {
		if got := (Estimate{Seeds: 2, Mean: pair[0], HalfWidth: &pair[1]}).String(); got != want {
			t.Errorf("%v: %s, want %s", pair, got, want)
		}
	}
}
