package scheduler

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The first revision moves a weight toward a score that is normalized, while its
// bounds are 500..2,000 around 1,000 (decision T23): a score is at most 1,000, so
// no weight ever rises above where it started, and the upper half of the range is
// never reached. Participation only lowers a weight, compared with idle and new
// actors: an actor that fires all its timers in time, with the highest tips, falls
// to 750 and shares a block with a stranger four to three.
func TestFindingTakingPartOnlyCostsWeight(t *testing.T) {
	p := newWorld().p
	perfect := actorWeight{Turns: 1, Fires: 1, Tips: types.WeiOf(1), Late: p.GBAFloorAfter, Budget: 1}
	if score := perfect.scoreOf(&p, types.WeiOf(1)); score != 1000 {
		t.Fatalf("the best score is %d", score)
	}

	w := revision()
	w.p.CalendarEpochBlocks = 10
	w.handle = func(_ *world, o Fire) Fired { return Fired{Result: types.StatusOK, Cycles: 1000} }
	for range 300 {
		w.must(t, alice, program.TimerRequest{Height: w.now() + 1, GasLimit: ptr(types.Cycles(1000)),
			MaxFeePerCycle: ptr(types.WeiOf(5000)), MaxPriorityFeePerCycle: ptr(types.WeiOf(3))})
		w.block()
	}
	if got := actorWeightOf(w.blockNow(), alice).Weight; got != 750 {
		t.Fatalf("alice's weight is %d", got)
	}
	w.must(t, alice, program.TimerRequest{Height: w.now() + 1})
	w.must(t, bob, program.TimerRequest{Height: w.now() + 1})
	w.block()
	_, parts := w.revisionOrder()
	if parts[alice]*4/3 > parts[bob] || parts[bob] != 1_142_857 {
		t.Fatalf("slices %v", parts)
	}
}
