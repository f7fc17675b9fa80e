package scheduler

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/exact"
)

// offer is a timer in an auction.
type offer struct {
	at     int // the timer's place in due: of equals the lower goes first, being older
	actor  int // actors by the order in which they appear
	cycles types.Cycles
	bid    types.Wei
	bias   *big.Int   // in units of 2^-64 wei
	score  exact.Wide // bid + bias, in the same units
	ratio  exact.Wide // score / cycles, rounded down
}

// newOffer is a timer's offer; its limit, CIP-5 §9.2's total_cycles, is not 0.
// wideBias is bias as an exact.Wide.
func newOffer(at, actor int, limit types.Cycles, bid types.Wei, bias *big.Int, wideBias *exact.Wide) offer {
	o := offer{at: at, actor: actor, cycles: limit, bid: bid, bias: bias, score: exact.WideWei(bid).Plus(wideBias)}
	o.ratio = o.score.Over(uint64(limit))
	return o
}

// compareOffers gives the order of an auction: the highest (bid + Bias(n)) /
// total_cycles, compared exactly, then trigger height and sequence.
//
// Spec: CIP-5 §9.2, decision T24.
func (o *offer) compareOffers(p *offer) int {
	if c := p.ratio.Compare(&o.ratio); c != 0 {
		return c // what the rounded parts tell apart, the whole numbers do
	}
	theirs, ours := p.score.Times(uint64(o.cycles)), o.score.Times(uint64(p.cycles))
	return cmp.Or(theirs.Compare(&ours), cmp.Compare(o.at, p.at))
}

// auction holds the timers that fire in a block. CIP-5 §9.4's bounds and the
// timers' limits choose them, not the cycles that they will use (decision T24).
type auction struct {
	p       *params.Params
	actors  int
	offers  []offer  // the offers in the order of the auction
	lost    []string // why each did not win, or ""
	winners []int    // the winners' places in offers, in that order
	// runnerUp is the first of offers left out because the block's fires or cycles
	// were full, or -1. An offer left out by its actor's own bound does not count.
	runnerUp int
}

// newAuction sorts the offers of the given number of actors, and gives room to each
// that fits, skipping offers that do not.
func newAuction(p *params.Params, offers []offer, actors int) *auction {
	slices.SortFunc(offers, func(a, b offer) int { return a.compareOffers(&b) })
	a := &auction{p: p, actors: actors, offers: offers, lost: make([]string, len(offers)), runnerUp: -1}
	left := a.newCapacity()
	for i := range offers {
		o := &offers[i]
		a.lost[i] = left.whyMisfit(o)
		switch a.lost[i] {
		case "":
			left.takeOffer(o)
			a.winners = append(a.winners, i)
		case ReasonActorFires:
		default:
			if a.runnerUp < 0 {
				a.runnerUp = i
			}
		}
	}
	return a
}

// capacity is the rest that an auction can still allot.
type capacity struct {
	cycles types.Cycles
	fires  uint64
	actors []uint64 // fires left to each
}

func (a *auction) newCapacity() *capacity {
	left := &capacity{cycles: a.p.LaneTimerCycles, fires: a.p.MaxFiresPerBlock, actors: make([]uint64, a.actors)}
	for i := range left.actors {
		left.actors[i] = a.p.MaxFiresPerActor
	}
	return left
}

// whyMisfit is why an offer does not fit, or "".
func (c *capacity) whyMisfit(o *offer) string {
	switch {
	case c.actors[o.actor] == 0:
		return ReasonActorFires
	case c.fires == 0:
		return ReasonBlockFires
	case c.cycles < o.cycles:
		return ReasonLaneFull
	}
	return ""
}

func (c *capacity) takeOffer(o *offer) {
	c.actors[o.actor]--
	c.fires--
	c.cycles -= o.cycles
}

// paymentOf returns the amount that a winner pays to the proposer on top of the price
// of its use. Its rule sets the amount, at least the reserve price. The bid is the
// maximum, also over the reserve price, since no more is locked. A bid of 0 pays
// nothing.
//
// Spec: CIP-5 §9.5, decision T24. Vectors: fixtures/vectors/cip5/9.5-auction.json.
func (a *auction) paymentOf(winner int) types.Wei {
	o := &a.offers[a.winners[winner]]
	due := o.bid
	if a.p.Policy == BiasVCG {
		if a.p.BiasPayment == PaymentPerCycle {
			due = a.criticalBid(winner)
		} else {
			due = a.literalPayment(o)
		}
	}
	if due.Less(a.p.BiasReservePrice) {
		due = a.p.BiasReservePrice
	}
	return due.Min(o.bid)
}

// literalPayment is §9.5's bid(runner_up) - Bias(winner), rounded down and at least 0; 0
// if no offer was left out.
func (a *auction) literalPayment(winner *offer) types.Wei {
	if a.runnerUp < 0 {
		return types.Wei{}
	}
	due := new(big.Int).Lsh(a.offers[a.runnerUp].bid.Big(), 64)
	return wholeWei(due.Sub(due, winner.bias))
}

// criticalBid returns the lowest bid with which the winner would still win this block,
// all other bids equal. Without the winner, the others take room in their order
// until the rest is too small for it; the offer at that point is the one it must
// outbid.
func (a *auction) criticalBid(winner int) types.Wei {
	place := a.winners[winner]
	o := &a.offers[place]
	left := a.newCapacity()
	for _, i := range a.winners[:winner] {
		left.takeOffer(&a.offers[i])
	}
	for i := place + 1; i < len(a.offers); i++ {
		rival := &a.offers[i]
		if left.whyMisfit(rival) != "" {
			continue
		}
		if left.takeOffer(rival); left.whyMisfit(o) != "" {
			return leastBid(o, rival)
		}
	}
	return types.Wei{}
}

// leastBid returns the lowest whole bid with which o goes before rival: o wins a
// tie if it is older.
func leastBid(o, rival *offer) types.Wei {
	ours, theirs := new(big.Int).SetUint64(uint64(o.cycles)), new(big.Int).SetUint64(uint64(rival.cycles))
	lead := new(big.Int).Mul(rival.score.Big(), ours)
	lead.Sub(lead, new(big.Int).Mul(o.bias, theirs)) // in units of 2^-64 wei, times rival's cycles
	unit := theirs.Lsh(theirs, 64)
	if o.at < rival.at {
		lead.Add(lead, unit).Sub(lead, big.NewInt(1)) // rounded up
	} else {
		lead.Add(lead, unit) // the next above
	}
	if lead.Sign() < 0 {
		return types.Wei{}
	}
	return mustWei(lead.Quo(lead, unit))
}

// wholeWei rounds an amount in units of 2^-64 wei down, and returns 0 for a
// negative amount.
func wholeWei(units *big.Int) types.Wei {
	if units.Sign() < 0 {
		return types.Wei{}
	}
	return mustWei(units.Rsh(units, 64))
}

func mustWei(n *big.Int) types.Wei {
	w, ok := types.WeiFromBig(n)
	if !ok {
		return types.MaxWei // what no bid reaches
	}
	return w
}
