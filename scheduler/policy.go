package scheduler

import (
	"iter"

	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// policy is what differs between the ways of filling the lane (decision T25).
type policy interface {
	// limits is what a fire of a timer may use.
	limits(p *params.Params, gasLimit types.Cycles) (types.Cycles, types.Cells)
	// price is what a fire of the timer would cost in this block by what it
	// states itself; what a bidder would say is left to the protocol's own.
	price(b *InBlock, t *types.Timer) feemarket.Price
	// insolventEnds reports whether a payer who cannot hold max_cost ends the
	// timer, or defers it.
	insolventEnds() bool
	// open begins the policy's part in a block, and brings what it keeps in
	// state to that block: decay, epochs.
	open(r *laneRun) policyRun
}

// policyRun is a policy at work in one block. Its methods are called in this
// order, once, by RunLane.
type policyRun interface {
	// quote prices each due timer that has not expired, asking its bidder where
	// it has one. Its error is the environment's.
	quote() error
	// fill parts the timers that may fire, by their places in laneRun.due, into
	// those that get a turn and those that do not.
	fill(ready []int) plan
	// close keeps what the next block will ask for: counters, weights.
	close()
}

// plan is who gets a turn in a block.
type plan struct {
	turns  iter.Seq[turn] // who has a turn, in order; each turn is over before the next is asked for
	passed []passedOver
}

// turn is one timer's.
type turn struct {
	at      int       // the timer's place in laneRun.due
	payment types.Wei // what the proposer gets beside the price, of an auction's winner
}

// passedOver is a timer that may fire and gets no turn.
type passedOver struct {
	at     int    // the timer's place in laneRun.due
	reason string // one of the Reason constants
}

// inOrder gives timers a turn each, as they come.
func inOrder(places []int) iter.Seq[turn] {
	return func(yield func(turn) bool) {
		for _, at := range places {
			if !yield(turn{at: at}) {
				return
			}
		}
	}
}

// quote is what a policy says of a due timer before the block classifies it.
type quote struct {
	price     feemarket.Price // the price of what the fire uses; its tip is the priority
	weight    types.Weight    // Den 0 where the policy has none
	pricedOut string          // why its max fee is too low for a turn in this block, or ""
}

// The policies.
const (
	Fifo           = "fifo"             // CIP-5 §§1-8: trigger height, then sequence
	EIP1559        = "eip1559"          // CIP-1: base fee of the lane, tips, weights
	GBA            = "gba"              // CIP-1's first revision: bids asked at fire time
	BiasVCG        = "bias-vcg"         // CIP-5 §9: bids and waiting, second price
	BiasFirstPrice = "bias-first-price" // CIP-5 §9: the same, first price
)

var policies = map[string]policy{
	Fifo:    fifo{},
	EIP1559: eip1559{},
	GBA:     gba{},

	BiasVCG:        bias{},
	BiasFirstPrice: bias{},
}

// policyOf returns the policy that p names. An unknown name is refused when the
// parameter is set, so here it is an *Error of whoever skipped that.
func policyOf(p *params.Params) (policy, error) {
	policy, ok := policies[p.Policy]
	if !ok {
		return nil, refuse(CodePolicyUnsupported, "T25", "the lane has no policy %q", p.Policy)
	}
	return policy, nil
}

// BeforeTransactions reports whether the lane of p's policy comes before the
// transactions of a block, and not after (decision T3).
func BeforeTransactions(p *params.Params) bool { return p.Policy == GBA }

// Free reports whether fires cost nothing, which is CIP-5 §6.3's for fifo alone: a
// chain that began free is so until another policy is activated (decision T2).
func Free(p *params.Params) bool { return p.FreeFires() }

// FireLimit is what a fire may use under p's policy: the timer's limit, clamped
// to the cap that holds now, where that was lowered since it was scheduled
// (decision T5), and max_cells_per_fire (CIP-5 §6.2).
func FireLimit(p *params.Params, gasLimit types.Cycles) (types.Cycles, types.Cells) {
	policy, err := policyOf(p)
	if err != nil {
		return 0, 0
	}
	return policy.limits(p, gasLimit)
}

// MaxCost is what a fire of the timer would cost at most in this block, in wei,
// by what it states itself: 0 where fires are free, and types.MaxWei where the
// sum exceeds all amounts.
func (b *InBlock) MaxCost(t *types.Timer) types.Wei {
	policy, err := policyOf(b.Params)
	if err != nil {
		return types.MaxWei
	}
	price := policy.price(b, t)
	cycles, cells := policy.limits(b.Params, t.GasLimit)
	cost, _ := costOf(&price, cycles, cells)
	return cost
}
