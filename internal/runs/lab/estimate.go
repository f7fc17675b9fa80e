package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/runs/experiment"
)

// Chances with which an interval holds what it is about.
const (
	// shown is that of the intervals of a page, if the number of seeds was settled before.
	shown = 0.95
	// looked is that of one look, so that the interval at which a point stops holds its
	// mean with the chance shown: Pocock's 2.41 for five looks, in place of 1.96.
	looked = 0.98405
	// formal is that of the intervals by which closed forms are judged: many are judged.
	formal = 0.999
)

// Estimate is a measure of a point over its seeds.
type Estimate struct {
	Seeds     int
	Mean      float64 // or the median
	Low, High float64 // the ends of the interval; infinite below two seeds
}

// Half is half the width of the interval.
func (e Estimate) Half() float64 { return (e.High - e.Low) / 2 }

// String is like 0.501 ± 0.002.
func (e Estimate) String() string {
	if math.IsInf(e.Half(), 0) {
		return fourDigits(e.Mean)
	}
	if e.High == e.Low {
		return fourDigits(e.Mean) + " ± 0"
	}
	if middle := (e.High + e.Low) / 2; math.Abs(middle-e.Mean) > e.Half()/1e6 {
		return fmt.Sprintf("%s (%s to %s)", fourDigits(e.Mean), fourDigits(e.Low), fourDigits(e.High))
	}
	digits := max(0, 1-int(math.Floor(math.Log10(e.Half()))))
	if math.Abs(e.Mean) >= 1e7 || digits > 9 {
		return fourDigits(e.Mean) + " ± " + strconv.FormatFloat(e.Half(), 'g', 2, 64)
	}
	return strconv.FormatFloat(e.Mean, 'f', digits, 64) + " ± " + strconv.FormatFloat(e.Half(), 'f', digits, 64)
}

// fourDigits is a number with four digits, and no more zeros than it needs.
func fourDigits(f float64) string {
	if size := math.Abs(f); size >= 1e7 || size != 0 && size < 1e-4 {
		return strconv.FormatFloat(f, 'g', 4, 64)
	}
	text := strconv.FormatFloat(f, 'f', max(0, 3-int(math.Floor(math.Log10(max(math.Abs(f), 1e-4))))), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// estimateFrom sums the figures of a measure, a figure a seed, at a confidence.
func (m Measure) estimateFrom(figures []float64, confidence float64) Estimate {
	if m.Median {
		return estimateMedian(figures, confidence)
	}
	return estimateMean(figures, confidence)
}

// leastOfMedian is the seeds from which on the form of a median is judged.
const leastOfMedian = 4

// estimateForForm is the estimate by which a closed form is judged. Below eleven seeds no interval holds a median
// with the chance of formal: then it is all that was seen.
func (m Measure) estimateForForm(figures []float64) Estimate {
	confidence := formal
	if n := len(figures); m.Median && n >= leastOfMedian {
		confidence = min(formal, 1-2*math.Pow(0.5, float64(n)))
	}
	return m.estimateFrom(figures, confidence)
}

// estimateMean has the interval of Student's t.
func estimateMean(figures []float64, confidence float64) Estimate {
	n := float64(len(figures))
	sum := 0.0
	for _, f := range figures {
		sum += f
	}
	e := Estimate{Seeds: len(figures), Mean: sum / n, Low: math.Inf(-1), High: math.Inf(1)}
	if len(figures) < 2 {
		return e
	}
	if slices.Max(figures) == slices.Min(figures) {
		e.Mean, e.Low, e.High = figures[0], figures[0], figures[0]
		return e
	}
	squares := 0.0
	for _, f := range figures {
		squares += (f - e.Mean) * (f - e.Mean)
	}
	half := experiment.StudentQuantile(confidence, len(figures)-1) * math.Sqrt(squares/(n-1)/n)
	e.Low, e.High = e.Mean-half, e.Mean+half
	return e
}

// estimateMedian has the interval between two figures, of which each side is passed with the half
// of what confidence leaves: of 16 seeds at 95 %, the fourth and the thirteenth.
func estimateMedian(figures []float64, confidence float64) Estimate {
	sorted := slices.Sorted(slices.Values(figures))
	n := len(sorted)
	e := Estimate{Seeds: n, Mean: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: math.Inf(-1), High: math.Inf(1)}
	below, chance := 0.0, math.Pow(0.5, float64(n)) // of at most so many figures below the median
	for at := range n / 2 {
		if below += chance; below > (1-confidence)/2 {
			break
		}
		e.Low, e.High = sorted[at], sorted[n-1-at]
		chance *= float64(n-at) / float64(at+1)
	}
	return e
}
