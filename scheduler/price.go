package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// bid is what a timer pays at most a cycle of the lane, in wei: stated when it
// was scheduled, or answered by its bidder. A number that was not given is nil.
type bid struct {
	maxFee   *types.Wei // lane base fee and priority together (decision T13)
	priority *types.Wei // the proposer's part of it, at most
}

func (d *dueTimer) statedBid() bid { return bid{d.MaxFeePerCycle, d.MaxPriorityFeePerCycle} }

func (b bid) isWhole() bool { return b.maxFee != nil && b.priority != nil }

// orElse fills in the numbers that b leaves open, each separately (decision T14).
func (b bid) orElse(other bid) bid {
	if b.maxFee == nil {
		b.maxFee = other.maxFee
	}
	if b.priority == nil {
		b.priority = other.priority
	}
	return b
}

// defaultBid returns the bid of the default GBA of CIP-1 §7.1: twice the lane's
// base fee, at most 2^256 - 1, and the median tip of the block before. The cell
// side of §7.1 has no effect: a fire's cells cost their base fee (decision T13).
func (b *InBlock) defaultBid(p50 types.Wei) bid {
	most, ok := b.Fees.Lane.MulOk(b.Params.DefaultFeeMultiple)
	if !ok {
		most = types.MaxWei
	}
	return bid{&most, &p50}
}

// DefaultAtSchedule is the value of cip1.default_bid_at under which eip1559
// supplies the default bid when a timer is scheduled.
const DefaultAtSchedule = "schedule"

// supplyDefault states for a new timer the numbers that it leaves open, each
// separately, if cip1.default_bid_at chooses the time of scheduling. The cap is
// then twice the base fee of that block, and the tip the median of the block
// before. Numbers that an agent prices, the timer's own or its actor's, stay open
// for that agent.
//
// Spec: CIP-1 §3 step 3, §6, decision T14. **Finding**: §7 and §7.1 ask at the fire.
func (b *InBlock) supplyDefault(t *types.Timer) {
	if b.Params.DefaultBidAt != DefaultAtSchedule || b.Params.Policy != EIP1559 || t.GBA != nil || gasBidder(b.KV, t.Actor) != nil {
		return
	}
	whole := bid{t.MaxFeePerCycle, t.MaxPriorityFeePerCycle}.orElse(b.defaultBid(previousP50(b.KV, b.Height)))
	t.MaxFeePerCycle, t.MaxPriorityFeePerCycle = whole.maxFee, whole.priority
}

// lanePrice is what a fire costs in this block by a bid, the default one where
// that leaves something open:
//
//	priority_per_cycle = min(max_priority_fee_per_cycle, max_fee_per_cycle − basefee_lane_timer)
//
// pricedOut is a bid whose max fee is below the lane's base fee; the price is
// then without tip, by which the timer is classified (decision T27). Where fires
// are free the price is 0.
//
// Spec: CIP-1 §3 steps 6 and 8, decisions T13, T14. **Deviation**: max_cost
// holds the lane's base fee too, which step 8 omits.
// Vectors: fixtures/vectors/cip1/6-prices.json.
func (b *InBlock) lanePrice(stated bid, p50 types.Wei) (price feemarket.Price, pricedOut bool) {
	price = b.plainPrice()
	if Free(b.Params) {
		return price, false
	}
	whole := stated
	if !stated.isWhole() {
		whole = stated.orElse(b.defaultBid(p50))
	}
	tip, ok := feemarket.Tip(*whole.maxFee, *whole.priority, b.Fees.Lane)
	price.BaseFeeLane, price.TipCycle = b.Fees.Lane, tip
	return price, !ok
}
