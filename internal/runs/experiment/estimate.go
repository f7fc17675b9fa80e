package experiment

import "math"

// confidence is the chance with which an interval holds the mean, for normal figures.
const confidence = 0.95

// Estimate is a mean over seeds, with half the width of its 95 % confidence interval.
type Estimate struct {
	Seeds int     `json:"seeds"`
	Mean  float64 `json:"mean"`
	// HalfWidth is nil below two seeds, and where figures are too large to square.
	HalfWidth *float64 `json:"half_width"`
}

// sums are those of a series of figures: enough for mean and variance, and as small after a
// million figures as after one (Welford).
type sums struct {
	n       int
	mean    float64
	squares float64 // of the deviations from the mean
}

// addFigure takes one more figure.
func (s *sums) addFigure(figure float64) {
	s.n++
	before := s.mean
	s.mean += figure/float64(s.n) - before/float64(s.n) // in parts, so that no difference overflows
	s.squares += (figure - before) * (figure - s.mean)
}

// estimateMean is the mean with its interval by Student's t.
func (s *sums) estimateMean(q *quantiles) Estimate {
	e := Estimate{Seeds: s.n, Mean: s.mean}
	if s.n < 2 {
		return e
	}
	n := float64(s.n)
	if half := q.quantileOf(s.n-1) * math.Sqrt(s.squares/(n-1)/n); half-half == 0 {
		e.HalfWidth = &half
	}
	return e
}

// quantiles remembers Student's t by degrees of freedom.
type quantiles struct{ known map[int]float64 }

// quantileOf returns the t within which a share of confidence lies on both sides of 0.
func (q *quantiles) quantileOf(freedom int) float64 {
	t, known := q.known[freedom]
	if !known {
		if q.known == nil {
			q.known = map[int]float64{}
		}
		t = StudentQuantile(confidence, freedom)
		q.known[freedom] = t
	}
	return t
}

// manyFreedoms is where the expansion around the normal quantile is exact to nine digits.
const manyFreedoms = 1000

// StudentQuantile is the two-sided quantile of Student's t: |t| is below it with the chance
// confidence.
func StudentQuantile(confidence float64, freedom int) float64 {
	if freedom > manyFreedoms {
		z, v := math.Sqrt2*math.Erfinv(confidence), float64(freedom)
		return z + (z*z*z+z)/(4*v) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*v*v)
	}
	low, high := 0.0, 16.0 // of 95 %, t is 12.7 for one degree, and falls
	for chanceWithin(high, freedom) < confidence {
		high *= 2
	}
	for range 64 {
		if middle := (low + high) / 2; chanceWithin(middle, freedom) < confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// chanceWithin is the chance that |T| is at most t: the finite sums of Abramowitz and Stegun,
// 26.7.3 and 26.7.4, whose terms are all positive.
func chanceWithin(t float64, freedom int) float64 {
	angle := math.Atan(t / math.Sqrt(float64(freedom)))
	sine, cosine := math.Sincos(angle)
	term, sum := 1.0, 0.0
	if freedom%2 == 1 {
		term = cosine
	}
	for k := freedom % 2; k <= freedom-2; k += 2 {
		sum += term
		term *= cosine * cosine * float64(k+1) / float64(k+2)
	}
	if freedom%2 == 1 {
		return (angle + sine*sum) * 2 / math.Pi
	}
	return sine * sum
}
