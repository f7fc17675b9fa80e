package feemarket

import (
	"testing"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/types"
)

type vector struct {
	Base    types.Wei
	Used    uint64 `json:",string"`
	Limit   uint64 `json:",string"`
	Budget  uint64 `json:",string"`
	Divisor uint64 `json:",string"`
	Min     types.Wei
	Next    types.Wei
}

// CIP-3, decision C14.
func TestC14BaseFeeVectors(t *testing.T) {
	for _, v := range vectors.Cases[vector](t, "cip3/basefee.json") {
		if got := Next(v.Base, v.Used, v.Limit, v.Divisor, v.Min); got != v.Next {
			t.Errorf("Next(%s, %d of %d, /%d, min %s) = %s, want %s", v.Base, v.Used, v.Limit, v.Divisor, v.Min, got, v.Next)
		}
	}
}

// CIP-1 §5, decision T12.
func TestT12LaneBaseFeeVectors(t *testing.T) {
	for _, v := range vectors.Cases[vector](t, "cip1/5-basefee.json") {
		got := NextLane(v.Base, types.Cycles(v.Used), types.Cycles(v.Budget), v.Divisor, v.Min)
		if got != v.Next {
			t.Errorf("NextLane(%s, %d of %d, /%d, min %s) = %s, want %s", v.Base, v.Used, v.Budget, v.Divisor, v.Min, got, v.Next)
		}
	}
}

// Decision C14, finding: plain truncation freezes the fee below 8 wei. CIP-3's rule
// is written out here: a full block leaves such a fee unchanged, permanently. The
// implemented rule leaves the floor and rises.
func TestC14FindingTruncationAloneFreezesBelowEightWei(t *testing.T) {
	const limit = 20_000_000
	for base := uint64(1); base < 8; base++ {
		if asWritten := base + base*limit/(limit*8); asWritten != base {
			t.Errorf("truncated, %d wei rises to %d after a full block", base, asWritten)
		}
		if got := Next(types.WeiOf(base), limit, limit, 8, types.WeiOf(1)); got != types.WeiOf(base+1) {
			t.Errorf("%d wei becomes %s after a full block, want 1 more", base, got)
		}
		if got := NextLane(types.WeiOf(base), 2_000_000, 2_000_000, 8, types.WeiOf(1)); got != types.WeiOf(base+1) {
			t.Errorf("of the lane %d wei becomes %s after a full block, want 1 more", base, got)
		}
	}
}

// CIP-1 §5: target utilisation 0.5: there the fee stays, one cycle away it
// moves or is truncated.
func TestCIP1Section5TargetIsHalf(t *testing.T) {
	base, one := types.WeiOf(1_000_000_000), types.WeiOf(1)
	if got := NextLane(base, 1_000_000, 2_000_000, 8, one); got != base {
		t.Errorf("at half the budget %s becomes %s", base, got)
	}
	if got := NextLane(base, 1_000_001, 2_000_000, 8, one); got != types.WeiOf(1_000_001_000) {
		t.Errorf("a cycle above half: %s", got)
	}
	if got := NextLane(base, 999_999, 2_000_000, 8, one); got != types.WeiOf(999_999_000) {
		t.Errorf("a cycle below half: %s", got)
	}
}

// Decision T12, finding: the clip is reached at 43.75 % and 56.25 %.
func TestT12FindingTheClipIsNear(t *testing.T) {
	const budget = 2_000_000
	base, one := types.WeiOf(8_000_000), types.WeiOf(1)
	up, down := types.WeiOf(9_000_000), types.WeiOf(7_000_000)
	for used, want := range map[types.Cycles]types.Wei{
		0: down, budget * 4375 / 10_000: down, budget * 5625 / 10_000: up, budget: up,
		budget*4375/10_000 + 1: types.WeiOf(7_000_008), budget*5625/10_000 - 1: types.WeiOf(8_999_992),
	} {
		if got := NextLane(base, used, budget, 8, one); got != want {
			t.Errorf("%d of %d used: %s, want %s", used, budget, got, want)
		}
	}
}

// CIP-3: tip = min(max_priority_fee, max_fee - basefee).
func TestCIP3TipIsTheLesserOfPriorityAndRoom(t *testing.T) {
	for _, c := range []struct {
		maxFee, priority, base, tip uint64
		ok                          bool
	}{
		{100, 10, 50, 10, true}, {100, 60, 50, 50, true}, {100, 0, 50, 0, true},
		{50, 10, 50, 0, true}, {49, 10, 50, 0, false}, {0, 0, 0, 0, true}, {0, 5, 1, 0, false},
	} {
		tip, ok := Tip(types.WeiOf(c.maxFee), types.WeiOf(c.priority), types.WeiOf(c.base))
		if tip != types.WeiOf(c.tip) || ok != c.ok {
			t.Errorf("Tip(%d, %d, %d) = %s, %v, want %d, %v", c.maxFee, c.priority, c.base, tip, ok, c.tip, c.ok)
		}
	}
}

// CIP-1 §3 step 8 with decision T13: max_cost holds the cycle base fee, the lane's,
// the tip and the cells; the unused part is refunded.
func TestCIP1Section3Step8ChargeAndRefund(t *testing.T) {
	price := Price{BaseFeeCycle: types.WeiOf(1000), BaseFeeLane: types.WeiOf(300), BaseFeeCell: types.WeiOf(7), TipCycle: types.WeiOf(20)}
	charge, ok := NewCharge(price, 250_000, 550_000)
	if want := types.WeiOf(250_000*(1000+300+20) + 550_000*7); !ok || charge.Total != want {
		t.Fatalf("charge %s, %v, want %s", charge.Total, ok, want)
	}
	cost, refund := charge.Settle(100_000, 64)
	want := Cost{BurnedCycle: types.WeiOf(100_000_000), BurnedLane: types.WeiOf(30_000_000), BurnedCell: types.WeiOf(448),
		Tip: types.WeiOf(2_000_000)}
	if cost != want {
		t.Errorf("cost %v, want %v", cost, want)
	}
	if refund != types.WeiOf(150_000*1320+(550_000-64)*7) {
		t.Errorf("refund %s", refund)
	}
}

// Decision C14, finding: a decrease is truncated to nothing below 8 wei, so a fee
// that comes from above rests at 7 and never reaches the floor of 1.
func TestC14FindingAFallingFeeRestsAtSevenWei(t *testing.T) {
	base := types.WeiOf(1000)
	for range 200 {
		base = Next(base, 0, 20_000_000, 8, types.WeiOf(1))
	}
	if base != types.WeiOf(7) {
		t.Errorf("after 200 empty blocks the fee is %s", base)
	}
}

// Decision T12, a proposal: the gain is 1 as written, and an eighth of it moves the fee by
// an eighth as much until the clip.
func TestT12TheGainScalesTheChange(t *testing.T) {
	base, one := types.WeiOf(1_000_000_000), types.WeiOf(1)
	for _, c := range []struct {
		used types.Cycles
		gain uint64
		want uint64
	}{
		{2_000_000, 1000, 1_125_000_000}, {2_000_000, 125, 1_125_000_000}, {1_500_000, 1000, 1_125_000_000}, {1_500_000, 125, 1_062_500_000},
		{0, 125, 875_000_000},
		{900_000, 125, 987_500_000}, {900_000, 1000, 900_000_000}, {1_000_000, 125, 1_000_000_000}, {2_000_000, 0, 1_000_000_000},
	} {
		if got := NextLaneByGain(base, c.used, 2_000_000, 8, c.gain, one); got != types.WeiOf(c.want) {
			t.Errorf("after %d of 2000000 cycles, at a gain of %d/1000, the fee is %s, want %d", c.used, c.gain, got, c.want)
		}
	}
}
