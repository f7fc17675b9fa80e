package scheduler

import (
	"iter"

	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// policy is what differs between the ways of filling the lane (decision T25).
type policy interface {
	// limitsOfFire is what a fire of a timer may use.
	limitsOfFire(p *params.Params, gasLimit types.Cycles) (types.Cycles, types.Cells)
	// priceOf returns the cost of a fire of the timer in this block by its own stated
	// numbers; the protocol's default stands in for a bidder's.
	priceOf(b *InBlock, t *types.Timer) feemarket.Price
	// insolventEnds reports whether a payer who cannot hold max_cost ends the
	// timer, or defers it.
	insolventEnds() bool
	// openRun begins the policy's part in a block, and brings what it keeps in
	// state to that block: decay, epochs.
	openRun(r *laneRun) policyRun
}

// policyRun is a policy at work in one block. Its methods are called in this
// order, once, by RunLane.
type policyRun interface {
	// quotePrices prices each due timer that has not expired, asking its bidder if it has
	// one. An error comes from the environment.
	quotePrices() error
	// fillLane parts the timers that may fire, by their places in laneRun.due, into
	// those that get a turn and those that do not.
	fillLane(ready []int) plan
	// closeRun keeps what the next block will ask for: counters, weights.
	closeRun()
}

// plan lists the timers that get a turn in a block.
type plan struct {
	turns  iter.Seq[turn] // who has a turn, in order; each turn is over before the next is asked for
	passed []passedOver
}

// turn is the turn of one timer.
type turn struct {
	at      int       // the timer's place in laneRun.due
	payment types.Wei // the proposer's share on top of the price, from an auction's winner
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

// quote is a policy's price of a due timer before the block classifies it.
type quote struct {
	price     feemarket.Price // the price of the fire's use; its tip is the priority
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
// parameter is set, so an *Error here is a bug of a caller that skipped that check.
func policyOf(p *params.Params) (policy, error) {
	policy, ok := policies[p.Policy]
	if !ok {
		return nil, newError(CodePolicyUnsupported, "T25", "the lane has no policy %q", p.Policy)
	}
	return policy, nil
}

// BeforeTransactions reports whether the lane of p's policy comes before the
// transactions of a block, and not after (decision T3).
func BeforeTransactions(p *params.Params) bool { return p.Policy == GBA }

// Free reports whether fires cost nothing, which CIP-5 §6.3 allows only for fifo: a
// chain that began free is so until another policy is activated (decision T2).
func Free(p *params.Params) bool { return p.FreeFires() }

// FireLimit returns the limits of a fire under p's policy: the timer's limit,
// clamped to the current cap if that was lowered since it was scheduled (decision
// T5), and max_cells_per_fire (CIP-5 §6.2).
func FireLimit(p *params.Params, gasLimit types.Cycles) (types.Cycles, types.Cells) {
	policy, err := policyOf(p)
	if err != nil {
		return 0, 0
	}
	return policy.limitsOfFire(p, gasLimit)
}

// MaxCost returns the maximum cost of a fire of the timer in this block, in wei, by
// its own stated numbers: 0 if fires are free, and types.MaxWei if the sum
// overflows.
func (b *InBlock) MaxCost(t *types.Timer) types.Wei {
	policy, err := policyOf(b.Params)
	if err != nil {
		return types.MaxWei
	}
	price := policy.priceOf(b, t)
	cycles, cells := policy.limitsOfFire(b.Params, t.GasLimit)
	cost, _ := costOf(&price, cycles, cells)
	return cost
}
