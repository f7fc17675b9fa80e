package crowd

import (
	"math"
	"math/big"
	"runtime"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// open makes a room, or fails.
func open(t testing.TB, c Config) *Room {
	t.Helper()
	room, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return room
}

func run(t testing.TB, room *Room, blocks uint64) {
	t.Helper()
	if err := room.Run(blocks); err != nil {
		t.Fatal(err)
	}
}

// busy is a lane that is always full: ten honest members, and an owner with a hundred timers.
func busy(seed uint64) Config {
	return Config{Seed: seed, Fires: 10, Params: params.Overrides{"cip1.fairness_window_blocks": "50"}, Crowds: []*Crowd{
		AlwaysDue("honest", 10, 1, 3, Price{Tip: 100}), AlwaysDue("owner", 2, 50, 3, Price{Tip: 100})}}
}

func TestAFullLaneFiresWhatItHolds(t *testing.T) {
	room := open(t, busy(1))
	run(t, room, 20)
	room.Reset()
	run(t, room, 60)
	if room.Fired() != 600 || room.Blocks() != 60 {
		t.Errorf("%d fires in %d blocks, want 600 in 60", room.Fired(), room.Blocks())
	}
	if used, had := room.Use(); used != had {
		t.Errorf("the fires used %d cycles of %d, want all", used, had)
	}
	if err := room.World.Audit(); err != nil {
		t.Error(err)
	}
}

func TestOneSeedIsOneState(t *testing.T) {
	root := func(seed uint64) string {
		room := open(t, busy(seed))
		run(t, room, 40)
		return room.World.Root().String()
	}
	one := root(1)
	if again := root(1); again != one {
		t.Errorf("the states of seed 1 are %s and %s", one, again)
	}
	if other := root(2); other == one {
		t.Error("seeds 1 and 2 have one state")
	}
}

// Members that leave fire until then and no more; a burst begins again after its rest.
func TestMembersLeaveAndBurstsEnd(t *testing.T) {
	leaving := Heartbeats("leaving", 3, 1, 0, Price{Tip: 1})
	leaving.Leaves = 20
	bursts := Bursts("bursts", 2, 2, 1, 10, 30, Price{Tip: 1})
	room := open(t, Config{Seed: 1, Fires: 50, Crowds: []*Crowd{leaving, bursts}})
	for _, want := range []struct{ blocks, leaving, bursts uint64 }{{15, 45, 40}, {25, 15, 0}, {12, 0, 40}, {28, 0, 0}} {
		run(t, room, want.blocks)
		if leaving.Counts.Fired != want.leaving || bursts.Counts.Fired != want.bursts {
			t.Errorf("%d and %d fires in the next %d blocks, want %d and %d", leaving.Counts.Fired, bursts.Counts.Fired, want.blocks, want.leaving,
				want.bursts)
		}
		room.Reset()
	}
}

func TestAnotherCrowdMovesNoDraws(t *testing.T) {
	values := func(crowds ...*Crowd) string {
		room := open(t, Config{Seed: 5, Fires: 20, Crowds: crowds})
		run(t, room, 30)
		return crowds[0].Counts.Worth.String()
	}
	alone := values(Elastic("users", 10, 1_000_000, 0))
	if beside := values(Elastic("users", 10, 1_000_000, 0), Quiet("others", 5, 4, Price{})); beside != alone {
		t.Errorf("the users' fires were worth %s alone and %s beside others", alone, beside)
	}
}

// The lane's fee settles where half of the lane is bought: 1 - 0.5/D of the top value.
func TestTheFeeSettlesWhereHalfIsBought(t *testing.T) {
	const top = 1_000_000
	room := open(t, Config{Seed: 1, Fires: 40, Crowds: []*Crowd{Elastic("users", 40, top, 0)}})
	run(t, room, 150)
	room.Reset()
	run(t, room, 300)
	mean := new(big.Rat).SetFrac(room.LaneFees(), new(big.Int).SetUint64(300*top))
	if got, _ := mean.Float64(); math.Abs(got-0.5) > 0.03 {
		t.Errorf("the fee is %.3f of the top value, want 0.5", got)
	}
	if room.Refused() == 0 {
		t.Error("no order of a value below the fee was refused")
	}
}

func TestAnAuctionPaysTheProposer(t *testing.T) {
	none := uint64(0)
	bids := Bids{Top: 1_000_000, Permille: 1000, Patience: &none}
	bidders := Bidders("bidders", 10, bids)
	room := open(t, Config{Seed: 1, Fires: 3, Crowds: []*Crowd{bidders}, Params: params.Overrides{"cip1.policy": "bias-vcg",
		"cip5.bias_payment": "per_cycle", "cip5.bias_reserve_price": "0", "cip5.bias_lambda_start": "1", "cip5.bias_lambda_min": "1"}})
	run(t, room, 5)
	room.Reset()
	run(t, room, 400)
	got, _ := new(big.Rat).SetFrac(room.Tips().Big(), big.NewInt(400*1_000_000)).Float64()
	if want := 3.0 * 7 / 11; math.Abs(got-want) > 0.06 {
		t.Errorf("the proposer earned %.3f tops a block, want k(n-k)/(n+1) = %.3f", got, want)
	}
	if room.Fired() != 1200 || bidders.Counts.Expired == 0 {
		t.Errorf("%d fired and %d expired, want 1200 and some", room.Fired(), bidders.Counts.Expired)
	}
}

func TestAWorldOfManyBlocksNeedsNoMoreMemory(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	room := open(t, busy(1))
	run(t, room, 500)
	before := heap()
	run(t, room, 2_000)
	if after := heap(); after > before+before/10 {
		t.Errorf("the heap grew from %d to %d bytes in 2000 blocks, at most a tenth is allowed", before, after)
	}
	runtime.KeepAlive(room)
}

func TestWaitsAreCounted(t *testing.T) {
	var c Counts
	for blocks, n := range []uint64{5, 3, 0, 2} {
		for range n {
			c.Fired++
			c.noteWait(uint64(blocks))
		}
	}
	if c.WaitSum() != 9 || c.WaitLongest() != 3 || c.WaitOf(500) != 0 || c.WaitOf(800) != 1 || c.WaitOf(990) != 3 {
		t.Errorf("sum %d, longest %d, of half %d, of 80 %% %d, of 99 %% %d; want 9, 3, 0, 1, 3", c.WaitSum(), c.WaitLongest(), c.WaitOf(500),
			c.WaitOf(800), c.WaitOf(990))
	}
}

// Traffic leaves its cells to no fire, pays the base fee for each, and waits while a cell is too dear.
func TestTrafficTakesItsCells(t *testing.T) {
	const block, need = 100_000, 20_000
	given := params.Overrides{"cip3.block_cells_limit": "100000", "cip5.max_cells_per_fire": "20000"}
	run := func(cells types.Cells, most uint64) (room *Room, first types.Wei) {
		room = open(t, Config{Seed: 1, Fires: 4, Params: given, Crowds: []*Crowd{Heartbeats("heart", 4, 1, 0, Price{Tip: 1})},
			Traffic: &Traffic{Cells: cells, Most: types.WeiOf(most)}})
		run(t, room, 1)
		room.Reset()
		first = room.World.Head().NextBaseFees().Cell
		run(t, room, 10)
		return room, first
	}
	held, first := run(block-need+1, 1<<30)
	if held.Fired() != 0 || held.Fireless() != 10 {
		t.Errorf("%d fires where one cell is missing, in %d blocks without", held.Fired(), held.Fireless())
	}
	if sent, paid := held.TrafficSent(); sent != 10 || !first.Mul(10*(block-need+1)).Less(paid) {
		t.Errorf("%d blocks cost %s, want 10 from %s wei a cell on, rising", sent, paid, first)
	}
	if free, _ := run(block-need-10_000, 1<<30); free.Fired() != 40 || free.Fireless() != 0 {
		t.Errorf("%d fires beside the traffic, want 40", free.Fired())
	}
	dear, _ := run(block-need+1, 0)
	if sent, paid := dear.TrafficSent(); sent != 0 || !paid.IsZero() || dear.Fired() != 40 {
		t.Errorf("%d blocks are paid with %s wei beyond its price, and %d fire", sent, paid, dear.Fired())
	}
}
