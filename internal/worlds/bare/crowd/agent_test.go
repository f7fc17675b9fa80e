package crowd

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// tipping plays users of a lane of five fires; those with agents outbid by some thousandths.
func tipping(t *testing.T, agents, others int, raise uint64) (room *Room, with, without *Crowd) {
	t.Helper()
	const top = 1_000_000
	none := uint64(0)
	bids := Bids{Top: top, Patience: &none, AreTips: true}
	without = Bidders("without", others, bids)
	bids.RaisePermille = &raise
	with = Bidders("with", agents, bids)
	room = open(t, Config{Seed: 2, Fires: 5, Crowds: []*Crowd{with, without},
		Params: params.Overrides{"cip1.lane_basefee_gain_permille": "0"}})
	run(t, room, 30)
	room.Reset()
	run(t, room, 50)
	if err := room.World.Audit(); err != nil {
		t.Error(err)
	}
	return room, with, without
}

// Without a fee that moves, a lane is full, and who has an agent fires before who tips nothing, for 1 wei a cycle. The chain asks for each
// of their timers.
func TestAnAgentOutbidsWhoTipsNothing(t *testing.T) {
	room, with, without := tipping(t, 2, 10, 0)
	if with.Counts.Fired != 100 || without.Counts.Fired != 150 {
		t.Errorf("%d fires with agents and %d without, want 100 and 150: all, and the rest of the lane", with.Counts.Fired, without.Counts.Fired)
	}
	if want := types.WeiOf(100 * fireCycles); with.Counts.Tips.Cmp(want) != 0 {
		t.Errorf("agents tip %s wei, want %s: 1 a cycle, since the median tip is of who tips nothing", with.Counts.Tips, want)
	}
	if room.Asked() == 0 || room.Asked() > 100*20_000 {
		t.Errorf("agents used %d cycles for 100 questions", room.Asked())
	}
}

// Agents that outbid one another raise the median by their share from block to block, as far as worths allow.
func TestAgentsOutbidOneAnother(t *testing.T) {
	room, _, _ := tipping(t, 12, 1, 1000)
	if median, fits := room.MedianTip().Uint64(); !fits || median < 200_000 || median > 1_000_000 {
		t.Errorf("the median tip is %s wei, want what a user can pay: some share of 1,000,000", room.MedianTip())
	}
}

// Other crowds have no agents: nobody asks them.
func TestMembersWithoutAgentsAreNotAsked(t *testing.T) {
	room := open(t, Config{Seed: 1, Fires: 5, Crowds: []*Crowd{Tiers("tiers", 5, 500, 1, 100)}})
	run(t, room, 20)
	if room.Asked() != 0 {
		t.Errorf("agents used %d cycles", room.Asked())
	}
}
