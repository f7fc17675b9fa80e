// Package draw makes random figures of streams with names. A stream's figures follow from
// a seed and its name alone: another stream, or more draws of one, moves no other's figures.
//
// Block i of a stream is keccak256(seed ‖ name ‖ i), seed and i in eight bytes, big-endian.
// All arithmetic is of integers, so every architecture draws the same. Distributions with
// logarithms count in units of 2^-32 and are exact to some 2^-30.
package draw

import (
	"encoding/binary"
	"math/big"
	"math/bits"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Stream is a sequence of draws. It is for one goroutine.
type Stream struct {
	seed    uint64
	name    string
	block   uint64 // the next block
	words   [4]uint64
	unspent int // how many of words are left
}

// New returns the beginning of a stream.
func New(seed uint64, name string) *Stream { return &Stream{seed: seed, name: name} }

// Uint64 draws 64 bits.
func (s *Stream) Uint64() uint64 {
	if s.unspent == 0 {
		var seed, block [8]byte
		binary.BigEndian.PutUint64(seed[:], s.seed)
		binary.BigEndian.PutUint64(block[:], s.block)
		hash := types.Keccak(seed[:], []byte(s.name), block[:])
		for i := range s.words {
			s.words[i] = binary.BigEndian.Uint64(hash[8*i:])
		}
		s.block, s.unspent = s.block+1, len(s.words)
	}
	word := s.words[len(s.words)-s.unspent]
	s.unspent--
	return word
}

// Below draws a whole number of 0..n-1, each alike. n is not 0.
func (s *Stream) Below(n uint64) uint64 {
	unfair := -n % n // how many low products have one chance more
	for {
		if high, low := bits.Mul64(s.Uint64(), n); low >= unfair {
			return high
		}
	}
}

// Uniform draws a whole number of least..most.
func (s *Stream) Uniform(least, most uint64) uint64 {
	if most-least == ^uint64(0) {
		return s.Uint64()
	}
	return least + s.Below(most-least+1)
}

// Ratio is a fraction of whole numbers; Den is not 0.
type Ratio struct{ Num, Den uint64 }

// Bernoulli is true with chance p.
func (s *Stream) Bernoulli(p Ratio) bool { return s.Below(p.Den) < p.Num }

// Geometric draws how often Bernoulli(p) is false before it is true. It takes 1/p draws on
// average; p is not 0.
func (s *Stream) Geometric(p Ratio) (failures uint64) {
	for !s.Bernoulli(p) {
		failures++
	}
	return failures
}

// one is 1 in units of 2^-32.
const one = 1 << 32

// drawExponential draws -ln(U) of a uniform U in (0, 1], in units of 2^-32.
func (s *Stream) drawExponential() uint64 {
	u := s.Uint64()
	if u == ^uint64(0) {
		return 0
	}
	return minusLog(u + 1)
}

// Exponential draws a whole number of a mean: the exponential one, rounded down.
func (s *Stream) Exponential(mean uint64) uint64 {
	high, low := bits.Mul64(s.drawExponential(), mean)
	return high<<32 | low>>32
}

// Poisson draws how many events come in a time in which mean come on average. It takes
// about as many draws.
func (s *Stream) Poisson(mean Ratio) (events uint64) {
	high, low := bits.Mul64(mean.Num, one)
	left, _ := bits.Div64(high%mean.Den, low, mean.Den)
	for {
		gap := s.drawExponential()
		if gap > left {
			return events
		}
		left -= gap
		events++
	}
}

// Pareto draws a whole number of least..most by density x^-(alpha+1): one above most is
// drawn again.
func (s *Stream) Pareto(alpha Ratio, least, most uint64) uint64 {
	for {
		high, low := bits.Mul64(s.drawExponential(), alpha.Den)
		if high >= alpha.Num {
			continue
		}
		x, _ := bits.Div64(high, low, alpha.Num)
		if value := timesExp(least, x); value <= most {
			return value
		}
	}
}

// Normal draws from the normal distribution of mean 0 and variance 1: its size in units of
// 2^-32, and its sign. It is Marsaglia's polar method.
func (s *Stream) Normal() (size uint64, negative bool) {
	for {
		u, v := s.Uint64(), s.Uint64()
		negative = u&1 == 1
		u, v = u>>33, v>>33 // of a quarter of the circle, whose other quarters are alike
		square := u*u + v*v
		if square == 0 || square >= 1<<62 {
			continue
		}
		log := minusLog(square << 2) // -ln of square / 2^62
		// u·sqrt(2·log/square) of u and square in [0, 1).
		n := new(big.Int).SetUint64(u)
		n.Mul(n, n).Mul(n, new(big.Int).SetUint64(log)).Lsh(n, 33)
		n.Div(n, new(big.Int).SetUint64(square))
		return n.Sqrt(n).Uint64(), negative
	}
}

// Lognormal draws median·e^(sigma·N) of a normal N, rounded down.
func (s *Stream) Lognormal(median uint64, sigma Ratio) uint64 {
	size, negative := s.Normal()
	high, low := bits.Mul64(size, sigma.Num)
	x, _ := bits.Div64(high%sigma.Den, low, sigma.Den)
	if negative {
		return timesNegativeExp(median, x)
	}
	return timesExp(median, x)
}

// Permutation draws an order of 0..n-1, each alike.
func (s *Stream) Permutation(n int) []int {
	order := make([]int, n)
	for i := range order {
		j := int(s.Below(uint64(i + 1)))
		order[i], order[j] = order[j], i
	}
	return order
}

// Zipf draws ranks 1..n with chances in proportion to rank^-exponent.
type Zipf struct{ upTo []uint64 } // the sums of the chances

// NewZipf weighs the ranks. n is at least 1.
func NewZipf(n int, exponent Ratio) *Zipf {
	z := &Zipf{upTo: make([]uint64, n)}
	sum := uint64(0)
	for i := range z.upTo {
		rank := uint64(i + 1)
		high, low := bits.Mul64(Log(rank), exponent.Num)
		x, _ := bits.Div64(high%exponent.Den, low, exponent.Den)
		sum += timesNegativeExp(1<<40, x)
		z.upTo[i] = sum
	}
	return z
}

// Draw draws a rank.
func (z *Zipf) Draw(s *Stream) int {
	at, low, high := s.Below(z.upTo[len(z.upTo)-1]), 0, len(z.upTo)-1
	for low < high {
		if middle := (low + high) / 2; at < z.upTo[middle] {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low + 1
}
