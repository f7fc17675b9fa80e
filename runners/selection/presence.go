package selection

import (
	"fmt"
	"math/bits"
)

// Presence returns P(H): bit i is set where at least threshold of the votes have
// it. It is as long as the registry at H's parent, whatever the votes' lengths
// are: what a longer one has beyond is ignored, what a shorter one lacks is 0
// (CIP-11 §8.4, decision J12). Without votes no bit is set. It panics for a
// threshold below 1, by which every runner would be present.
//
// Spec: CIP-11 §8.1. Vectors: fixtures/vectors/cip11/8.1-presence.json.
func Presence(votes []*Bitmap, registry, threshold int) *Bitmap {
	if threshold < 1 {
		panic(fmt.Sprintf("selection: a presence threshold of %d", threshold))
	}
	p := NewBitmap(registry)
	if threshold > len(votes) {
		return p
	}
	for i := range p.words {
		p.words[i] = atLeast(votes, i, threshold)
	}
	p.clipLastWord()
	return p
}

// counter counts in 64 columns at once: digit d of column c is bit c of plane d.
// Votes are at most as many as validators, far below 2^maxPlanes.
type counter [maxPlanes]uint64

const maxPlanes = 32

// atLeast returns the columns of word i that at least threshold votes have set.
// Eight votes at a time go through carry-save adders, so that the upper digits
// are touched once for all eight.
func atLeast(votes []*Bitmap, i, threshold int) uint64 {
	var sum counter
	for ; len(votes) >= 8; votes = votes[8:] {
		a, b := sum.addPair(votes[0].wordAt(i), votes[1].wordAt(i)), sum.addPair(votes[2].wordAt(i), votes[3].wordAt(i))
		c, d := sum.addPair(votes[4].wordAt(i), votes[5].wordAt(i)), sum.addPair(votes[6].wordAt(i), votes[7].wordAt(i))
		var fours, eights [2]uint64
		sum[1], fours[0] = add3(sum[1], a, b)
		sum[1], fours[1] = add3(sum[1], c, d)
		sum[2], eights[0] = add3(sum[2], fours[0], fours[1])
		sum.addColumns(3, eights[0])
	}
	for _, vote := range votes {
		sum.addColumns(0, vote.wordAt(i))
	}
	return sum.atLeast(threshold)
}

// addPair adds two votes to the lowest digit and returns what is carried.
func (s *counter) addPair(a, b uint64) (carry uint64) {
	s[0], carry = add3(s[0], a, b)
	return carry
}

// add3 adds three bits in each column.
func add3(a, b, c uint64) (sum, carry uint64) {
	half := a ^ b
	return half ^ c, a&b | half&c
}

// addColumns adds the columns of carry at a digit.
func (s *counter) addColumns(digit int, carry uint64) {
	for ; carry != 0; digit++ {
		s[digit], carry = s[digit]^carry, s[digit]&carry
	}
}

// atLeast subtracts n in each column and returns the columns without a borrow.
func (s *counter) atLeast(n int) uint64 {
	borrow := uint64(0)
	for d := range bits.Len(uint(n)) {
		if n>>d&1 == 1 {
			borrow |= ^s[d]
		} else {
			borrow &= ^s[d]
		}
	}
	for d := bits.Len(uint(n)); d < maxPlanes; d++ {
		borrow &= ^s[d]
	}
	return ^borrow
}
