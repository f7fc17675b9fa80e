package ledger

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// CIP-1 §13.2, decisions T12 and T25: the lane's base fee equals the cycle's before
// activation and in the block that activates; from then on it follows only the
// lane.
func TestTheLaneFeeStartsAtTheCycles(t *testing.T) {
	fifo, hybrid := params.Defaults(), params.Defaults()
	fifo.Policy, hybrid.Policy = scheduler.Fifo, scheduler.EIP1559
	fees := BaseFees{Cycle: types.WeiOf(800), Cell: types.WeiOf(800), LaneTimer: types.WeiOf(800)}
	full := utilisation{cycles: 10_000_000, lane: 2_000_000} // half a block, all of the lane
	for _, c := range []struct {
		name      string
		p, before *params.Params
		used      utilisation
		lane      uint64
	}{
		{"fifo", &fifo, &fifo, full, 800},
		{"the block that activates", &hybrid, &fifo, full, 800},
		{"a full lane", &hybrid, &hybrid, full, 900},
		{"an empty lane", &hybrid, &hybrid, utilisation{cycles: 20_000_000}, 700},
		{"half a lane", &hybrid, &hybrid, utilisation{lane: 1_000_000}, 800},
	} {
		if got := nextFees(c.p, c.before, fees, c.used).LaneTimer; got != types.WeiOf(c.lane) {
			t.Errorf("%s: %s wei, want %d", c.name, got, c.lane)
		}
	}
}

// Decision C8: a skipped height does to the lane's fee what an empty block does.
func TestSkippedHeightsLowerTheLaneFee(t *testing.T) {
	p := params.Defaults()
	p.Policy = scheduler.EIP1559
	s := &State{params: &p, next: &p}
	s.header.BaseFeeCycle, s.header.BaseFeeCell, s.header.BaseFeeLaneTimer = types.WeiOf(1000), types.WeiOf(1000), types.WeiOf(64_000)
	s.header.TimerCyclesUsed = p.LaneTimerCycles
	for skipped := range uint64(100) {
		walked := &State{params: &p, next: &p, header: s.header}
		for range skipped {
			fees := walked.feesAfter(0, &p)
			walked.header = types.Header{BaseFeeCycle: fees.Cycle, BaseFeeCell: fees.Cell, BaseFeeLaneTimer: fees.LaneTimer}
		}
		if got, want := s.feesAfter(skipped, &p), walked.feesAfter(0, &p); got != want {
			t.Fatalf("%d heights skipped: %v, walked: %v", skipped, got, want)
		}
	}
}

// Decision T12: the multiplier's product is rounded down and stops at the
// greatest amount.
func TestTheLaneFeeMultiplier(t *testing.T) {
	p := params.Defaults()
	for _, c := range []struct {
		permille uint64
		base     types.Wei
		want     types.Wei
	}{
		{1000, types.WeiOf(7), types.WeiOf(7)},
		{999, types.WeiOf(7), types.WeiOf(6)},
		{0, types.WeiOf(7), types.Wei{}},
		{1_000_000, types.WeiOf(7), types.WeiOf(7000)},
		{1001, types.MaxWei, types.MaxWei},
		{1000, types.MaxWei, types.MaxWei},
	} {
		p.LaneFeePermille = c.permille
		if got := LaneCharge(&p, c.base); got != c.want {
			t.Errorf("%d thousandths of %s: %s, want %s", c.permille, c.base, got, c.want)
		}
	}
}
