package draw

import (
	"fmt"
	"math"
	"testing"
)

// samples is how many draws a distribution is judged by; its figures are within five
// standard errors of their closed forms, with seeds that are stated.
const samples = 20_000

// moments draws and returns mean and standard deviation.
func moments(of func() float64) (mean, deviation float64) {
	var sum, squares float64
	for range samples {
		x := of()
		sum += x
		squares += x * x
	}
	mean = sum / samples
	return mean, math.Sqrt(squares/samples - mean*mean)
}

func TestDistributionsHaveTheirMoments(t *testing.T) {
	s := New(7, "moments")
	normal := func() float64 {
		size, negative := s.Normal()
		if negative {
			return -float64(size) / one
		}
		return float64(size) / one
	}
	zipf := NewZipf(3, Ratio{1, 1}) // chances 6/11, 3/11, 2/11
	// A Pareto of alpha 3 cut at 10 times its least: moments of the truncated density.
	cut := 1 - math.Pow(10, -3)
	paretoMean := 1000 * 1.5 * (1 - math.Pow(10, -2)) / cut
	paretoSquare := 1e6 * 3 * (1 - math.Pow(10, -1)) / cut
	for _, one := range []struct {
		name            string
		mean, deviation float64
		draw            func() float64
	}{
		{"uniform 10..19", 14.5, math.Sqrt(99.0 / 12), func() float64 { return float64(s.Uniform(10, 19)) }},
		{"bernoulli 3/8", 0.375, math.Sqrt(0.375 * 0.625), func() float64 {
			if s.Bernoulli(Ratio{3, 8}) {
				return 1
			}
			return 0
		}},
		{"geometric 1/5", 4, math.Sqrt(20), func() float64 { return float64(s.Geometric(Ratio{1, 5})) }},
		{"exponential of 1000", 999.5, 1000, func() float64 { return float64(s.Exponential(1000)) }},
		{"poisson 7/2", 3.5, math.Sqrt(3.5), func() float64 { return float64(s.Poisson(Ratio{7, 2})) }},
		{"pareto 3", paretoMean - 0.5, math.Sqrt(paretoSquare - paretoMean*paretoMean), func() float64 {
			return float64(s.Pareto(Ratio{3, 1}, 1000, 10_000))
		}},
		{"normal", 0, 1, normal},
		{"lognormal of 10^6, sigma 1/2", 1e6 * math.Exp(0.125), 1e6 * math.Exp(0.125) * math.Sqrt(math.Exp(0.25)-1), func() float64 {
			return float64(s.Lognormal(1_000_000, Ratio{1, 2}))
		}},
		{"zipf of 3", 18.0 / 11, math.Sqrt(36.0/11 - 18.0*18/121), func() float64 { return float64(zipf.Draw(s)) }},
	} {
		mean, deviation := moments(one.draw)
		if slack := 5 * one.deviation / math.Sqrt(samples); math.Abs(mean-one.mean) > slack {
			t.Errorf("%s: mean %v, want %v ± %v", one.name, mean, one.mean, slack)
		}
		if math.Abs(deviation-one.deviation) > 0.05*one.deviation {
			t.Errorf("%s: deviation %v, want %v", one.name, deviation, one.deviation)
		}
	}
}

// The share of draws below a point is that of the closed form: Kolmogorov's distance of an
// exponential and of a normal stays below 1.95/sqrt(n), which one in a thousand passes.
func TestLogarithmsMakeTheWholeDistribution(t *testing.T) {
	s := New(11, "distribution")
	for name, one := range map[string]struct {
		draw func() float64
		form func(x float64) float64
	}{
		"exponential": {func() float64 { return float64(s.drawExponential()) / one }, func(x float64) float64 { return 1 - math.Exp(-x) }},
		"normal": {func() float64 {
			size, negative := s.Normal()
			if negative {
				return -float64(size) / one
			}
			return float64(size) / one
		}, func(x float64) float64 { return (1 + math.Erf(x/math.Sqrt2)) / 2 }},
	} {
		var counts [81]float64 // of draws up to -4, -3.9, … 4
		for range samples {
			x := one.draw()
			for i := range counts {
				if x <= -4+0.1*float64(i) {
					counts[i]++
				}
			}
		}
		for i, n := range counts {
			x := -4 + 0.1*float64(i)
			if want := math.Max(0, one.form(x)); math.Abs(n/samples-want) > 1.95/math.Sqrt(samples) {
				t.Errorf("%s: %v of the draws are up to %.1f, want %v", name, n/samples, x, want)
			}
		}
	}
}

func TestLogarithmsAndPowersAreExactToTheirUnits(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 10, 1000, 1 << 40, math.MaxUint64} {
		if got, want := float64(Log(n))/one, math.Log(float64(n)); math.Abs(got-want) > 3e-9 {
			t.Errorf("ln %d is %v, want %v", n, got, want)
		}
	}
	for _, x := range []float64{0, 0.001, 0.5, 1, 3.25, 20} {
		units := uint64(x * one)
		if got, want := float64(timesExp(1<<30, units)), math.Exp(float64(units)/one)*(1<<30); math.Abs(got-want) > 1+want*2e-8 {
			t.Errorf("2^30·e^%v is %v, want %v", x, got, want)
		}
		if got, want := float64(timesNegativeExp(1<<60, units)), math.Exp(-float64(units)/one)*(1<<60); math.Abs(got-want) > 1+want*2e-8 {
			t.Errorf("2^60·e^-%v is %v, want %v", x, got, want)
		}
	}
	if got := timesExp(3, 100*one); got != math.MaxUint64 {
		t.Errorf("3·e^100 is %d, want the maximum", got)
	}
	if got := timesNegativeExp(3, 100*one); got != 0 {
		t.Errorf("3·e^-100 is %d, want 0", got)
	}
}

func TestEveryOrderIsAsLikely(t *testing.T) {
	s, counts := New(3, "orders"), map[string]int{}
	for range samples {
		counts[fmt.Sprint(s.Permutation(3))]++
	}
	for order, n := range counts {
		if want := samples / 6.0; math.Abs(float64(n)-want) > 5*math.Sqrt(want) {
			t.Errorf("%s came %d times, want %.0f", order, n, want)
		}
	}
	if len(counts) != 6 {
		t.Errorf("%d orders, want 6", len(counts))
	}
}

func TestAStreamMovesNoOther(t *testing.T) {
	alone := New(1, "a")
	first, second := alone.Uint64(), alone.Uint64()
	a, b := New(1, "a"), New(1, "b")
	got := a.Uint64()
	for range 9 {
		b.Uint64()
	}
	if again := a.Uint64(); got != first || again != second {
		t.Errorf("stream a drew %x, %x beside b, and %x, %x alone", got, again, first, second)
	}
	if New(2, "a").Uint64() == first || New(1, "b").Uint64() == first {
		t.Error("another seed or name drew the same")
	}
}

// The draws of seed 1 on every architecture.
func TestDrawsArePinned(t *testing.T) {
	s := New(1, "pinned")
	var got []uint64
	got = append(got, s.Uint64(), s.Uniform(1, 6), s.Geometric(Ratio{1, 100}), s.Exponential(1_000_000), s.Poisson(Ratio{10, 1}),
		s.Pareto(Ratio{6, 5}, 100, 1_000_000_000), s.Lognormal(1_000_000, Ratio{3, 2}), uint64(NewZipf(1000, Ratio{11, 10}).Draw(s)))
	size, negative := s.Normal()
	got = append(got, size)
	if negative {
		got = append(got, 1)
	}
	for _, i := range s.Permutation(5) {
		got = append(got, uint64(i))
	}
	want := []uint64{5161835685507638611, 2, 55, 844001, 10, 263, 7303033, 13, 4272313627, 4, 1, 2, 3, 0}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("drew\n%d, want\n%d", got, want)
	}
}
