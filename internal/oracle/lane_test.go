package oracle

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// The second chain of these tests runs under eip1559: actors x, y and z have a
// timer each, due at 2, with tips of 3, 2 and 1, of which two fit; z's waits one
// block and fires with the weight of an actor that has not fired yet, before a
// second timer of x's, which has. A timer of y's watches a key: it is triggered
// and fires in block 4. In block 2 an agent was asked.
var x, y, z = types.Address{1, 1}, types.Address{2, 2}, types.Address{3, 3}

func ref[T any](v T) *T { return &v }

func tipped(who types.Address, due types.Height, nonce uint64, seq types.Seq, tip uint64) types.Timer {
	id := keccak256(who[:], be8(uint64(due)), nil, be8(nonce))
	return types.Timer{ID: id, Actor: who, Height: due, FeePayer: who, GasLimit: 1000, ExpiresAt: due + 10, Seq: seq, ScheduledAt: 1,
		MaxFeePerCycle: ref(types.WeiOf(100)), MaxPriorityFeePerCycle: ref(types.WeiOf(tip))}
}

// tippedFire is a fire of 100 cycles and a cell at a cycle base fee of 10, half of
// a lane base fee, and a tip.
func tippedFire(t types.Timer, at types.Height, laneFee, tip uint64, weight types.Weight) (types.TimerChange, types.Receipt) {
	fee, tips := types.WeiOf(100*(10+laneFee/2+tip)+20), types.WeiOf(100*tip)
	return types.TimerChange{Kind: types.ChangeEnded, Timer: t, Status: types.TimerFired, At: at, Priority: types.WeiOf(tip), Weight: weight,
			CyclesUsed: 100, CellsUsed: 1, FeePaid: fee, TipPaid: tips, Result: types.StatusOK},
		types.Receipt{Hash: t.ID, Origin: types.OriginTimer, Height: at, Cycles: 100, Cells: 1, Fee: fee, Tip: tips, Status: types.StatusOK}
}

func laneChain(spoil func(h types.Height, o *Observation)) []Observation {
	p, q, r := tipped(x, 2, 0, 1, 3), tipped(y, 2, 0, 2, 2), tipped(z, 2, 0, 3, 1)
	again := tipped(x, 3, 1, 4, 1)
	watch := tipped(y, 2, 1, 5, 0)
	watch.Watch = &types.Watch{Actor: x, Key: types.Bytes("k")}
	two, one := types.Weight{Num: 2, Den: 1}, types.Weight{Num: 1, Den: 1}
	fireP, receiptP := tippedFire(p, 2, 13, 3, two)
	fireQ, receiptQ := tippedFire(q, 2, 13, 2, two)
	late := r
	late.Deferrals = 1
	fireR, receiptR := tippedFire(late, 3, 12, 1, two)
	fireAgain, receiptAgain := tippedFire(again, 3, 12, 1, one)
	fireWatch, receiptWatch := tippedFire(watch, 4, 11, 0, one)
	all := []Observation{
		{Block: &types.Block{}},
		{Block: &types.Block{Header: types.Header{CyclesUsed: 30}}, Receipts: []types.Receipt{receiptP, receiptQ},
			Timers: []types.TimerChange{fireP, fireQ,
				{Kind: types.ChangeDeferred, Timer: late, Status: types.TimerPending, At: 2, Reason: "lane_full", Priority: types.WeiOf(1),
					Weight: two}}},
		{Block: &types.Block{}, Receipts: []types.Receipt{receiptR, receiptAgain}, Timers: []types.TimerChange{fireR, fireAgain}},
		{Block: &types.Block{}, Receipts: []types.Receipt{receiptWatch}, Timers: []types.TimerChange{
			{Kind: types.ChangeTriggered, Timer: watch, Status: types.TimerPending, At: 4, Reason: "triggered"}, fireWatch}},
		{Block: &types.Block{}},
	}
	for _, t := range []types.Timer{p, q, r, again, watch} {
		all[0].Timers = append(all[0].Timers, types.TimerChange{Kind: types.ChangeScheduled, Timer: t, Status: types.TimerPending, At: 1})
	}
	parent := laneGenesis()
	fee := uint64(16)
	for i := range all {
		fee -= fee / 8 // below half in every block
		all[i].Block.Header.BaseFeeLaneTimer = types.WeiOf(fee)
		all[i].Lane = laneParameters()
		if spoil != nil {
			spoil(types.Height(i+1), &all[i])
		}
		seal(&all[i], parent)
		parent = all[i].Block
	}
	return all
}

func laneParameters() LaneRules {
	l := parameters()
	l.Policy, l.LaneBudget = eip1559, 1150
	return l
}

func laneGenesis() *types.Block {
	g := genesis()
	g.Header.BaseFeeLaneTimer = types.WeiOf(16)
	return g
}

func judgeLane(all []Observation) *Judge {
	r := rules()
	r.Genesis, r.Lane = laneGenesis(), laneParameters()
	j := New(r)
	for _, o := range all {
		j.Observe(o)
	}
	return j
}

func TestARightLaneIsNotAccused(t *testing.T) {
	j := judgeLane(laneChain(nil))
	for _, v := range j.Violations() {
		t.Error(v)
	}
	c := j.Counts()
	if c.Fired != 5 || c.Weights != 6 || c.Asked != 1 || c.Triggered != 1 || c.Lanes != 5 || c.BaseFees != 5 {
		t.Errorf("judged %+v", c)
	}
}

// Each row plants one thing in one block of the lane.
func TestPlantedLanesAreFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		at     types.Height
		plant  func(o *Observation)
		oracle string
		text   string
	}{
		{"an unchanged lane fee", 3, func(o *Observation) { o.Block.Header.BaseFeeLaneTimer = types.WeiOf(13) }, "basefees",
			"they are 10, 20 and 12"},
		{"a fire without the lane's fee", 2, func(o *Observation) { o.Receipts[0].Fee = types.WeiOf(1320) }, "fees", "want 1920, tip 300"},
		{"a tip below the stated one", 2, func(o *Observation) {
			o.Timers[1].Priority, o.Timers[1].TipPaid, o.Timers[1].FeePaid = types.WeiOf(1), types.WeiOf(100), types.WeiOf(1720)
			o.Receipts[1].Tip, o.Receipts[1].Fee = types.WeiOf(100), types.WeiOf(1720)
		}, "fees", "tips 1 a cycle; its stated terms give 2"},
		{"a fire priced out", 1, func(o *Observation) { o.Timers[0].Timer.MaxFeePerCycle = ref(types.WeiOf(5)) }, "fees", "whose maximum is 5"},
		{"agents over their budget", 2, func(o *Observation) { o.Block.Header.CyclesUsed = 31 }, "fees", "agents may use 30"},
		{"agents under fifo", 2, func(o *Observation) { o.Lane.Policy = fifo }, "fees", "receipts used 200 cycles"},
		{"the lesser tip first", 2, func(o *Observation) {
			o.Timers[0], o.Timers[1] = o.Timers[1], o.Timers[0]
			o.Receipts[0], o.Receipts[1] = o.Receipts[1], o.Receipts[0]
		}, "lane", "(priority 3, weight 2/1, due 2, sequence 1) fired after"},
		{"a light actor first", 3, swapFires, "lane", "fired after"},
		{"a weight for one who fired", 3, func(o *Observation) { o.Timers[1].Weight = types.Weight{Num: 3, Den: 2} }, "lane",
			"is 3/2; with 1 fires in the window of a network at 1 it is 1"},
		{"a fire without a weight", 3, func(o *Observation) { o.Timers[1].Weight = types.Weight{} }, "lane", "without a weight"},
		{"a window that forgets too soon", 4, func(o *Observation) { o.Lane.Window = 1 }, "lane", "it is 2"},
		{"skipped by a cheaper one", 2, func(o *Observation) { o.Timers[2].Priority = types.WeiOf(9) }, "lane", "waits (lane_full)"},
		{"a cap of the auction phase", 2, func(o *Observation) { o.Lane.FireCyclesAuction = 99 }, "lane", "used 100 cycles and 1 cells, of 99"},
		{"a watcher that nothing triggered", 4, func(o *Observation) { o.Timers = o.Timers[1:] }, "timers", "fired"},
		{"a watcher triggered twice", 4, func(o *Observation) { o.Timers = append([]types.TimerChange{o.Timers[0]}, o.Timers...) }, "timers",
			"triggered before at 4"},
		{"a watcher triggered and forgotten", 4, func(o *Observation) { o.Timers, o.Receipts = o.Timers[:1], nil }, "timers",
			"due at 4, neither ended nor was deferred"},
	} {
		j := judgeLane(laneChain(func(h types.Height, o *Observation) {
			if h == test.at {
				test.plant(o)
			}
		}))
		accused(t, test.name, j, test.oracle, test.text)
	}
}

func swapFires(o *Observation) {
	o.Timers[0], o.Timers[1] = o.Timers[1], o.Timers[0]
	o.Receipts[0], o.Receipts[1] = o.Receipts[1], o.Receipts[0]
}

// Ties go by id, or by age if the parameter is set to that.
func TestTiesAreJudgedByTheParameter(t *testing.T) {
	a, b := &types.TimerChange{Kind: types.ChangeEnded, Timer: types.Timer{ID: types.Hash{2}, Height: 1, Seq: 1}},
		&types.TimerChange{Kind: types.ChangeEnded, Timer: types.Timer{ID: types.Hash{1}, Height: 1, Seq: 2}}
	for _, byAge := range []bool{false, true} {
		r := &laneOf{Judge: judge(), rules: &LaneRules{Policy: eip1559, TieByAge: byAge}}
		if r.isAhead(a, b) != byAge || r.isAhead(b, a) == byAge {
			t.Errorf("by age %v: wrong", byAge)
		}
	}
}

// An auction of two: each row plants one thing in the block of its fires.
func TestPlantedAuctionsAreFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		plant  func(o *Observation)
		oracle string
		text   string
	}{
		{"", func(*Observation) {}, "", ""},
		{"a payment above the bid", func(o *Observation) { pay(o, 51) }, "fees", "which bid 50, won and paid 51"},
		{"a payment below the reserve price", func(o *Observation) { pay(o, 9) }, "fees", "the reserve price is 10"},
		{"not the first price", func(o *Observation) { o.Lane.Policy = firstPrice }, "fees", "which bid 50, won and paid 20"},
		{"a payment without a payee", func(o *Observation) { o.Receipts[0].Fee = types.WeiOf(1020) }, "fees", "want 1040, tip 20"},
		{"more winners than a block may have", func(o *Observation) { o.Lane.FiresBlock = 0 }, "lane", "1 timers won, at most 0"},
		{"more winners than an actor may have", func(o *Observation) { o.Lane.FiresActor = 0 }, "lane", "won more than 0 times"},
		{"winners beyond the lane by their limits", func(o *Observation) { o.Lane.LaneBudget = 999 }, "lane", "the winners' limits are 1000"},
		{"a bid that was not returned", func(o *Observation) { o.Money.Bids = types.WeiOf(30) }, "supply", "and 30 are locked"},
	} {
		bidder := timer(2, 0, 1)
		bidder.Bid = types.WeiOf(50)
		won, receipt := fire(bidder, 2)
		all := []Observation{
			{Block: &types.Block{}, Timers: []types.TimerChange{{Kind: types.ChangeScheduled, Timer: bidder, Status: types.TimerPending, At: 1}},
				Money: &Money{Balances: []types.Wei{types.WeiOf(1_000_000)}, Bids: types.WeiOf(50)}},
			{Block: &types.Block{}, Timers: []types.TimerChange{won}, Receipts: []types.Receipt{receipt},
				Money: &Money{Burned: types.WeiOf(1020), Balances: []types.Wei{types.WeiOf(998_980)}}},
		}
		r := rules()
		r.Lane.Policy = secondPrice
		parent := r.Genesis
		for i := range all {
			all[i].Lane = r.Lane
			if i == 1 {
				pay(&all[i], 20)
				test.plant(&all[i])
			}
			seal(&all[i], parent)
			parent = all[i].Block
		}
		j := New(r)
		for _, o := range all {
			j.Observe(o)
		}
		if test.name == "" {
			if err := j.Err(); err != nil {
				t.Errorf("a right auction: %v", err)
			}
			continue
		}
		accused(t, test.name, j, test.oracle, test.text)
	}
}

func pay(o *Observation, wei uint64) {
	o.Timers[0].TipPaid, o.Timers[0].FeePaid = types.WeiOf(wei), types.WeiOf(1020+wei)
	o.Receipts[0].Tip, o.Receipts[0].Fee = types.WeiOf(wei), types.WeiOf(1020+wei)
}
