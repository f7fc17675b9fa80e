package crowd

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// tippedBlocks plays the owner of some of four validators, who tips 1,000 wei a cycle, beside three actors who tip 100. It returns by how
// much the accounts of the first so many validators grew.
func tippedBlocks(t *testing.T, owned int, isInEveryBlock bool) (room *Room, owner, others *Crowd, grown types.Wei) {
	t.Helper()
	owner = SelfTippers("owner", owned, 5, isInEveryBlock, Price{Tip: 1000})
	others = Quiet("others", 3, 1, Price{Tip: 100})
	room = open(t, Config{Seed: 1, Fires: 10, Validators: 4, Crowds: []*Crowd{owner, others},
		Params: params.Overrides{"cip1.lane_basefee_gain_permille": "0"}})
	run(t, room, 8)
	room.Reset()
	balances := func() (sum types.Wei) {
		for _, validator := range room.World.Head().Validators().Members[:owned] {
			sum = sum.Add(room.World.Head().Account(validator.Address).Balance)
		}
		return sum
	}
	before := balances()
	run(t, room, 40)
	if err := room.World.Audit(); err != nil {
		t.Error(err)
	}
	return room, owner, others, balances().Sub(before)
}

// The tips of an owner in the blocks of its own validators are on their accounts again, with those of the others.
func TestTipsOfOwnBlocksComeBack(t *testing.T) {
	for owned := range 3 {
		_, owner, others, grown := tippedBlocks(t, owned, false)
		if want := uint64(5 * 10 * owned); owner.Counts.Fired != want || others.Counts.Fired != 3*40 {
			t.Errorf("%d of four: the owner fires %d times and others %d, want %d and 120", owned, owner.Counts.Fired, others.Counts.Fired, want)
		}
		if owner.Counts.Tips.Cmp(owner.Counts.Returned) != 0 {
			t.Errorf("%d of four: of %s wei of tips %s come back, want all", owned, owner.Counts.Tips, owner.Counts.Returned)
		}
		if want := types.WeiOf(uint64(owned) * 10 * (5*1000 + 3*100) * fireCycles); owner.Counts.Earned.Cmp(want) != 0 ||
			grown.Cmp(want) != 0 {
			t.Errorf("%d of four: the validators earned %s and have %s more, want %s", owned, owner.Counts.Earned, grown, want)
		}
	}
}

// In every block a quarter of the tips comes back to who has one of four validators.
func TestAQuarterOfTheTipsOfAllBlocksComesBack(t *testing.T) {
	_, owner, _, _ := tippedBlocks(t, 1, true)
	if owner.Counts.Fired != 5*40 || owner.Counts.Returned.Mul(4).Cmp(owner.Counts.Tips) != 0 {
		t.Errorf("%d fires tip %s wei, of which %s come back, want 200 and a quarter", owner.Counts.Fired, owner.Counts.Tips,
			owner.Counts.Returned)
	}
}
