package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The words of priority_tier_hint (CIP-1 §7.3).
const (
	TierEconomy  = "economy"
	TierStandard = "standard"
	TierFast     = "fast"
	TierUrgent   = "urgent"
)

// resolveTier resolves a hint of CIP-1 §7.3 to a tip: the median tip of the block
// before times the tier's multiplier, rounded down, at most 2^256 - 1 (decision
// T14).
//
// Vectors: fixtures/vectors/cip1/7.3-hints.json.
func (b *InBlock) resolveTier(t *types.Timer, tier string) error {
	if tier == "" {
		return nil
	}
	p := b.Params
	permille, known := map[string]uint64{TierEconomy: p.TierEconomy, TierStandard: p.TierStandard,
		TierFast: p.TierFast, TierUrgent: p.TierUrgent}[tier]
	if !known {
		return newError(CodePriorityTier, "CIP-1 §7.3", "priority_tier_hint is %.32q; the tiers are %s, %s, %s and %s",
			tier, TierEconomy, TierStandard, TierFast, TierUrgent)
	}
	if t.MaxPriorityFeePerCycle != nil {
		return newError(CodePriorityTwice, "CIP-1 §7.3", "both max_priority_fee_per_cycle, %s, and priority_tier_hint, %s, are given: leave one "+
			"out",
			t.MaxPriorityFeePerCycle, tier)
	}
	tip, ok := previousP50(b.KV, b.Height).MulDiv(types.WeiOf(permille), types.WeiOf(1000))
	if !ok {
		tip = types.MaxWei
	}
	t.MaxPriorityFeePerCycle = &tip
	return nil
}

// boundFees is CIP-1 §6's validation, under eip1559: a max fee below the lane's
// base fee is refused, and a priority above what it leaves room for is clamped.
// Without a max fee nothing is clamped (decision T27); under the other policies
// fees are kept unchecked (decision T25).
func (b *InBlock) boundFees(t *types.Timer) error {
	if b.Params.Policy != EIP1559 || t.MaxFeePerCycle == nil {
		return nil
	}
	if t.MaxFeePerCycle.Less(b.Fees.Lane) {
		return newError(CodeBelowBaseFee, "CIP-1 §6", "max_fee_per_cycle is %s wei, and the base fee of the timer lane %s", t.MaxFeePerCycle,
			b.Fees.Lane)
	}
	room := t.MaxFeePerCycle.Sub(b.Fees.Lane)
	if t.MaxPriorityFeePerCycle != nil && room.Less(*t.MaxPriorityFeePerCycle) {
		t.MaxPriorityFeePerCycle = &room
	}
	return nil
}

// priorityClampEvent returns the event that boundFees lowered the stated priority.
func priorityClampEvent(t *types.Timer, stated *types.Wei) []types.Event {
	if stated == nil || *stated == *t.MaxPriorityFeePerCycle {
		return nil
	}
	return []types.Event{newEvent(EventPriorityClamped,
		PriorityClamped{TimerID: t.ID, Stated: *stated, Clamped: *t.MaxPriorityFeePerCycle})}
}

// reserveMaxCost warns where the actor pays for a timer and holds less than its max_cost
// for each timer it has pending: some of them may end unfired.
//
// Spec: CIP-1 §13.1, "at least one max_cost reserve per pending timer".
func (b *InBlock) reserveMaxCost(t *types.Timer, pending uint64) []types.Event {
	if Free(b.Params) || t.FeePayer != t.Actor {
		return nil
	}
	required, ok := b.MaxCost(t).MulOk(pending)
	if !ok {
		required = types.MaxWei
	}
	balance := b.Books.Balance(t.Actor)
	if !balance.Less(required) {
		return nil
	}
	return []types.Event{newEvent(EventReserveLow,
		ReserveLow{Actor: t.Actor, Pending: pending, Required: required, Balance: balance})}
}
