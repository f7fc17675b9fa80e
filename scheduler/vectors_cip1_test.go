package scheduler

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// ratio is a fraction of a vector, "n/d".
type ratio struct{ big.Rat }

func (r *ratio) UnmarshalJSON(text []byte) error {
	return r.UnmarshalText([]byte(strings.Trim(string(text), `"`)))
}

func (r *ratio) is(w types.Weight) bool {
	return r.Cmp(new(big.Rat).SetFrac(new(big.Int).SetUint64(w.Num), new(big.Int).SetUint64(w.Den))) == 0
}

func TestVectorsOfPrices(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		BaseFeeCycle types.Wei    `json:"basefee_cycle"`
		BaseFeeLane  types.Wei    `json:"basefee_lane_timer"`
		BaseFeeCell  types.Wei    `json:"basefee_cell"`
		P50          types.Wei    `json:"p50"`
		GasLimit     types.Cycles `json:"gas_limit,string"`
		MaxCells     types.Cells  `json:"max_cells_per_fire,string"`
		StatedFee    *types.Wei   `json:"stated_max_fee"`
		StatedTip    *types.Wei   `json:"stated_priority"`
		GBAFee       *types.Wei   `json:"gba_max_fee"`
		GBATip       *types.Wei   `json:"gba_priority"`
		Balance      types.Wei    `json:"balance"`
		MaxFee       types.Wei    `json:"max_fee_per_cycle"`
		MaxPriority  types.Wei    `json:"max_priority_fee_per_cycle"`
		PricedOut    bool         `json:"priced_out"`
		Priority     types.Wei    `json:"priority_per_cycle"`
		MaxCost      types.Wei    `json:"max_cost"`
		Class        string       `json:"class"`
	}](t, "cip1/6-prices.json") {
		w := newWorld()
		w.p.Policy, w.p.MaxCellsPerFire = EIP1559, c.MaxCells
		w.fees = Fees{Cycle: c.BaseFeeCycle, Cell: c.BaseFeeCell, Lane: c.BaseFeeLane}
		w.fund(alice, c.Balance)
		r := &laneRun{InBlock: w.blockNow(), policy: eip1559{}}
		r.insertTimer(&types.Timer{ID: types.TimerID{1}, Actor: alice, FeePayer: alice, GasLimit: c.GasLimit, ExpiresAt: 100}, Place{Height: 1})
		r.takeDue()
		d := &r.due[0]
		full := bid{c.StatedFee, c.StatedTip}.orElse(bid{c.GBAFee, c.GBATip})
		price, pricedOut := r.lanePrice(full, c.P50)
		d.price = price
		full = full.orElse(r.defaultBid(c.P50))
		cost, payable := r.maxCost(d)
		class := "ready"
		if _, ends := r.judgeInsolvency(d); ends {
			class = "insufficient_funds"
		} else if pricedOut {
			class = "deferred"
		}
		if *full.maxFee != c.MaxFee || *full.priority != c.MaxPriority || pricedOut != c.PricedOut ||
			d.price.TipCycle != c.Priority || cost != c.MaxCost || class != c.Class {
			t.Errorf("%+v:\nbid %s/%s, priced out %v, priority %s, cost %s %v, %s", c, full.maxFee, full.priority, pricedOut, d.price.TipCycle, cost,
				payable, class)
		}
	}
}

func same(a, b *types.Wei) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func TestVectorsOfHints(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Tier       string
		Multiplier ratio
		P50        types.Wei
		Priority   types.Wei `json:"max_priority_fee_per_cycle"`
	}](t, "cip1/7.3-hints.json") {
		w := rich()
		w.p.Policy, w.head = EIP1559, 7
		keepP50(w.kv, 7, []types.Wei{c.P50})
		timer := w.must(t, alice, program.TimerRequest{Height: 20, PriorityTier: c.Tier})
		if *timer.MaxPriorityFeePerCycle != c.Priority {
			t.Errorf("%s of %s is %s, want %s", c.Tier, c.P50, timer.MaxPriorityFeePerCycle, c.Priority)
		}
	}
}

func TestVectorsOfMedians(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Values []types.Wei
		Median types.Wei
	}](t, "cip1/7-median.json") {
		if got := lowerMedian(slices.Clone(c.Values)); got != c.Median {
			t.Errorf("%v: %s, want %s", c.Values, got, c.Median)
		}
	}
}

func TestVectorsOfWeights(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Name   string
		Height types.Height `json:",string"`
		Window uint64       `json:",string"`
		Center string       `json:"fairness_center"`
		Middle ratio        `json:"center"`
		Fires  []struct {
			Height types.Height `json:",string"`
			Actor  types.Address
			Fires  uint64 `json:",string"`
		}
		Activation types.Height `json:",string"`
		Weights    []struct {
			Actor  types.Address
			Recent uint64 `json:",string"`
			Weight ratio
		}
	}](t, "cip1/8-weights.json") {
		w := newWorld()
		w.p.Policy, w.p.FairnessWindowBlocks, w.p.FairnessCenter = EIP1559, c.Window, c.Center
		slices.SortStableFunc(c.Fires, func(a, b struct {
			Height types.Height `json:",string"`
			Actor  types.Address
			Fires  uint64 `json:",string"`
		}) int {
			return int(a.Height) - int(b.Height)
		})
		for i := 0; i < len(c.Fires); {
			height, fires := c.Fires[i].Height, []actorFires(nil)
			for ; i < len(c.Fires) && c.Fires[i].Height == height; i++ {
				fires = append(fires, actorFires{c.Fires[i].Actor, c.Fires[i].Fires})
			}
			if height >= c.Activation && height < c.Height {
				w.at(height).fairnessWindow().dropOldBlocks()
				w.at(height).fairnessWindow().keepFires(fires)
			}
		}
		w.at(c.Height).fairnessWindow().dropOldBlocks()
		if err := Check(&w.p, w.kv); err != nil {
			t.Fatal(err)
		}
		weights := w.at(c.Height).fairnessWindow().currentWeights()
		if weights.center != 1 && !c.Middle.is(types.Weight{Num: weights.center, Den: weights.per}) {
			t.Errorf("%s: center %d/%d, want %s", c.Name, weights.center, weights.per, c.Middle.RatString())
		}
		for _, want := range c.Weights {
			if got := weights.weightOf(want.Actor); !want.Weight.is(got) || recentFires(w.kv, want.Actor) != want.Recent {
				t.Errorf("%s: %s has %d and %s, want %d and %s", c.Name, want.Actor, recentFires(w.kv, want.Actor), got, want.Recent,
					want.Weight.RatString())
			}
		}
	}
}

// vectorTimer is a timer of the vectors of a block.
type vectorTimer struct {
	Seq         types.Seq `json:",string"`
	ID          types.TimerID
	Actor       types.Address
	FeePayer    *types.Address `json:"fee_payer"`
	Height      types.Height   `json:",string"`
	ScheduledAt types.Height   `json:"scheduled_at,string"`
	ExpiresAt   *types.Height  `json:"expires_at,string"`
	GasLimit    types.Cycles   `json:"gas_limit,string"`
	MaxFee      *types.Wei     `json:"max_fee_per_cycle"`
	MaxPriority *types.Wei     `json:"max_priority_fee_per_cycle"`
	Weight      ratio
	Cycles      types.Cycles `json:",string"`
	Cells       types.Cells  `json:",string"`
	Cancels     seqs
	Examined    *types.Height `json:",string"`
	GBA         *vectorBidder
}

type vectorBidder struct {
	Bidder      types.Address
	Cycles      types.Cycles `json:",string"`
	Fails       bool
	MaxFee      *types.Wei `json:"max_fee_per_cycle"`
	MaxPriority *types.Wei `json:"max_priority_fee_per_cycle"`
}

type seqs []types.Seq

func (s *seqs) UnmarshalJSON(text []byte) error {
	var words []json.Number
	err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), `"`, "")), &words)
	for _, word := range words {
		n, _ := word.Int64()
		*s = append(*s, types.Seq(n))
	}
	return err
}

// weighed is eip1559 with weights from a vector.
type weighed struct {
	eip1559
	of    map[types.TimerID]*ratio
	order *[]types.Seq
}

func (p weighed) openRun(r *laneRun) policyRun {
	return &weighedRun{p.eip1559.openRun(r).(*eip1559Run), p}
}

// weighedRun is weighed in one block.
type weighedRun struct {
	*eip1559Run
	weighed weighed
}

func (p *weighedRun) quotePrices() error {
	if err := p.eip1559Run.quotePrices(); err != nil {
		return err
	}
	r := p.lane
	common := big.NewInt(1)
	for i := range r.due {
		d := p.weighed.of[r.due[i].ID].Denom()
		common.Mul(common, new(big.Int).Div(d, new(big.Int).GCD(nil, nil, common, d)))
	}
	for i := range r.due {
		n := new(big.Rat).Mul(&p.weighed.of[r.due[i].ID].Rat, new(big.Rat).SetInt(common))
		r.due[i].weight = types.Weight{Num: n.Num().Uint64(), Den: common.Uint64()}
	}
	return nil
}

func (p *weighedRun) fillLane(ready []int) plan {
	for _, at := range p.byUrgency(slices.Clone(ready)) {
		*p.weighed.order = append(*p.weighed.order, p.lane.due[at].Seq)
	}
	return p.eip1559Run.fillLane(ready)
}

// play puts the timers of a vector into a world and runs its block. A payer for
// another's timer signed for the amount in signed, or for all there is.
func play(t *testing.T, w *world, timers []vectorTimer, signed map[types.Address]types.Wei) (out LaneResult, order []types.Seq) {
	t.Helper()
	policy := weighed{of: make(map[types.TimerID]*ratio), order: &order}
	policies["vector"], w.p.Policy = policy, "vector"
	bySeq, byID := make(map[types.Seq]*vectorTimer), make(map[types.TimerID]*vectorTimer)
	for i := range timers {
		v := &timers[i]
		policy.of[v.ID], bySeq[v.Seq], byID[v.ID] = &v.Weight, v, v
		timer := types.Timer{ID: v.ID, Actor: v.Actor, Height: v.Height, Handler: DefaultHandler, FeePayer: v.Actor, GasLimit: v.GasLimit,
			ExpiresAt: 1 << 40, MaxFeePerCycle: v.MaxFee, MaxPriorityFeePerCycle: v.MaxPriority, Seq: v.Seq, ScheduledAt: v.ScheduledAt}
		if v.FeePayer != nil {
			timer.FeePayer, timer.ExpiresAt = *v.FeePayer, *v.ExpiresAt
			v.Height -= 100 // all of them: no timer expires before its height (decision T6)
			timer.Height = v.Height
		}
		if v.GBA != nil {
			timer.GBA = &v.GBA.Bidder
		}
		b := w.at(1)
		at := Place{Height: timer.Height, Seq: v.Seq}
		if v.MaxPriority != nil && v.MaxFee != nil {
			at.Rank, _ = v.MaxPriority.Min(*v.MaxFee).Uint64()
		}
		if timer.FeePayer != timer.Actor {
			timer.Sponsor = ptr(types.Keccak(timer.FeePayer[:]))
		}
		b.insertTimer(&timer, at)
		most, stated := signed[timer.FeePayer]
		if !stated {
			most = types.MaxWei
		}
		b.addToAllowance(&timer, signedBy(timer.FeePayer, most))
		if v.Examined != nil {
			w.blockNow().Maintain()
			entry, _ := b.calendarOf().Find(at)
			b.shiftArrears(&entry, *v.Examined)
		}
		own := readTally(w.kv, v.Actor)
		writeTally(w.kv, v.Actor, tally{Pending: own.Pending + 1, Nonce: own.Nonce + 1})
		if next := timer.Seq + 1; next > readSequence(w.kv) {
			w.kv.Set(keySequence, codec.Marshal(next))
		}
	}
	w.handle = func(w *world, o Fire) Fired {
		v := byID[o.Timer.ID]
		fired := Fired{Result: types.StatusOK, Cycles: v.Cycles, Cells: v.Cells}
		for _, seq := range v.Cancels {
			if change, _, err := w.blockNow().CancelByGovernance(bySeq[seq].ID); err == nil {
				fired.Changes = append(fired.Changes, change)
			}
		}
		return fired
	}
	w.answer = vectorAnswers(t, timers)
	out = w.block()
	return out, order
}

// vectorAnswers are the bidders' of the timers: each call has its own asker in a
// vector, the first in sequence whose it can be.
func vectorAnswers(t *testing.T, timers []vectorTimer) func(*world, BidCall) Answer {
	heard := make(map[types.Seq]bool)
	return func(w *world, q BidCall) Answer {
		var asked GBAContext
		if err := codec.Unmarshal(q.Context, 1000, &asked); err != nil {
			t.Fatal(err)
		}
		for i := range timers {
			v := &timers[i]
			if v.GBA == nil || v.GBA.Bidder != q.Bidder || v.Height != asked.TriggerBlockHeight || *v.FeePayer != q.Payer ||
				v.MaxFee != nil && v.MaxPriority != nil || *v.ExpiresAt < w.now() || heard[v.Seq] {
				continue
			}
			heard[v.Seq] = true
			answer := Answer{Cycles: min(v.GBA.Cycles, q.Cycles),
				Output: codec.Marshal(&TxFeeParams{MaxFeePerCycle: v.GBA.MaxFee, MaxPriorityFeePerCycle: v.GBA.MaxPriority})}
			if v.GBA.Fails || v.GBA.Cycles > q.Cycles {
				answer.Output, answer.Fault = nil, "reverted"
			}
			return answer
		}
		t.Fatalf("asked %s for %s, which no timer names", q.Bidder, q.Payer)
		return Answer{}
	}
}

func TestVectorsOfSelection(t *testing.T) {
	reasons := map[string]string{"priced_out": ReasonPricedOut, "over_cap": ReasonOverCap, "lane_full": ReasonLaneFull,
		"cells_full": ReasonCellsFull,
		"gc_full":    ReasonGCFull}
	for _, c := range vectors.Cases[struct {
		Name          string
		Height        types.Height `json:",string"`
		Activation    types.Height `json:",string"`
		BaseFeeLane   types.Wei    `json:"basefee_lane_timer"`
		P50           types.Wei    `json:"p50"`
		LaneBudget    types.Cycles `json:"lane_budget,string"`
		Cap           types.Cycles `json:",string"`
		MaxCells      types.Cells  `json:"max_cells_per_fire,string"`
		CellsLeft     types.Cells  `json:"cells_left,string"`
		MaxExamined   uint64       `json:"max_examined,string"`
		MaxArrears    uint64       `json:"max_arrears,string"`
		TieBreak      string       `json:"tie_break"`
		PriorityFloor types.Wei    `json:"priority_floor"`
		Timers        []vectorTimer
		Order, Fired  seqs
		Next          seqs
		Outcomes      []struct {
			Seq     types.Seq `json:",string"`
			Outcome string
			Reason  string
		}
		CyclesUsed types.Cycles `json:"cycles_used,string"`
		CellsUsed  types.Cells  `json:"cells_used,string"`
		P50Next    types.Wei    `json:"p50_next"`
	}](t, "cip1/3-selection.json") {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld()
			w.head, w.cells, w.fees.Lane = c.Height-1, c.CellsLeft, c.BaseFeeLane
			w.p.LaneTimerCycles, w.p.MaxCyclesPerFireLane, w.p.MaxCellsPerFire = c.LaneBudget, c.Cap, c.MaxCells
			w.p.MaxExamined, w.p.TieBreak, w.p.PriorityFloor = c.MaxExamined, c.TieBreak, c.PriorityFloor
			w.p.MaxArrears = c.MaxArrears
			for _, v := range c.Timers {
				w.fund(v.Actor, types.MaxWei)
			}
			w.kv.Set(keyLane, codec.Marshal(&laneState{Activated: c.Activation, At: w.head, P50: c.P50}))
			out, order := play(t, w, c.Timers, nil)
			var fired seqs
			seqOf, outcome := make(map[types.TimerID]types.Seq), make(map[types.Seq]string)
			for _, v := range c.Timers {
				seqOf[v.ID] = v.Seq
			}
			for _, change := range out.Changes {
				switch change.Status {
				case types.TimerFired:
					fired = append(fired, change.Timer.Seq)
					outcome[change.Timer.Seq] = "fired"
				case types.TimerPending:
					outcome[change.Timer.Seq] = "deferred " + change.Reason
				default:
					outcome[change.Timer.Seq] = string(change.Status)
				}
			}
			for _, want := range c.Outcomes {
				text := want.Outcome
				if want.Reason != "" && want.Reason != "not_examined" {
					text += " " + reasons[want.Reason]
				}
				if want.Reason == "not_examined" {
					text = ""
				}
				if outcome[want.Seq] != text {
					t.Errorf("timer %d: %q, want %q", want.Seq, outcome[want.Seq], text)
				}
			}
			if !slices.Equal(order, []types.Seq(c.Order)) || !slices.Equal(fired, c.Fired) || out.Cycles != c.CyclesUsed ||
				out.Cells != c.CellsUsed {
				t.Errorf("order %v fired %v used %d and %d, want %v %v %d %d", order, fired, out.Cycles, out.Cells, c.Order, c.Fired, c.CyclesUsed,
					c.CellsUsed)
			}
			if got := previousP50(w.kv, w.now()); got != c.P50Next {
				t.Errorf("p50 %s, want %s", got, c.P50Next)
			}
			var next seqs
			for _, e := range w.blockNow().calendarOf().Due(w.now(), 1000) {
				next = append(next, e.Seq)
			}
			if !slices.Equal(next, c.Next) {
				t.Errorf("the next block examines %v, want %v", next, c.Next)
			}
		})
	}
}

type vectorBalance struct {
	Address       types.Address
	Before, After types.Wei
}

// settlementCase is a block of the lane with money.
type settlementCase struct {
	Name          string
	Height        types.Height `json:",string"`
	BaseFeeCycle  types.Wei    `json:"basefee_cycle"`
	BaseFeeLane   types.Wei    `json:"basefee_lane_timer"`
	BaseFeeCell   types.Wei    `json:"basefee_cell"`
	P50           types.Wei    `json:"p50"`
	LaneBudget    types.Cycles `json:"lane_budget,string"`
	MaxCells      types.Cells  `json:"max_cells_per_fire,string"`
	CellsLeft     types.Cells  `json:"cells_left,string"`
	GCCycles      types.Cycles `json:"gc_cycles,string"`
	CallLimit     types.Cycles `json:"call_limit,string"`
	CallBudget    types.Cycles `json:"call_budget,string"`
	TieBreak      string       `json:"tie_break"`
	PriorityFloor types.Wei    `json:"priority_floor"`
	Proposer      types.Address
	Balances      []vectorBalance
	Timers        []vectorTimer
	Order         seqs
	Calls         []struct {
		Seq    types.Seq `json:",string"`
		Payer  types.Address
		Cycles types.Cycles `json:",string"`
	}
	Outcomes []struct {
		Seq     types.Seq `json:",string"`
		Outcome string
	}
	Fires []struct {
		Seq       types.Seq `json:",string"`
		Priority  types.Wei `json:"priority_per_cycle"`
		MaxCost   types.Wei `json:"max_cost"`
		TipPaid   types.Wei `json:"tip_paid"`
		FeePaid   types.Wei `json:"fee_paid"`
		BurnCycle types.Wei `json:"burned_cycle"`
		BurnLane  types.Wei `json:"burned_lane_timer"`
		BurnCell  types.Wei `json:"burned_cell"`
	}
	Tips       types.Wei
	GCUsed     types.Cycles `json:"gc_used,string"`
	CyclesUsed types.Cycles `json:"cycles_used,string"`
	Sponsors   []vectorSponsor
}

// vectorSponsor is what a payer of others' timers signed for, and what the block
// leaves of it: nil where it ended.
type vectorSponsor struct {
	Payer  types.Address
	Signed types.Wei
	Left   *types.Wei
}

func TestVectorsOfSettlement(t *testing.T) { settle(t, "cip1/3-settlement.json") }

// Decision T28.
func TestVectorsOfSponsors(t *testing.T) { settle(t, "cip1/13-sponsor.json") }

func settle(t *testing.T, file string) {
	for _, c := range vectors.Cases[settlementCase](t, file) {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld()
			w.head, w.cells = c.Height-1, c.CellsLeft
			w.fees = Fees{Cycle: c.BaseFeeCycle, Cell: c.BaseFeeCell, Lane: c.BaseFeeLane}
			w.p.LaneTimerCycles, w.p.MaxCellsPerFire, w.p.GCCyclesPerBlock = c.LaneBudget, c.MaxCells, c.GCCycles
			w.p.GBACallCycles, w.p.GBABlockCycles = c.CallLimit, c.CallBudget
			w.p.TieBreak, w.p.PriorityFloor = c.TieBreak, c.PriorityFloor
			proposer = c.Proposer
			for _, b := range c.Balances {
				w.fund(b.Address, b.Before)
			}
			w.kv.Set(keyLane, codec.Marshal(&laneState{Activated: 1, At: w.head, P50: c.P50}))
			signed := map[types.Address]types.Wei{}
			for _, sponsor := range c.Sponsors {
				signed[sponsor.Payer] = sponsor.Signed
			}
			out, order := play(t, w, c.Timers, signed)
			for _, sponsor := range c.Sponsors {
				a, pending := readAllowance(w.kv, types.Keccak(sponsor.Payer[:]))
				if pending != (sponsor.Left != nil) || pending && a.Left != *sponsor.Left {
					t.Errorf("%s has %+v left of %s, want %v", sponsor.Payer, a, sponsor.Signed, sponsor.Left)
				}
			}
			for _, b := range c.Balances {
				if w.balances[b.Address] != b.After {
					t.Errorf("%s holds %s, want %s", b.Address, w.balances[b.Address], b.After)
				}
			}
			outcome := make(map[types.Seq]string)
			fires := c.Fires
			for _, change := range out.Changes {
				outcome[change.Timer.Seq] = strings.Replace(string(change.Status), "pending", "deferred", 1)
				if change.Status != types.TimerFired {
					continue
				}
				if len(fires) == 0 || change.Timer.Seq != fires[0].Seq || change.Priority != fires[0].Priority || change.TipPaid != fires[0].TipPaid ||
					change.FeePaid != fires[0].FeePaid {
					t.Fatalf("fired %+v, want %+v", change, fires)
				}
				o := w.orders[len(c.Fires)-len(fires)]
				cost, _ := o.Price.Cost(change.CyclesUsed, change.CellsUsed)
				if o.MaxCost != fires[0].MaxCost || cost.BurnedCycle != fires[0].BurnCycle || cost.BurnedLane != fires[0].BurnLane ||
					cost.BurnedCell != fires[0].BurnCell {
					t.Errorf("%+v, cost %+v, want %+v", o, cost, fires[0])
				}
				fires = fires[1:]
			}
			for _, want := range c.Outcomes {
				if outcome[want.Seq] != want.Outcome {
					t.Errorf("timer %d %s, want %s", want.Seq, outcome[want.Seq], want.Outcome)
				}
			}
			var used types.Cycles
			for i, call := range c.Calls {
				if i >= len(w.asked) || w.asked[i].Payer != call.Payer {
					t.Fatalf("asked %+v, want %+v", w.asked, c.Calls)
				}
				used += call.Cycles
			}
			if !slices.Equal(order, []types.Seq(c.Order)) || len(fires) > 0 || len(w.asked) != len(c.Calls) || out.AskCycles != used ||
				out.GCCycles != c.GCUsed || out.Cycles != c.CyclesUsed {
				t.Errorf("order %v, %d fires missing, %d asked with %d cycles, cleanup %d, used %d; want %+v", order, len(fires), len(w.asked),
					out.AskCycles, out.GCCycles, out.Cycles, c)
			}
		})
	}
}

func TestVectorsOfBidders(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Name         string
		Height       types.Height `json:",string"`
		BaseFeeCycle types.Wei    `json:"basefee_cycle"`
		CallLimit    types.Cycles `json:"call_limit,string"`
		CallBudget   types.Cycles `json:"call_budget,string"`
		Balances     []vectorBalance
		Timers       []vectorTimer
		Answers      []struct {
			Seq         types.Seq `json:",string"`
			Way         string
			MaxFee      *types.Wei `json:"max_fee_per_cycle"`
			MaxPriority *types.Wei `json:"max_priority_fee_per_cycle"`
		}
		Calls []struct {
			Payer  types.Address
			Cycles types.Cycles `json:",string"`
		}
	}](t, "cip1/7-gba-budget.json") {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld()
			w.head, w.fees.Cycle = c.Height-1, c.BaseFeeCycle
			w.p.GBACallCycles, w.p.GBABlockCycles = c.CallLimit, c.CallBudget
			for _, b := range c.Balances {
				w.fund(b.Address, b.Before)
			}
			r := &laneRun{InBlock: w.blockNow(), host: LaneHost{Ask: w.ask}, policy: eip1559{}}
			for i := range c.Timers {
				v := &c.Timers[i]
				d := dueTimer{payer: *v.FeePayer, Entry: Entry{Place: Place{Height: v.Height, Seq: v.Seq}, Actor: v.Actor, FeePayer: *v.FeePayer,
					ExpiresAt:      *v.ExpiresAt,
					MaxFeePerCycle: v.MaxFee, MaxPriorityFeePerCycle: v.MaxPriority}}
				if v.GBA != nil {
					d.GBA = &v.GBA.Bidder
				}
				r.due = append(r.due, d)
			}
			w.answer = vectorAnswers(t, c.Timers)
			said, err := r.askBidders(laneBids(types.Wei{}))
			if err != nil {
				t.Fatal(err)
			}
			failed := 0
			for at, want := range c.Answers {
				if want.Way == "failed" {
					failed++
				}
				if got := said.bidAt(at); !same(got.maxFee, want.MaxFee) || !same(got.priority, want.MaxPriority) {
					t.Errorf("timer %d (%s): %s/%s, want %s/%s", want.Seq, want.Way, got.maxFee, got.priority, want.MaxFee, want.MaxPriority)
				}
			}
			if len(w.asked) != len(c.Calls) || len(r.out.Events) != failed {
				t.Fatalf("%d asked, %d failed, want %d and %d", len(w.asked), len(r.out.Events), len(c.Calls), failed)
			}
			for i, call := range c.Calls {
				if w.asked[i].Payer != call.Payer {
					t.Errorf("call %d is paid by %s, want %s", i, w.asked[i].Payer, call.Payer)
				}
			}
			for _, b := range c.Balances {
				if w.balances[b.Address] != b.After {
					t.Errorf("%s holds %s, want %s", b.Address, w.balances[b.Address], b.After)
				}
			}
		})
	}
}
