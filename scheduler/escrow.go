package scheduler

import (
	"math"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// takeBid settles what a stated bid, in wei, means to the timer. An auction
// locks it in the escrow, where it stays until the timer ends (CIP-5 §9.7).
// Under other policies it is refused if the window of CIP-1 §6 has closed, and
// otherwise ignored with a warning: nothing is locked, so nothing may count when a
// policy that reads bids takes over. A bid of 0 is a bid.
//
// Decisions T22, T25. Vectors: fixtures/vectors/cip1/6-schedule.json.
func (b *InBlock) takeBid(t *types.Timer, signed *types.Sponsorship, stated *types.Wei) ([]types.Event, error) {
	switch {
	case stated == nil:
		return nil, nil
	case isAuction(b.Params):
		return nil, b.lockBid(t, signed, *stated)
	case rejectsBids(b.Params, b.Height):
		return nil, newError(CodeArgDeprecated, "CIP-1 §6, T22",
			"bid is withdrawn under the policy %s; state max_fee_per_cycle and max_priority_fee_per_cycle instead", b.Params.Policy)
	}
	return []types.Event{bidIgnoredEvent(t.ID, *stated)}, nil
}

// lockBid moves a bid from the fee payer into the escrow. InBlock.releaseBid is what
// brings it back.
func (b *InBlock) lockBid(t *types.Timer, signed *types.Sponsorship, bid types.Wei) error {
	if t.Sponsor != nil {
		if left := b.allowanceOf(signed).Left; left.Less(bid) {
			return newError(CodeBidNotCovered, "CIP-5 §9.7, T28",
				"the transaction's sponsor has %s wei left, less than the bid of %s wei that the timer locks", left, bid)
		}
	}
	if !bid.IsZero() && !b.Books.Move(t.FeePayer, types.TimerEscrow, bid) {
		return newError(CodeBidNotCovered, "CIP-5 §9.7, T24", "fee_payer %s holds %s wei, less than the bid of %s wei that the timer locks",
			t.FeePayer, b.Books.Balance(t.FeePayer), bid)
	}
	t.Bid = bid
	return nil
}

// releaseBid returns what is left of a timer's locked bid to its payer, and to the
// allowance that it came from.
func (b *InBlock) releaseBid(e *Entry, left types.Wei) {
	if !left.IsZero() && !b.Books.Move(types.TimerEscrow, e.FeePayer, left) {
		panic("scheduler: the escrow does not hold the bid of timer " + e.ID.String())
	}
	b.restoreAllowance(e, e.FeePayer, left)
}

// LockedBids is what the bids of all pending timers add up to, which the escrow
// holds. It reads every timer.
func LockedBids(p *params.Params, kv KV) (sum types.Wei) {
	for _, e := range CalendarOf(p, kv).Due(math.MaxUint64, math.MaxUint64) {
		sum = sum.Add(e.Bid)
	}
	return sum
}

// rejectsBids reports whether the window in which a bid is only ignored has closed:
// at bid_rejected_from, or, if that is 0, at the activation of eip1559.
func rejectsBids(p *params.Params, now types.Height) bool {
	if p.BidRejectedFrom == 0 {
		return p.Policy == EIP1559
	}
	return now >= p.BidRejectedFrom
}

// isAuction reports whether p's policy is one of the biased auctions, which lock
// bids.
func isAuction(p *params.Params) bool { return p.Policy == BiasVCG || p.Policy == BiasFirstPrice }
