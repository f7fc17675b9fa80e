package scheduler

import (
	"math"
	"math/big"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/exact"
)

var keyControl = []byte("t/i/c")

// control is the loop that moves λ each bias_control_blocks, at the heights that
// these divide (CIP-5 §9.3, decisions T24, T27).
type control struct {
	_      struct{}     `cbor:",toarray"`
	Rate   exact.Fixed  // λ, rounded down by each move
	End    types.Height // the last of the blocks that are counted
	Waited revenue      // what winners with n > 0 paid in the blocks up to End
	Fresh  revenue      // what winners with n = 0 paid in them
}

// revenue is the sum of the winners' payments, at most 2^256 - 1.
type revenue struct {
	_       struct{} `cbor:",toarray"`
	Winners uint64
	Paid    types.Wei
}

func (s *revenue) addPayment(paid types.Wei) {
	sum, ok := s.Paid.AddOk(paid)
	if !ok {
		sum = types.MaxWei
	}
	s.Winners, s.Paid = s.Winners+1, sum
}

// readControl is the loop as the block finds it, its λ within the bounds that
// the parameters have now. It counts towards a new end where nothing is counted,
// or where one comes sooner, the period having been shortened.
func readControl(kv KV, p *params.Params, now types.Height) control {
	c := control{Rate: rateOf(p.BiasLambdaStart)}
	if data := kv.Get(keyControl); data != nil {
		mustRead(data, &c)
	}
	c.Rate = boundRate(p, c.Rate)
	if end := nextPeriodEnd(p, now); end < c.End || c.Waited.Winners+c.Fresh.Winners == 0 {
		c.End = end
	}
	return c
}

// biasRate is λ as it is in force.
func biasRate(kv KV, p *params.Params) exact.Fixed { return readControl(kv, p, 0).Rate }

// rateOf is a parameter's λ, in units of 1/65,536.
func rateOf(units uint64) exact.Fixed { return exact.Fixed{Whole: units >> 16, Frac: units << 48} }

func boundRate(p *params.Params, rate exact.Fixed) exact.Fixed {
	if least := rateOf(p.BiasLambdaMin); rate.Less(least) {
		return least
	}
	if greatest := rateOf(p.BiasLambdaMax); greatest.Less(rate) {
		return greatest
	}
	return rate
}

// nextPeriodEnd returns the next multiple of bias_control_blocks from now on.
func nextPeriodEnd(p *params.Params, now types.Height) types.Height {
	every := types.Height(p.BiasControlBlocks)
	if rest := now % every; rest > 0 {
		if now > math.MaxUint64-(every-rest) {
			return math.MaxUint64
		}
		return now + every - rest
	}
	return now
}

// moveRate makes both moves that hold, up first, each within the bounds.
func (c *control) moveRate(p *params.Params, longest uint64, highest types.Wei) (moved BiasRateMoved) {
	moved = BiasRateMoved{Before: mustWei(c.Rate.Units()), Up: tooLong(c.Rate, longest, highest), Down: c.isCarrying()}
	if moved.Up {
		c.Rate = boundRate(p, c.Rate.Part(9, 8))
	}
	if moved.Down {
		c.Rate = boundRate(p, c.Rate.Part(7, 8))
	}
	moved.Lambda = mustWei(c.Rate.Units())
	c.Waited, c.Fresh = revenue{}, revenue{}
	return moved
}

// tooLong reports whether a wait exceeds N_max = ln(T/3)/λ, where T is the
// highest bid: whether 3 Bias(wait) exceeds T. Who has not waited never has
// for too long, also where T is below 3.
//
// Spec: CIP-5 §9.2, decision T24. Vectors: fixtures/vectors/cip5/9.3-lambda.json.
func tooLong(rate exact.Fixed, wait uint64, highest types.Wei) bool {
	if wait == 0 {
		return false
	}
	thrice := new(big.Int).Mul(biasOf(rate, wait), big.NewInt(3))
	return thrice.Cmp(new(big.Int).Lsh(highest.Big(), 64)) > 0
}

// isCarrying reports whether winners that waited paid on average less than half as
// much as winners that did not. If so, bias carries timers to their turn, which the
// constraint of CIP-5 §9.3 is to prevent. Where either group is empty it does not.
func (c *control) isCarrying() bool {
	if c.Waited.Winners == 0 || c.Fresh.Winners == 0 {
		return false
	}
	waited := new(big.Int).Mul(c.Waited.Paid.Big(), new(big.Int).SetUint64(c.Fresh.Winners))
	fresh := new(big.Int).Mul(c.Fresh.Paid.Big(), new(big.Int).SetUint64(c.Waited.Winners))
	return waited.Lsh(waited, 1).Cmp(fresh) < 0
}

func writeControl(kv KV, c *control) { kv.Set(keyControl, codec.Marshal(c)) }

// endSkippedPeriod ends a period whose hundredth block was skipped, nothing being due
// in it.
func (b *biasRun) endSkippedPeriod() {
	r := b.lane
	if c := readControl(r.KV, r.Params, r.Height); c.End < r.Height {
		b.moveRate(&c, 0, types.Wei{})
		writeControl(r.KV, &c)
	}
}

// countPayments counts what the block's winners paid, and ends the period with
// its hundredth block.
func (b *biasRun) countPayments() {
	r := b.lane
	c := readControl(r.KV, r.Params, r.Height)
	before := c
	for _, t := range b.won {
		d := &r.due[t.at]
		switch {
		case !d.fired:
		case d.Height < r.Height:
			c.Waited.addPayment(t.payment)
		default:
			c.Fresh.addPayment(t.payment)
		}
	}
	if c.End == r.Height {
		b.moveRate(&c, b.longestWait(), b.highestBid())
	}
	if c != before {
		writeControl(r.KV, &c)
	}
}

func (b *biasRun) moveRate(c *control, longest uint64, highest types.Wei) {
	if moved := c.moveRate(b.lane.Params, longest, highest); moved.Before != moved.Lambda {
		b.lane.out.Events = append(b.lane.out.Events, newEvent(EventBiasRate, moved))
	}
}

// longestWait is the n of the oldest timer due in the block, fired or not.
func (b *biasRun) longestWait() uint64 {
	if len(b.lane.due) == 0 {
		return 0
	}
	return uint64(b.lane.Height - b.lane.due[0].Height)
}

// highestBid returns the highest bid of the timers due in the block, fired or not.
func (b *biasRun) highestBid() (highest types.Wei) {
	for i := range b.lane.due {
		if bid := b.lane.due[i].Bid; highest.Less(bid) {
			highest = bid
		}
	}
	return highest
}
