package scheduler

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// revision is a world under the first revision, with fires that need no cells.
func revision() *world {
	w := rich()
	w.p.Policy, w.p.MaxCellsPerFire = GBA, 0
	w.handle = func(_ *world, o Fire) Fired { return Fired{Result: types.StatusOK, Cycles: o.Cycles} }
	return w
}

func TestT3OnlyTheFirstRevisionFiresBeforeTheTransactions(t *testing.T) {
	p := newWorld().p
	for policy, want := range map[string]bool{GBA: true, Fifo: false, EIP1559: false, BiasVCG: false, BiasFirstPrice: false} {
		p.Policy = policy
		if BeforeTransactions(&p) != want {
			t.Errorf("%s: %v", policy, !want)
		}
	}
}

// First revision §4.2: the six fields, by their names, and no other.
func TestRevisionSection42TheContextHasItsSixFields(t *testing.T) {
	w := revision()
	w.fund(alice, types.WeiOf(777_000_000_000))
	w.last = 4321
	var context []byte
	w.answer = func(_ *world, q BidCall) Answer {
		context = q.Context
		return Answer{Output: codec.Marshal(map[string]uint64{})}
	}
	w.must(t, alice, program.TimerRequest{Height: 3, GBA: &bob})
	w.cells, w.p.MaxCellsPerFire = 0, 1
	for range 4 {
		w.block() // due at 3, asked again at 4
	}
	var got map[string]uint64
	if err := codec.Unmarshal(context, 1000, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{"trigger_block_height": 3, "current_block_height": 4, "basefee_cycle": 1000, "basefee_cell": 1000,
		"last_block_cycle_usage": 4321, "owner_actor_balance": 777_000_000_000}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("told %v, want %v", got, want)
	}
}

// The revision's name of the tip and the later one mean one number; an answer with
// both, or with an invalid number, counts for nothing.
func TestRevisionAnswersMayUseEitherNameOfTheTip(t *testing.T) {
	for _, c := range []struct {
		answer any
		tip    uint64 // 0 is the default bid's
		failed bool
	}{
		{map[string]uint64{"max_fee_per_cycle": 5000, "tip_per_cycle": 40}, 40, false},
		{map[string]uint64{"max_fee_per_cycle": 5000, "max_priority_fee_per_cycle": 41}, 41, false},
		{map[string]uint64{"tip_per_cycle": 42}, 42, false},
		{map[string]uint64{"max_fee_per_cycle": 1043, "tip_per_cycle": 90}, 43, false},
		{map[string]uint64{"max_fee_per_cycle": 5000}, 0, false},
		{map[string]uint64{"tip_per_cycle": 44, "max_priority_fee_per_cycle": 44}, 0, true},
		{map[string]uint64{"tip": 45}, 0, true},
		{map[string]string{"tip_per_cycle": "46"}, 0, true},
		{map[string]int64{"tip_per_cycle": -47}, 0, true},
		{map[string]*big.Int{"tip_per_cycle": new(big.Int).Lsh(big.NewInt(1), 256)}, 0, true},
		{[]uint64{5000, 48}, 0, true},
		{nil, 0, true},
	} {
		w := revision()
		w.answer = func(*world, BidCall) Answer { return Answer{Output: codec.Marshal(c.answer), Cycles: 3} }
		w.must(t, alice, program.TimerRequest{Height: 2, GBA: &bob, GasLimit: ptr(types.Cycles(1000))})
		w.block()
		out := w.block()
		if len(w.orders) != 1 || w.orders[0].Price.TipCycle != types.WeiOf(c.tip) || (len(out.Events) == 1) != c.failed || out.AskCycles != 3 {
			t.Errorf("%v: tip %s, %d events, %d cycles", c.answer, w.orders[0].Price.TipCycle, len(out.Events), out.AskCycles)
		}
	}
}

// A fee of 2^256 - 1 is a number: no account can pay its tip, and nothing wraps.
func TestHostileARevisionTipBeyondAllMoneyDefers(t *testing.T) {
	w := revision()
	w.must(t, alice, program.TimerRequest{Height: 2, MaxFeePerCycle: &types.MaxWei, MaxPriorityFeePerCycle: &types.MaxWei})
	w.must(t, alice, program.TimerRequest{Height: 2, MaxFeePerCycle: &types.MaxWei})
	w.block()
	wantStatuses(t, w.block(), "fired pending:insufficient_funds")
}

// First revision §4.1: "This fee is deducted from the owning actor's main
// balance", also where a fire of the block emptied it.
func TestRevisionSection41TheOwnerPaysAndAnEmptyOneIsDeferred(t *testing.T) {
	w := revision()
	request := program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), FeePayer: &bob}
	for range 2 {
		if _, _, err := w.blockNow().Schedule(alice, signedBy(bob, types.MaxWei), request); err != nil {
			t.Fatal(err)
		}
	}
	w.fund(alice, types.WeiOf(1_500_000)) // of 1,000,000 for each fire
	before := w.Balance(bob)
	w.block()
	out := w.block()
	wantStatuses(t, out, "fired pending:insufficient_funds")
	if w.Balance(alice) != types.WeiOf(500_000) || w.Balance(bob) != before || w.orders[0].Timer.FeePayer != alice {
		t.Fatalf("alice holds %s, bob %s of %s", w.Balance(alice), w.Balance(bob), before)
	}
	w.fund(alice, types.WeiOf(1_000_000))
	wantStatuses(t, w.block(), "fired")
}

// First revision §3 step 5c: "a starvation floor for actors whose timers were
// repeatedly deferred".
func TestRevisionStep5TenDeferralsInARowLiftTheWeightToTheFloor(t *testing.T) {
	for _, c := range []struct {
		blocks int
		want   uint64
	}{{9, 790}, {10, 1000}, {11, 1000}} { // 790: a fifth of a score of 350 for 900
		w := revision()
		w.p.CalendarEpochBlocks, w.p.GBAWeightStart = 100, 900
		w.p.LaneTimerCycles = 999 // no timer fits
		w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000))})
		for range c.blocks + 1 {
			w.block()
		}
		if got := actorWeightOf(w.at(100), alice).Weight; got != c.want {
			t.Errorf("after %d blocks the weight is %d", c.blocks, got)
		}
		// A fire ends the row.
		w.p.LaneTimerCycles = 1000
		w.block()
		if s := actorWeightOf(w.at(w.head), alice); s.Deferred != 0 || s.Fires != 1 {
			t.Errorf("after a fire: %+v", s)
		}
	}
}

// A rollover writes no actor: idle actors' weights are computed when they have a
// timer due again.
func TestRevisionARolloverTouchesNobody(t *testing.T) {
	w := revision()
	w.p.CalendarEpochBlocks = 5
	for i := range 50 {
		actor := addressOf(fmt.Sprint("actor", i))
		w.fund(actor, types.WeiOf(1<<60))
		w.must(t, actor, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000))})
	}
	for range 4 {
		w.block()
	}
	kept := func() (all []string) {
		w.kv.Scan([]byte("t/b/"), []byte("t/b0"), func(key, value []byte) bool {
			all = append(all, fmt.Sprintf("%x=%x", key, value))
			return true
		})
		return all
	}
	before := kept()
	for range 20 {
		w.block()
	}
	if len(before) != 50 || !slices.Equal(kept(), before) {
		t.Fatalf("%d weights, and then %d", len(before), len(kept()))
	}
}

// revisionTwin is the first revision by its text, over whole epochs, with
// fractions, and moving all weights at each rollover.
type revisionTwin struct {
	epoch   uint64
	weights map[types.Address]uint64
	row     map[types.Address]uint64
	highest *big.Int
	turns   map[types.Address][]twinTurn
	blocks  map[types.Address]int64
}

type twinTurn struct {
	tip, cycles *big.Int
	fired       bool
	late        int64
}

func (tw *revisionTwin) weight(a types.Address) uint64 {
	if w, known := tw.weights[a]; known {
		return w
	}
	return 1000
}

// rollover is §3 step 5.
func (tw *revisionTwin) rollover(budget int64) {
	for actor, old := range tw.weights {
		score := big.NewRat(1000, 1)
		if turns := tw.turns[actor]; len(turns) > 0 {
			n := int64(len(turns))
			tips, cycles, fired, late := new(big.Int), new(big.Int), int64(0), int64(0)
			for _, turn := range turns {
				tips.Add(tips, turn.tip)
				cycles.Add(cycles, turn.cycles)
				late += turn.late
				if turn.fired {
					fired++
				}
			}
			tip := new(big.Int)
			if tw.highest.Sign() > 0 {
				tip = floor(new(big.Rat).SetFrac(new(big.Int).Mul(tips, big.NewInt(1000)), new(big.Int).Mul(tw.highest, big.NewInt(n))))
			}
			consumed := floor(new(big.Rat).SetFrac(new(big.Int).Mul(cycles, big.NewInt(1000)), big.NewInt(tw.blocks[actor]*budget)))
			sum := tip.Int64() + fired*1000/n + min(1000, late*1000/(10*n)) + 1000 - consumed.Int64()
			score = big.NewRat(sum/4, 1)
		}
		next := new(big.Rat).Add(new(big.Rat).Mul(big.NewRat(4, 5), big.NewRat(int64(old), 1)), new(big.Rat).Mul(big.NewRat(1, 5), score))
		weight := min(max(floor(next).Uint64(), 500), 2000)
		if tw.row[actor] >= 10 {
			weight = max(weight, 1000)
		}
		tw.weights[actor] = weight
	}
	tw.epoch++
	tw.highest, tw.turns, tw.blocks = new(big.Int), map[types.Address][]twinTurn{}, map[types.Address]int64{}
}

func floor(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }

// twinDue is a timer of the twin's.
type twinDue struct {
	timer types.Timer
	tip   uint64
	uses  types.Cycles
}

// block is §3 steps 3 and 4 for timers that can all pay: who fires, in order.
func (tw *revisionTwin) block(now types.Height, budget types.Cycles, due []twinDue) (fired []types.TimerID) {
	order := slices.Clone(due)
	slices.SortFunc(order, func(a, b twinDue) int {
		return cmp.Or(cmp.Compare(b.tip, a.tip), cmp.Compare(tw.weight(b.timer.Actor), tw.weight(a.timer.Actor)),
			cmp.Compare(a.timer.Seq, b.timer.Seq))
	})
	share, sum := map[types.Address]*big.Rat{}, new(big.Rat)
	for _, d := range order {
		if share[d.timer.Actor] == nil {
			w := new(big.Rat).SetInt(new(big.Int).SetUint64(tw.weight(d.timer.Actor)))
			share[d.timer.Actor] = w
			sum.Add(sum, w)
		}
	}
	slices := map[types.Address]types.Cycles{}
	for actor, w := range share {
		slices[actor] = types.Cycles(floor(new(big.Rat).Quo(new(big.Rat).Mul(w, big.NewRat(int64(budget), 1)), sum)).Uint64())
	}
	did := map[types.TimerID]bool{}
	fire := func(d twinDue) {
		did[d.timer.ID] = true
		fired = append(fired, d.timer.ID)
		budget -= d.uses
	}
	for _, d := range order {
		if d.timer.GasLimit <= slices[d.timer.Actor] {
			fire(d)
			slices[d.timer.Actor] -= d.uses
		}
	}
	for _, d := range order {
		if !did[d.timer.ID] && d.timer.GasLimit <= budget {
			fire(d)
		}
	}
	any := map[types.Address]bool{}
	for _, d := range order {
		a, turn := d.timer.Actor, twinTurn{tip: new(big.Int).SetUint64(d.tip), cycles: new(big.Int), fired: did[d.timer.ID],
			late: int64(now - d.timer.Height)}
		if turn.fired {
			turn.cycles.SetUint64(uint64(d.uses))
			any[a] = true
		}
		if turn.tip.Cmp(tw.highest) > 0 {
			tw.highest = turn.tip
		}
		tw.weights[a] = tw.weight(a)
		tw.turns[a] = append(tw.turns[a], turn)
	}
	for a := range share {
		tw.blocks[a]++
		if tw.row[a]++; any[a] {
			tw.row[a] = 0
		}
	}
	return fired
}

// Blocks over many epochs, some of them idle or skipped, against the twin.
func TestRevisionChainsAreTheTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := revision()
		w.p.CalendarEpochBlocks, w.p.LaneTimerCycles = rapid.Uint64Range(1, 8).Draw(t, "epoch"),
			types.Cycles(rapid.Uint64Range(1000, 9000).Draw(t, "budget"))
		tw := &revisionTwin{weights: map[types.Address]uint64{}, row: map[types.Address]uint64{}}
		tw.highest, tw.turns, tw.blocks = new(big.Int), map[types.Address][]twinTurn{}, map[types.Address]int64{}
		var pending []twinDue
		w.handle = func(_ *world, o Fire) Fired {
			at := slices.IndexFunc(pending, func(d twinDue) bool { return d.timer.ID == o.Timer.ID })
			return Fired{Result: types.StatusOK, Cycles: pending[at].uses}
		}
		actors := []types.Address{alice, bob, addressOf("carol"), addressOf("dave")}
		for _, a := range actors {
			w.fund(a, types.WeiOf(1<<60))
		}
		for range rapid.IntRange(1, 25).Draw(t, "blocks") {
			for range rapid.IntRange(0, 4).Draw(t, "new") {
				limit := types.Cycles(rapid.Uint64Range(1000, 4000).Draw(t, "limit"))
				tip := rapid.Uint64Range(0, 3).Draw(t, "tip")
				timer, err := w.schedule(rapid.SampledFrom(actors).Draw(t, "actor"), program.TimerRequest{
					Height: w.now() + types.Height(rapid.Uint64Range(1, 3).Draw(t, "in")), GasLimit: &limit,
					MaxFeePerCycle: ptr(types.WeiOf(5000)), MaxPriorityFeePerCycle: ptr(types.WeiOf(tip))})
				if err != nil {
					t.Fatal(err)
				}
				pending = append(pending, twinDue{timer, tip, limit - types.Cycles(rapid.Uint64Range(0, 900).Draw(t, "unused"))})
			}
			if len(pending) == 0 && rapid.IntRange(0, 4).Draw(t, "skip") == 0 {
				w.head += types.Height(rapid.Uint64Range(1, 100).Draw(t, "heights"))
			}
			now := w.now()
			for tw.epoch < uint64(now)/w.p.CalendarEpochBlocks {
				tw.rollover(int64(w.p.LaneTimerCycles))
			}
			var due []twinDue
			for _, d := range pending {
				if d.timer.Height <= now {
					due = append(due, d)
				}
			}
			want := tw.block(now, w.p.LaneTimerCycles, due)
			w.block()
			var got []types.TimerID
			for _, o := range w.orders {
				got = append(got, o.Timer.ID)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("block %d fires %v, want %v", now, got, want)
			}
			for _, a := range actors {
				if got := actorWeightOf(w.at(now), a).Weight; got != tw.weight(a) {
					t.Fatalf("block %d: weight %d, want %d", now, got, tw.weight(a))
				}
			}
			pending = slices.DeleteFunc(pending, func(d twinDue) bool { return slices.Contains(want, d.timer.ID) })
		}
	})
}

func FuzzRevisionAnswers(f *testing.F) {
	f.Add(codec.Marshal(map[string]uint64{"max_fee_per_cycle": 5000, "tip_per_cycle": 40}))
	f.Add(codec.Marshal(map[string]uint64{"max_priority_fee_per_cycle": 1 << 60}))
	f.Add([]byte{0xf6})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, output []byte) {
		said, ok := revisionBids.read(output)
		if !ok && said != (bid{}) {
			t.Fatalf("nonsense says %+v", said)
		}
		if again, okAgain := revisionBids.read(output); okAgain != ok || !same(again.maxFee, said.maxFee) ||
			!same(again.priority, said.priority) {
			t.Fatal("it says something else when read again")
		}
	})
}

// Quoting, ordering, slicing and counting 10,000 due timers, of few actors and of
// as many; one fires.
func BenchmarkRevision(b *testing.B) {
	for _, actors := range []int{100, 10_000} {
		w := revision()
		w.p.LaneTimerCycles = 1000
		for i := range 10_000 {
			a := types.Address{0: 0xaa, 1: byte(i % actors), 2: byte(i % actors >> 8)}
			w.fund(a, types.WeiOf(1<<60))
			if _, err := w.schedule(a, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), MaxFeePerCycle: ptr(types.WeiOf(5000)),
				MaxPriorityFeePerCycle: ptr(types.WeiOf(uint64(i * 7919 % 10_000 % 4000)))}); err != nil {
				b.Fatal(err)
			}
		}
		r := &laneRun{InBlock: w.at(2), policy: gba{}, host: LaneHost{CellsLeft: w.cells, Fire: w.fire, Ask: w.ask}}
		r.takeDue()
		due := slices.Clone(r.due)
		b.Run(fmt.Sprintf("%d actors", actors), func(b *testing.B) {
			for b.Loop() {
				copy(r.due, due)
				r.out = LaneResult{}
				run := &gbaRun{lane: r}
				if err := run.quotePrices(); err != nil {
					b.Fatal(err)
				}
				ready, _ := r.classifyDue()
				if run.fillLane(ready); len(run.parts) != actors {
					b.Fatal(len(run.parts))
				}
				run.closeRun()
			}
		})
	}
}
