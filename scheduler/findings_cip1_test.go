package scheduler

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Faults of CIP-1, shown with their figures. docs/SPEC.md, section Findings, tells
// each in words.

// crowd is a lane with room for ten fires a block, and actors that keep it full.
type crowd struct {
	*world
	made  int
	fired map[types.Address]int
	waits map[types.Address][]uint64 // blocks each fired timer waited
}

func newCrowd() *crowd {
	c := &crowd{world: lane1559(), fired: map[types.Address]int{}, waits: map[types.Address][]uint64{}}
	c.p.LaneTimerCycles, c.p.MaxTimers, c.cells = 10_000, 1<<40, 1<<40
	c.handle = func(_ *world, o Fire) Fired {
		c.fired[o.Timer.Actor]++
		c.waits[o.Timer.Actor] = append(c.waits[o.Timer.Actor], o.Timer.Deferrals)
		return Fired{Result: types.StatusOK, Cycles: o.Cycles}
	}
	return c
}

// add schedules n timers of an actor for the next block but one, with a tip, or
// with the default bid if tip is negative.
func (c *crowd) add(t *testing.T, actor types.Address, n, tip int) {
	t.Helper()
	c.fund(actor, types.WeiOf(1<<60))
	for range n {
		c.made++
		r := program.TimerRequest{Height: c.now() + 1, Payload: fmt.Append(nil, c.made), GasLimit: ptr(types.Cycles(1000))}
		if tip >= 0 {
			r.MaxFeePerCycle, r.MaxPriorityFeePerCycle = wei(1<<40), wei(uint64(tip))
		}
		c.must(t, actor, r)
	}
}

// fill keeps n timers of an actor pending.
func (c *crowd) fill(t *testing.T, actor types.Address, n, tip int) {
	t.Helper()
	c.add(t, actor, n-int(pendingCount(c.kv, actor)), tip)
}

// step is block without reading the whole state.
func (c *crowd) step(t *testing.T) LaneResult {
	t.Helper()
	out, err := c.lane()
	if err != nil {
		t.Fatal(err)
	}
	c.head++
	c.blockNow().Maintain()
	return out
}

func member(n int) types.Address { return addressOf(fmt.Sprintf("member %d", n)) }

func longest(waits []uint64) uint64 { return slices.Max(append(waits, 0)) }

// CIP-1 §§3, 7.1, 8: without tips, priority × W is 0 for all. Here one actor has
// fired ten timers a block for fifty blocks and another none; with default bids the
// order follows ids. A priority_floor of 1 puts the quiet one first.
func TestFindingWithoutTipsWeightsOrderNothing(t *testing.T) {
	for _, floor := range []uint64{0, 1} {
		c := newCrowd()
		c.p.PriorityFloor = types.WeiOf(floor)
		hog, quiet := member(0), member(1)
		for range 50 {
			c.fill(t, hog, 30, -1)
			c.step(t)
		}
		c.add(t, quiet, 10, -1)
		c.fill(t, hog, 60, -1)
		c.step(t)
		c.step(t)
		first, byID := 0, slices.IsSortedFunc(c.orders, func(a, b Fire) int { return slices.Compare(a.Timer.ID[:], b.Timer.ID[:]) })
		for _, o := range c.orders {
			if o.Timer.Actor == quiet {
				first++
			}
		}
		switch {
		case floor == 0 && (!byID || first == 10):
			t.Errorf("as written the order is by id: %v; the quiet one fired %d of 10", byID, first)
		case floor == 1 && first != 10:
			t.Errorf("with a floor of 1 the quiet one fired %d of 10", first)
		}
	}
}

// CIP-1 §3 step 7: ties go by timer id, which is a hash: one that is high loses
// to every newcomer that is lower. With ten fires a block, ten newcomers a block
// and a backlog of twenty, of equal tips, some wait as long as it lasts; by age no
// timer waits longer than two blocks.
func TestFindingTheLosersOfATieStarve(t *testing.T) {
	for _, ties := range []struct {
		by            string
		least, atMost uint64 // of the longest wait
	}{{TieByID, 300, 400}, {"age", 1, 2}} {
		c := newCrowd()
		c.p.TieBreak = ties.by
		for i := range 20 {
			c.add(t, member(i), 1, 5)
		}
		for i := range 400 {
			for j := range 10 {
				c.add(t, member(20+i*10+j), 1, 5) // each its own actor, of equal weight
			}
			c.step(t)
		}
		worst := uint64(0)
		for _, change := range c.step(t).Changes {
			worst = max(worst, change.Timer.Deferrals)
		}
		if worst < ties.least || worst > ties.atMost {
			t.Errorf("ties by %s: a timer has waited %d blocks of 400", ties.by, worst)
		}
	}
}

// The same: who hashes a thousand payloads before scheduling has the lowest id
// and wins its ties, for nothing: a block of fifty equal bids with room for ten.
func TestFindingAnIDCanBeGround(t *testing.T) {
	c := newCrowd()
	for i := range 49 {
		c.add(t, member(i), 1, 5)
	}
	grinder := member(1000)
	c.fund(grinder, types.WeiOf(1<<60))
	best := slices.MinFunc(payloads(1000), func(a, b []byte) int {
		x, y := TimerID(grinder, 2, a, 0), TimerID(grinder, 2, b, 0)
		return slices.Compare(x[:], y[:])
	})
	ground := c.must(t, grinder, program.TimerRequest{Height: 2, Payload: best, GasLimit: ptr(types.Cycles(1000)),
		MaxFeePerCycle: wei(1 << 40), MaxPriorityFeePerCycle: wei(5)})
	c.step(t)
	c.step(t)
	if c.orders[0].Timer.ID != ground.ID {
		t.Fatalf("the ground id %s is not the first", ground.ID)
	}
}

func payloads(n int) (all [][]byte) {
	for i := range n {
		all = append(all, fmt.Append(nil, i))
	}
	return all
}

// CIP-1 §8 measures by the median over those who fired. Nine quiet actors with a
// timer every forty blocks and a hog that fills the lane: once most have fired
// once, the median is what the quiet have, so they weigh 1 like the hog, and one
// wei more in tips, 101 to 100, lets it pass them whenever it wants. Measured by
// the mean they weigh nearly 2.
func TestFindingTheMedianStarvesTheQuiet(t *testing.T) {
	longestBy := map[string]uint64{}
	for _, center := range []string{"median", FairnessMean} {
		c := newCrowd()
		c.p.FairnessCenter = center
		var worst uint64
		for block := range 600 {
			c.fill(t, member(0), 30, 101)
			for quiet := 1; quiet < 10; quiet++ {
				if block%40 == quiet*4 {
					c.add(t, member(quiet), 1, 100)
				}
			}
			for _, change := range c.step(t).Changes {
				if change.Timer.Actor != member(0) {
					worst = max(worst, change.Timer.Deferrals)
				}
			}
		}
		longestBy[center] = worst
	}
	t.Logf("longest waits of the quiet, in blocks of 600: %v", longestBy)
	if longestBy["median"] < 500 || longestBy[FairnessMean] > 0 {
		t.Errorf("the quiet waited %v blocks", longestBy)
	}
}

// CIP-1 §10 and §13.2 as written: a timer scheduled under fifo has a limit of 550,000,
// above the cap of 250,000, and §3 step 7 defers it "without an attempt", in every block,
// until it expires. Decision T5 clamps it.
func TestFindingTimersFromBeforeTheActivationWouldNeverFire(t *testing.T) {
	w := rich()
	timer := w.must(t, alice, program.TimerRequest{Height: 3, GasLimit: ptr(types.Cycles(550_000))})
	w.block()
	w.p.Policy, w.fees.Lane = EIP1559, types.WeiOf(1000)
	if asWritten := timer.GasLimit <= w.p.MaxCyclesPerFireLane; asWritten {
		t.Fatalf("a default limit of %d fits under the cap of %d", timer.GasLimit, w.p.MaxCyclesPerFireLane)
	}
	w.block()
	wantStatuses(t, w.block(), "fired")
}

// CIP-1 §8, limitation 1, sized: ten honest actors and an attacker with a hundred
// timers always due, all with equal tips, in a lane of ten. As one actor the
// attacker gets what the weights leave; as a hundred actors it gets nine tenths.
func TestFindingFragmentationTakesTheLane(t *testing.T) {
	share := shareOfParts(t, func(*crowd) {})
	if share[1] > 60 || share[100] < 80 {
		t.Errorf("the attacker got %v percent", share)
	}
}

// The proposal of CIP-1 §16, item 2: with the fires of a deployer's actors weighed together a hundred actors take what one
// takes. With a deployer each they take nine tenths again, and a deployer costs a transfer.
func TestFindingWeighingByDeployerHoldsUntilItDeploysByMore(t *testing.T) {
	for name, deployer := range map[string]func(part int) types.Address{
		"one":  func(int) types.Address { return addressOf("the attacker") },
		"each": func(part int) types.Address { return addressOf(fmt.Sprintf("its account %d", part)) },
	} {
		share := shareOfParts(t, func(c *crowd) {
			c.p.FairnessOf, c.deployers = FairnessOfDeployer, map[types.Address]types.Address{}
			for part := range 100 {
				c.deployers[member(100+part)] = deployer(part)
			}
		})
		if name == "one" && share[100] > 60 || name == "each" && share[100] < 80 {
			t.Errorf("with %s deployer the attacker got %v percent", name, share)
		}
	}
}

// shareOfParts is the percent of the fires of a lane of ten that go to one owner with a hundred timers always due, by the
// number of actors that they are spread over, beside ten honest actors.
func shareOfParts(t *testing.T, prepare func(*crowd)) map[int]int {
	t.Helper()
	share := map[int]int{}
	for _, parts := range []int{1, 10, 100} {
		c := newCrowd()
		prepare(c)
		for range 600 {
			for honest := range 10 {
				c.fill(t, member(honest), 1, 100)
			}
			for part := range parts {
				c.fill(t, member(100+part), 100/parts, 100)
			}
			c.step(t)
		}
		attacker, all := 0, 0
		for actor, n := range c.fired {
			all += n
			if actor != member(0) && slices.IndexFunc(payloads(10), func(p []byte) bool { return actor == addressOf("member "+string(p)) }) < 0 {
				attacker += n
			}
		}
		share[parts] = attacker * 100 / all
	}
	t.Logf("percent of the fires that went to the attacker, by the number of its actors: %v", share)
	return share
}

// CIP-1 §7.1's default asks at fire time for twice the base fee of that block:
// the headroom absorbs nothing, since no such bid is ever below the base fee. The
// spam that §11 wants priced out is not: after a thousandfold rise all fires.
func TestFindingADefaultBidIsNeverPricedOut(t *testing.T) {
	c := newCrowd()
	for _, lane := range []uint64{1, 1000, 1_000_000} {
		c.fees.Lane = types.WeiOf(lane)
		c.add(t, alice, 10, -1)
		c.step(t)
		if c.step(t); len(c.orders) != 10 {
			t.Fatalf("at a base fee of %d wei %d fire", lane, len(c.orders))
		}
	}
}

// The same of CIP-1 §3 step 3 and §6, which supply the default when scheduling
// (cip1.default_bid_at = schedule): there twice the base fee is the headroom of five
// rises by an eighth that §7.1 speaks of, and the sixth prices the timer out. Where
// the bid is made at the fire, T14's choice by §7, no rise ever does. An agent's
// timer is left to it by both.
func TestFindingADefaultMadeWhenSchedulingCapsAndOneMadeAtTheFireDoesNot(t *testing.T) {
	for _, c := range []struct {
		at    string
		rises int
		agent bool
		fires bool
	}{
		{"fire", 5, false, true}, {"fire", 6, false, true}, {"fire", 60, false, true},
		{DefaultAtSchedule, 5, false, true}, {DefaultAtSchedule, 6, false, false}, {DefaultAtSchedule, 60, false, false},
		{DefaultAtSchedule, 60, true, true}, // an agent without an actor has the default's bid at the fire
	} {
		w := lane1559()
		w.p.DefaultBidAt = c.at
		request := program.TimerRequest{Height: w.now() + 1}
		if c.agent {
			request.GBA = &carol
		}
		timer := w.must(t, alice, request)
		w.block()
		for range c.rises {
			w.fees.Lane = w.fees.Lane.Add(w.fees.Lane.Div(8))
		}
		out := w.block()
		if fired := len(w.orders) == 1; fired != c.fires || !fired && out.Changes[0].Reason != ReasonPricedOut {
			t.Errorf("supplied at %s, after %d rises to %s (agent: %v): %v", c.at, c.rises, w.fees.Lane, c.agent, statuses(out))
		}
		if stated := timer.MaxFeePerCycle != nil; stated != (c.at == DefaultAtSchedule && !c.agent) {
			t.Errorf("supplied at %s (agent: %v): the timer states %v", c.at, c.agent, timer.MaxFeePerCycle)
		}
	}
}

// Each number separately (decision T14): a stated number stays, and is clamped
// under the supplied cap; a missing one comes from the block that schedules, not
// from the one that fires. Other policies are left alone.
func TestT14DefaultsSuppliedWhenScheduling(t *testing.T) {
	w := lane1559()
	w.p.DefaultBidAt = DefaultAtSchedule
	w.tipping(t, bob, 5000, 40, 1000)
	w.block()
	w.block()
	due := w.now() + 3
	for name, c := range map[string]struct {
		request     program.TimerRequest
		maxFee, tip uint64
	}{
		"nothing stated":  {program.TimerRequest{}, 2000, 40},
		"a max fee":       {program.TimerRequest{MaxFeePerCycle: wei(1030)}, 1030, 30},
		"a tip":           {program.TimerRequest{MaxPriorityFeePerCycle: wei(7)}, 2000, 7},
		"a tip too high":  {program.TimerRequest{MaxPriorityFeePerCycle: wei(1 << 40)}, 2000, 1000},
		"a hint, rounded": {program.TimerRequest{PriorityTier: TierEconomy}, 2000, 32},
		"both":            {program.TimerRequest{MaxFeePerCycle: wei(9000), MaxPriorityFeePerCycle: wei(1)}, 9000, 1},
	} {
		c.request.Height = due
		timer := w.must(t, alice, c.request)
		if timer.MaxFeePerCycle == nil || *timer.MaxFeePerCycle != types.WeiOf(c.maxFee) || *timer.MaxPriorityFeePerCycle != types.WeiOf(c.tip) {
			t.Errorf("%s: %v and %v, want %d and %d", name, timer.MaxFeePerCycle, timer.MaxPriorityFeePerCycle, c.maxFee, c.tip)
		}
	}
	for _, policy := range []string{Fifo, GBA, BiasVCG} {
		w.p.Policy = policy
		if timer := w.must(t, alice, program.TimerRequest{Height: due}); timer.MaxFeePerCycle != nil || timer.MaxPriorityFeePerCycle != nil {
			t.Errorf("under %s a timer is given %v and %v", policy, timer.MaxFeePerCycle, timer.MaxPriorityFeePerCycle)
		}
	}
}

// CIP-1 §7.1: the default tip is the median of the fired tips, and default fires
// pay it. One block of six tips of 900 in ten fires, and all who bid by default pay
// 900 from then on, as long as something fires in each block.
func TestFindingTheDefaultTipFeedsItself(t *testing.T) {
	c := newCrowd()
	step := func(want uint64) {
		t.Helper()
		c.step(t)
		if p50 := previousP50(c.kv, c.now()); p50 != types.WeiOf(want) {
			t.Fatalf("p50 is %s after block %d, want %d", p50, c.head, want)
		}
	}
	c.add(t, alice, 4, -1)
	c.add(t, bob, 6, 900)
	step(0)
	for range 100 {
		c.add(t, alice, 10, -1)
		step(900)
	}
	step(900)
	step(0) // nothing fired
}

// Stating a tip costs nothing: without a max fee it is not clamped (T27), and a
// bidder that answers a max fee of 0 keeps its timers priced out. If every stated
// tip counted, enough such timers to fill the limit of examined ones would keep all
// others from being examined until they expire. By T16 a tip without a max fee
// counts for nothing, and its timer comes last.
func TestFindingAStatedTipThatNobodyPaysIsExaminedFirst(t *testing.T) {
	c := newCrowd()
	c.p.MaxExamined = 3
	c.answer = func(*world, BidCall) Answer {
		return Answer{Cycles: 100, Output: []byte("\xa1\x71max_fee_per_cycle\x00")}
	}
	c.fund(carol, types.WeiOf(1<<60))
	for range 3 {
		c.must(t, carol, program.TimerRequest{Height: 2, MaxPriorityFeePerCycle: wei(1<<64 - 1), GBA: &carol, ExpiresAt: ptr(types.Height(101))})
	}
	c.add(t, alice, 1, 1_000_000)
	c.step(t)
	if out := c.step(t); len(c.orders) != 1 || out.Examined != 3 || c.orders[0].Timer.Actor != alice {
		t.Fatalf("block %d examined %d and fired %d", c.head, out.Examined, len(c.orders))
	}
}

// Decision T15: a hundred old timers whose agent burns all it may and then prices
// them out do not own the agents' budget. In plain sequence order a young timer's
// agent was never asked. In rounds it is asked at once, also in the second block,
// and the old ones are not asked again before their answers are enough or 16 blocks
// passed.
func TestFindingTheOldestTimersOwnTheAgentsBudget(t *testing.T) {
	w := lane1559()
	squatter, victim := addressOf("squatter"), addressOf("victim")
	w.fund(squatter, types.WeiOf(1<<60))
	w.fund(victim, types.WeiOf(1<<60))
	asked := map[types.Address]int{}
	w.answer = func(_ *world, q BidCall) Answer {
		asked[q.Bidder]++
		if q.Bidder == squatter {
			return Answer{Cycles: q.Cycles, Output: []byte("\xa1\x71max_fee_per_cycle\x00")}
		}
		return Answer{Cycles: 100}
	}
	for i := range types.Height(100) {
		w.must(t, squatter, program.TimerRequest{Height: 200 + i, GasLimit: ptr(types.Cycles(1000)), GBA: &squatter})
	}
	for w.now() < 300 {
		w.head++ // nothing is due
	}
	young := w.must(t, victim, program.TimerRequest{Height: 301, GasLimit: ptr(types.Cycles(1000)), GBA: &victim})
	w.block()
	if w.block(); asked[victim] != 1 {
		t.Fatalf("the agent of timer %s was asked %d times, the squatter's %d", young.ID, asked[victim], asked[squatter])
	}
	before := asked[squatter]
	for range 10 {
		w.block()
	}
	if asked[squatter] != before {
		t.Errorf("the squatter's agent was asked %d times more within 10 blocks", asked[squatter]-before)
	}
	for range 16 {
		w.block()
	}
	if asked[squatter] == before {
		t.Error("it is never asked again")
	}
	w.fees.Lane = types.Wei{} // no answer is too low
	before = asked[squatter]
	w.block()
	if asked[squatter] == before {
		t.Error("it is not asked when its answer is enough")
	}
}

// CIP-1 §1 says that max_cost caps the worst-case debit of a fire and that no
// drain survives. The agent of a timer that waits is asked again and again, at its
// fee payer's cost (decision T15), and the agent decides how long it waits. As
// drafted nothing bounds that but what the sponsor owns; by T28 what he signed
// for bounds it, and the timer ends when that is gone.
func TestFindingAWaitingTimersAgentDrainsItsSponsor(t *testing.T) {
	const call = 20_000 * 1000
	w := lane1559()
	w.answer = func(_ *world, q BidCall) Answer { // it would wait without end
		return Answer{Cycles: q.Cycles, Output: []byte("\xa1\x71max_fee_per_cycle\x00")}
	}
	timer := w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), GBA: &alice})
	if _, err := w.blockNow().Cancel(alice, timer.ID); err != nil {
		t.Fatal(err)
	}
	fire := w.blockNow().MaxCost(&timer)
	signed := fire.Add(types.WeiOf(3 * call)) // what its one fire may cost, and three calls
	timer, _, err := w.blockNow().Schedule(alice, signedBy(bob, signed),
		program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), FeePayer: &bob, GBA: &alice})
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		w.block()
	}
	paid := types.WeiOf(1 << 60).Sub(w.balances[bob])
	if w.balances[alice] != types.WeiOf(1<<60) || signed.Less(paid) || paid.Less(types.WeiOf(3*call)) {
		t.Fatalf("the sponsor signed for %s wei and paid %s", signed, paid)
	}
	if _, pending := Get(&w.p, w.kv, w.head, timer.ID); pending {
		t.Fatal("it goes on")
	}
}
