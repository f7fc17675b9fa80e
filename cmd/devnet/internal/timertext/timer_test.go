package timertext

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// someLane has an idle stretch, a switch of the policy, a leap and a full lane.
func someLane() []model.LaneBlock {
	lane := make([]model.LaneBlock, 9)
	for i := range lane {
		lane[i] = model.LaneBlock{Height: types.Height(9_995 + i), Policy: "fifo", Budget: 2_000_000, BaseFeeLaneTimer: types.WeiOf(1000)}
		if i >= 4 {
			lane[i].Policy = "eip1559"
		}
	}
	for i, fill := range []uint64{4: 0, 100, 500, 935, 1000} {
		l := &lane[i]
		l.Utilisation, l.TimerCyclesUsed = fill, types.Cycles(fill*2000)
		if i >= 4 {
			l.Examined, l.Fired, l.BaseFeeLaneTimer = 1, fill, types.WeiOf(1000+125*uint64(i-4))
		}
	}
	lane[8].Height, lane[8].Skipped, lane[8].Deferred, lane[8].Expired, lane[8].Insufficient = 11_000, 997, 1234, 3, 2
	lane[8].DeferredFor = []model.LaneDeferral{{Reason: "below_lane_basefee", Count: 4}, {Reason: "lane_full", Count: 1230}}
	lane[8].BurnedLaneTimer, lane[8].Tips = types.WeiOf(1_500_000_000), types.WeiOf(1)
	return lane
}

const pictureAt80 = `block  base fee          use    ½               fired  deferred  expired  unpaid
       policy fifo, 2,000,000 cycles a block; base fees in wei a cycle
 9995     1,000  4 blocks with nothing due, to 9998
       policy eip1559, 2,000,000 cycles a block; base fees in wei a cycle
 9999     1,000 ████▋           ┊           0%      ·         ·        ·       ·
10000     1,125 █████▎   █▌     ┊          10%    100         ·        ·       ·
10001     1,250 █████▊   ███████▓          50%    500         ·        ·       ·
10002     1,375 ██████▍  ███████▓██████    94%    935         ·        ·       ·
       997 heights skipped
11000     1,500 ███████  ███████▓███████  100%  1,000     1,234        3       2

9 blocks: 2,535 fired, 1,234 deferred, 3 expired, 2 unpaid
deferred: 4 below_lane_basefee, 1,230 lane_full
1.5 CBY burned for the lane, 0.000000001 CBY to proposers
`

func draw(lane []model.LaneBlock, width int) string {
	var b strings.Builder
	DrawLane(&b, lane, width)
	return b.String()
}

func TestThePictureOfTheLane(t *testing.T) {
	if got := draw(someLane(), 80); got != pictureAt80 {
		t.Errorf("drawn\n%s\nwant\n%s", got, pictureAt80)
	}
	if got := draw(nil, 80); got != "No blocks yet.\n" {
		t.Error(got)
	}
}

// Whatever the width, no line of a block is wider, and the bars have their ends.
func TestThePictureKeepsToItsWidth(t *testing.T) {
	for width := 78; width <= 200; width++ {
		for line := range strings.Lines(draw(someLane(), width)) {
			if strings.Contains(line, "%") && len([]rune(strings.TrimRight(line, "\n"))) > width {
				t.Fatalf("at %d columns: %q", width, line)
			}
		}
	}
}

func TestABarIsItsShare(t *testing.T) {
	for _, c := range []struct {
		width, filled, mark int
		want                string
	}{{4, 0, -1, "    "}, {4, 32, -1, "████"}, {4, 1, -1, "▏   "}, {4, 12, -1, "█▌  "}, {4, 12, 2, "█▌┊ "}, {4, 32, 2, "██▓█"}} {
		if got := drawBar(c.width, c.filled, c.mark); got != c.want {
			t.Errorf("%d eighths of %d: %q, want %q", c.filled, c.width, got, c.want)
		}
	}
	for in, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := words.Grouped(in); got != want {
			t.Errorf("%d is written %s", in, got)
		}
	}
}

func ref[T any](v T) *T { return &v }

// A story is told in lines that a person can follow to the wei.
func TestTheStoryOfATimer(t *testing.T) {
	s := model.TimerStory{Height: 130, Timer: model.Timer{ID: types.Hash{7}, Status: "fired", Height: 120, EndedAt: ref(types.Height(127)),
		Deferrals: 7,
		FeePaid:   types.WeiOf(2_895_344_000)}}
	fee := func(first, last, least, most uint64) *model.FeeRange {
		return &model.FeeRange{First: types.WeiOf(first), Last: types.WeiOf(last), Least: types.WeiOf(least), Most: types.WeiOf(most)}
	}
	s.Story = []model.StoryEntry{
		{Kind: model.StoryScheduled, From: 4, To: 4, Blocks: 1, Tier: "ring", ExpiresAt: ref(types.Height(2_592_004))},
		{Kind: model.StoryExtended, From: 9, To: 9, Blocks: 1, Reason: "extended_by_governance", ExpiresAt: ref(types.Height(2_592_009))},
		{Kind: model.StoryDeferred, From: 120, To: 124, Blocks: 5, Reason: "lane_full", Policy: "eip1559", Priority: ref(types.WeiOf(3)),
			Weight: "3/2", LaneFee: fee(1000, 1125, 1000, 1250)},
		{Kind: model.StoryBidFailed, From: 125, To: 125, Blocks: 1, Reason: "out_of_cycles", Bidder: &types.Address{9}},
		{Kind: model.StoryDeferred, From: 125, To: 125, Blocks: 1, Reason: "not_examined", Policy: "eip1559",
			LaneFee: fee(1000, 1000, 1000, 1000)},
		{Kind: model.StoryDeferred, From: 126, To: 126, Blocks: 1, Reason: "host_failed", Policy: "eip1559", LaneFee: fee(16, 16, 16, 16),
			Proposer: &types.Address{8}, Node: "v2"},
		{Kind: model.StoryFired, From: 127, To: 127, Blocks: 1, Policy: "eip1559", Priority: ref(types.WeiOf(2)), Weight: "1/1",
			LaneFee: fee(16, 16, 16, 16),
			Paid: &model.Settlement{Status: "ok", Payer: types.Address{1}, ProposerName: "v1", CyclesUsed: 100_000, CyclesLimit: 250_000,
				CellsUsed: 8, CellsLimit: 550_000,
				PerCycle: types.WeiOf(7), PerCycleLane: types.WeiOf(16), PerCell: types.WeiOf(7),
				Burned: model.Split{Cycle: types.WeiOf(700_000), LaneTimer: types.WeiOf(1_600_000), Cell: types.WeiOf(56)},
				Tip:    types.WeiOf(200_000), FeePaid: types.WeiOf(2_500_056), MaxCost: types.WeiOf(10_100_000), Refund: types.WeiOf(7_599_944)}},
	}
	const want = `block 4         scheduled, into the ring, expires at 2592004
block 9         extended by governance, expires at 2592009
blocks 120–124  deferred: lane_full, priority 3, weight 3/2, lane base fee 1,000 → 1,125 (1,000 to 1,250), 5 blocks
block 125       gas bidder 0x09000000 failed: out_of_cycles; the default bid counts
block 125       deferred: not_examined, lane base fee 1,000
block 126       deferred: host_failed at v2, lane base fee 16
block 127       fired: ok, priority 2, weight 1/1, lane base fee 16
                  used 100,000 of 250,000 cycles and 8 of 550,000 cells
                       0.0007 CBY  burned: cycle base fee, 100,000 × 7 wei
                       0.0016 CBY  burned: lane base fee, 100,000 × 16 wei
                  0.000000056 CBY  burned: cell base fee, 8 × 7 wei
                       0.0002 CBY  to v1: tip
                  0.002500056 CBY  paid in all, by 0x0100000000000000000000000000000000000000
                  0.007599944 CBY  refunded, of the 0.0101 CBY charged before
`
	var b strings.Builder
	PrintStory(&b, &s)
	if got := b.String(); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
	b.Reset()
	s.Next = ref(types.Height(125))
	if PrintStory(&b, &s); !strings.Contains(b.String(), "…  devnet timer show "+s.Timer.ID.String()+" --from 125\nblock 127 ") {
		t.Error(b.String())
	}
	if got := statusLine(&s); got != "fired in block 127, 7 blocks late, for 2.895344 CBY" {
		t.Error(got)
	}
	s.Story[6].Paid.Status = "no_handler"
	if got := statusLine(&s); got != "fired in block 127, 7 blocks late, for 2.895344 CBY; its handler failed: no_handler" {
		t.Error(got)
	}
	for want, timer := range map[string]model.Timer{
		"pending in the epoch queue, due in 10 blocks": {Status: "pending", Height: 140, Tier: ref("epoch")},
		"pending in the carry, 1 block late: lane_full": {Status: "pending", Height: 130, Tier: ref("carry"), Deferrals: 1,
			Reason: "lane_full"},
		"pending, until what it watches changes": {Status: "pending", Height: 140, Tier: ref("overflow"), Watch: &model.Watch{}},
		"expired in block 125":                   {Status: "expired", Height: 124, EndedAt: ref(types.Height(125))},
		"insufficient_funds in block 1250, 3 blocks late": {Status: "insufficient_funds", Height: 124, EndedAt: ref(types.Height(1250)),
			Deferrals: 3},
	} {
		if got := statusLine(&model.TimerStory{Height: 130, Timer: timer}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
