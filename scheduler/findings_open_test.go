package scheduler

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Questions that CIP-1 leaves to its authors, shown with figures. docs/SPEC.md,
// section Findings, asks them.

// CIP-1 §6 clamps a priority permanently when it is stated. A bid of up to 1,100
// with a tip of 800, stated at a base fee of 1,000, tips 100 at a base fee of 7,
// though it has room for 1,093, and loses to a tip of 101. §3 step 6 takes the
// minimum at the fire anyway, so the clamp only loses.
func TestFindingAPriorityIsClampedForEver(t *testing.T) {
	w := lane1559()
	w.p.LaneTimerCycles = 1000
	w.must(t, alice, program.TimerRequest{Height: 3, MaxFeePerCycle: wei(1100), MaxPriorityFeePerCycle: wei(800),
		GasLimit: ptr(types.Cycles(1000))})
	w.fees.Lane = types.WeiOf(7)
	w.block()
	w.must(t, bob, program.TimerRequest{Height: 3, MaxFeePerCycle: wei(1100), MaxPriorityFeePerCycle: wei(101),
		GasLimit: ptr(types.Cycles(1000))})
	w.block()
	w.block()
	if len(w.orders) != 1 || w.orders[0].Timer.Actor != bob || w.orders[0].Price.TipCycle != types.WeiOf(101) {
		t.Errorf("%+v", w.orders)
	}
	unclamped, _ := w.blockNow().lanePrice(bid{wei(1100), wei(800)}, types.Wei{})
	if unclamped.TipCycle != types.WeiOf(800) {
		t.Errorf("a tip of 800 has room for %s", unclamped.TipCycle)
	}
}

// CIP-1 §6 refuses a max fee below the base fee of the block that schedules,
// though the timer is due in thirty days: at 7 wei a max fee of 6 is refused, and
// the same at 6 wei is taken, waits at 7 and fires at 5.
func TestFindingTodaysBaseFeeJudgesATimerOfNextMonth(t *testing.T) {
	w := lane1559()
	w.fees.Lane = types.WeiOf(7)
	far := program.TimerRequest{Height: 2_000_000, MaxFeePerCycle: wei(6), MaxPriorityFeePerCycle: wei(0)}
	if _, err := w.schedule(alice, far); codeOf(err) != CodeBelowBaseFee {
		t.Fatalf("%v", err)
	}
	w.fees.Lane = types.WeiOf(6)
	w.must(t, alice, far)
	near := far
	near.Height = 2
	w.must(t, alice, near)
	w.block()
	for _, c := range []struct{ fee, fires uint64 }{{7, 0}, {5, 1}} {
		w.fees.Lane = types.WeiOf(c.fee)
		w.block()
		if uint64(len(w.orders)) != c.fires {
			t.Errorf("at a base fee of %d %d fire", c.fee, len(w.orders))
		}
	}
}

// CIP-1 §7.3: a hint is a multiple of the median of the block that schedules, and
// stays: an urgent timer of a quiet block states a tip of 0, and twenty that said
// nothing go before it when the median is 900.
func TestFindingAHintOfAQuietBlockIsWorthNothing(t *testing.T) {
	c := newCrowd()
	c.fund(alice, types.WeiOf(1<<60))
	urgent := c.must(t, alice, program.TimerRequest{Height: 4, PriorityTier: TierUrgent, GasLimit: ptr(types.Cycles(1000))})
	if *urgent.MaxPriorityFeePerCycle != (types.Wei{}) {
		t.Fatalf("it tips %s", urgent.MaxPriorityFeePerCycle)
	}
	c.step(t)
	c.add(t, carol, 10, 900) // of block 3
	c.step(t)
	c.add(t, bob, 20, -1) // of block 4
	c.step(t)
	for block := 4; block < 6; block++ {
		c.step(t)
		for _, o := range c.orders {
			if o.Timer.Actor != bob || o.Price.TipCycle != types.WeiOf(900) {
				t.Errorf("in block %d a timer of %s fires with a tip of %s", block, o.Timer.Actor, o.Price.TipCycle)
			}
		}
		if len(c.orders) != 10 {
			t.Errorf("in block %d %d fire", block, len(c.orders))
		}
	}
}

// CIP-1 §9: who cannot hold max_cost in the block in which a timer is due loses it
// for good. A fee of cells that is a thousandth higher for that one block ends a
// timer that was covered in the block before, and would be in the one after.
func TestFindingAPeakOfOneBlockEndsATimerForGood(t *testing.T) {
	w := lane1559()
	timer := w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000))})
	w.fund(alice, w.blockNow().MaxCost(&timer))
	w.block()
	w.fees.Cell = types.WeiOf(1001)
	out := w.block()
	w.fees.Cell = types.WeiOf(1000)
	if len(out.Changes) != 1 || out.Changes[0].Status != types.TimerInsufficientFunds {
		t.Fatalf("%v", statuses(out))
	}
	if need := w.blockNow().MaxCost(&timer); w.balances[alice].Less(need) || pendingCount(w.kv, alice) != 0 {
		t.Errorf("%s wei are held and %s are needed; %d timers are pending", w.balances[alice], need, pendingCount(w.kv, alice))
	}
}

// CIP-1 §7.2: an agent is told what the owner holds, and not what the fee payer
// does, who pays. An agent that tips by the owner's means prices a timer out of its
// sponsor's means: it ends, where one without a tip fires.
func TestFindingAnAgentIsNotToldWhatThePayerHolds(t *testing.T) {
	for tip, want := range map[uint64]types.TimerStatus{0: types.TimerFired, 1: types.TimerInsufficientFunds} {
		w := lane1559()
		w.answer = func(_ *world, q BidCall) Answer {
			var told GBAContext
			if err := codec.Unmarshal(q.Context, 1000, &told); err != nil {
				t.Fatal(err)
			}
			offer := told.OwnerBalance.Div(1 << 20).Mul(tip) // a millionth of the balance in its context, or nothing
			most := offer.Add(told.BaseFeeLaneTimer)
			return Answer{Output: codec.Marshal(&TxFeeParams{MaxFeePerCycle: &most, MaxPriorityFeePerCycle: &offer})}
		}
		timer, _, err := w.blockNow().Schedule(alice, signedBy(bob, types.WeiOf(1<<58)),
			program.TimerRequest{Height: 2, GBA: &carol, FeePayer: &bob})
		if err != nil {
			t.Fatal(err)
		}
		w.fund(bob, w.blockNow().MaxCost(&timer))
		w.block()
		if out := w.block(); len(out.Changes) != 1 || out.Changes[0].Status != want {
			t.Errorf("with a tip of %d millionths of the owner's balance: %v", tip, statuses(out))
		}
	}
}
