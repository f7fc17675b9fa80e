package crowd

import (
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// maxWait is the longest wait that is told apart, in blocks.
const maxWait = 1 << 20

// Counts are the figures of a crowd since the last Reset.
type Counts struct {
	Scheduled uint64
	Fired     uint64
	Expired   uint64 // also what waited too long for its owner
	Insolvent uint64 // ended since its payer lacked the price
	Paid      types.Wei
	Tips      types.Wei // of Paid: to the proposer
	Returned  types.Wei // of Tips: in blocks of the validators of the crowd's owner
	Earned    types.Wei // by these validators: the tips of all crowds in their blocks
	Worth     types.Wei // of the fires to their members, at the time that they fired

	decayPermille uint64
	leads         bool     // in this block one of these validators
	waits         []uint64 // how many fires were late by so many blocks
}

// Reset begins the figures anew.
func (c *Counts) Reset() { *c = Counts{decayPermille: c.decayPermille, waits: c.waits[:0]} }

// noteChange counts a change of a timer. value is that of a fire.
func (c *Counts) noteChange(change *types.TimerChange, value uint64) {
	switch change.Status {
	case types.TimerFired:
		wait := uint64(change.At - change.Timer.Height)
		c.Fired++
		c.noteWait(wait)
		c.Paid, c.Tips = c.Paid.Add(change.FeePaid), c.Tips.Add(change.TipPaid)
		if c.leads {
			c.Returned = c.Returned.Add(change.TipPaid)
		}
		c.Worth = c.Worth.Add(types.WeiOf(c.decayValue(value, wait)))
	case types.TimerExpired:
		c.Expired++
	case types.TimerInsufficientFunds:
		c.Insolvent++
	case types.TimerPending:
		if change.Kind == types.ChangeScheduled {
			c.Scheduled++
		}
	}
}

func (c *Counts) noteWait(blocks uint64) {
	blocks = min(blocks, maxWait)
	if n := int(blocks) + 1; n > len(c.waits) {
		c.waits = append(c.waits, make([]uint64, n-len(c.waits))...)
	}
	c.waits[blocks]++
}

// decayValue is a value after some blocks, each of which takes a share of the rest.
func (c *Counts) decayValue(value, blocks uint64) uint64 {
	for ; c.decayPermille > 0 && blocks > 0 && value > 0; blocks-- {
		value -= shareOf(value, c.decayPermille)
	}
	return value
}

// WaitSum is how many blocks the fires were late together.
func (c *Counts) WaitSum() (sum uint64) {
	for blocks, n := range c.waits {
		sum += uint64(blocks) * n
	}
	return sum
}

// WaitLongest is by how many blocks the latest fire was late.
func (c *Counts) WaitLongest() uint64 {
	for blocks, n := range slices.Backward(c.waits) {
		if n > 0 {
			return uint64(blocks)
		}
	}
	return 0
}

// WaitOf is by how many blocks the fires of a share were late at most.
func (c *Counts) WaitOf(sharePermille uint64) uint64 {
	below := uint64(0)
	for blocks, n := range c.waits {
		if below += n; below*permille >= c.Fired*sharePermille && below > 0 {
			return uint64(blocks)
		}
	}
	return 0
}

// squares are the sums of a series of whole numbers from which its mean and its
// variation follow.
type squares struct {
	n            uint64
	sum, squared big.Int
}

func (s *squares) addSquare(x *big.Int) {
	s.n++
	s.sum.Add(&s.sum, x)
	s.squared.Add(&s.squared, new(big.Int).Mul(x, x))
}

// squaredVariation is the squared coefficient of variation, as a fraction: variance over mean².
func (s *squares) squaredVariation() (num, den *big.Int) {
	den = new(big.Int).Mul(&s.sum, &s.sum)
	num = new(big.Int).Mul(new(big.Int).SetUint64(s.n), &s.squared)
	return num.Sub(num, den), den
}
