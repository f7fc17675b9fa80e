package scheduler

import (
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/exact"
)

// bias is CIP-5 §9's auction: timers go by their bids and by how long they have
// waited, within a bound of fires for a block and for an actor, and winners pay
// out of the bids they locked. It prices cycles and cells as fifo does (decision
// T27), and its two names differ only in the payment rule.
//
// Spec: CIP-5 §§9.2-9.7, decisions T22, T24, T27.
type bias struct{ fifo }

// PaymentPerCycle is the value of cip5.bias_payment by which a winner pays the
// lowest bid that would have won (decision T24).
const PaymentPerCycle = "per_cycle"

// openRun ends a hundred blocks of which the last was skipped.
func (bias) openRun(r *laneRun) policyRun {
	b := &biasRun{fifoRun: fifoRun{r}}
	b.endSkippedPeriod()
	return b
}

// biasRun is the auction of one block.
type biasRun struct {
	fifoRun
	won []turn // the winners' turns, in the order of the auction
}

// fillLane holds the auction and gives the winners their turns in its order. The part
// of its limit that a winner does not use, or all of it if it is cancelled or
// cannot pay at its turn, is not given to another timer. Its cells are checked
// against the cells that the block has left (decision T27).
func (b *biasRun) fillLane(ready []int) (p plan) {
	ready = b.passBelowReserve(ready, &p)
	offers, actors := b.offersAt(ready)
	held := newAuction(b.lane.Params, offers, actors)
	for i, reason := range held.lost {
		if reason != "" {
			p.passed = append(p.passed, passedOver{held.offers[i].at, reason})
		}
	}
	b.won = make([]turn, len(held.winners))
	for i, winner := range held.winners {
		b.won[i] = turn{at: held.offers[winner].at, payment: held.paymentOf(i)}
	}
	p.turns = slices.Values(b.won)
	return p
}

// passBelowReserve keeps the timers that may win: where the reserve price holds, those that
// bid it (decision T24).
func (b *biasRun) passBelowReserve(places []int, p *plan) (kept []int) {
	if !b.lane.Params.BiasReserveHolds {
		return places
	}
	for _, at := range places {
		if b.lane.due[at].Bid.Less(b.lane.Params.BiasReservePrice) {
			p.passed = append(p.passed, passedOver{at, ReasonBelowReserve})
			continue
		}
		kept = append(kept, at)
	}
	return kept
}

// offersAt returns the offers of the timers at places of due, and the number of their
// actors.
func (b *biasRun) offersAt(places []int) (offers []offer, actors int) {
	r := b.lane
	rate := biasRate(r.KV, r.Params)
	offers = make([]offer, 0, len(places))
	known := make(map[types.Address]int)
	var (
		waited  uint64
		grown   *big.Int // Bias(waited)
		grownTo exact.Wide
	)
	for _, at := range places {
		d := &r.due[at]
		actor, ok := known[d.Actor]
		if !ok {
			actor = len(known)
			known[d.Actor] = actor
		}
		if n := uint64(r.Height - d.Height); grown == nil || n != waited { // places are by height
			waited, grown = n, biasOf(rate, n)
			grownTo = exact.WideOf(grown)
		}
		limit, _ := r.policy.limitsOfFire(r.Params, d.GasLimit)
		offers = append(offers, newOffer(at, actor, limit, d.Bid, grown, &grownTo))
	}
	return offers, len(known)
}

// closeRun counts what the winners paid, and in the hundredth block moves λ.
func (b *biasRun) closeRun() { b.countPayments() }
