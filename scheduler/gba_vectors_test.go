package scheduler

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func TestVectorsOfScores(t *testing.T) {
	beyond := 0
	for _, c := range vectors.Cases[struct {
		Name       string
		Turns      uint64 `json:",string"`
		Fired      uint64 `json:",string"`
		Tips       ratio
		HighestTip types.Wei    `json:"highest_tip"`
		Late       uint64       `json:"blocks_late,string"`
		Cycles     types.Cycles `json:",string"`
		Blocks     types.Cycles `json:",string"`
		Budget     types.Cycles `json:",string"`
		Score      uint64       `json:",string"`
	}](t, "cip1/first-revision-score.json") {
		p := newWorld().p
		tips, fits := types.WeiFromBig(c.Tips.Num())
		if !fits {
			beyond++ // what an actor's tips add up to stays at the greatest amount
			continue
		}
		s := actorWeight{Turns: c.Turns, Fires: c.Fired, Tips: tips, Late: c.Late, Cycles: c.Cycles, Budget: c.Budget * c.Blocks}
		if got := s.scoreOf(&p, c.HighestTip); got != c.Score {
			t.Errorf("%s: %+v scores %d", c.Name, c, got)
		}
	}
	if beyond > 2 {
		t.Errorf("%d cases are left out", beyond)
	}
}

func TestVectorsOfRevisionWeights(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Name   string
		Start  uint64 `json:",string"`
		Epochs []struct {
			Score    *uint64 `json:",string"`
			Deferred uint64  `json:"deferred_in_a_row,string"`
			Weight   uint64  `json:",string"`
		}
	}](t, "cip1/first-revision-weights.json") {
		p := newWorld().p
		weight := c.Start
		for i, e := range c.Epochs {
			score := p.GBAWeightStart
			if e.Score != nil {
				score = *e.Score
			}
			if weight = moveWeight(&p, weight, score, e.Deferred); weight != e.Weight {
				t.Errorf("%s, epoch %d: %d, want %d", c.Name, i, weight, e.Weight)
			}
		}
	}
}

type revisionTimer struct {
	Seq      types.Seq `json:",string"`
	Actor    types.Address
	GasLimit types.Cycles `json:"gas_limit,string"`
	MaxFee   types.Wei    `json:"max_fee_per_cycle"`
	Tip      types.Wei    `json:"tip_per_cycle"`
	Cycles   types.Cycles `json:",string"`
	Cells    types.Cells  `json:",string"`
}

// The bids are stated here, since stated bids precede an agent's.
func TestVectorsOfTheFirstRevision(t *testing.T) {
	reasons := map[string]string{"priced_out": ReasonBelowCycleFee, "insufficient_funds": ReasonInsufficient,
		"cells_full": ReasonCellsFull, "lane_full": ReasonLaneFull}
	for _, c := range vectors.Cases[struct {
		Name         string
		BaseFeeCycle types.Wei    `json:"basefee_cycle"`
		BaseFeeCell  types.Wei    `json:"basefee_cell"`
		Budget       types.Cycles `json:",string"`
		MaxCells     types.Cells  `json:"max_cells_per_fire,string"`
		CellsLeft    types.Cells  `json:"cells_left,string"`
		Proposer     types.Address
		Weights      []struct {
			Actor  types.Address
			Weight uint64 `json:",string"`
		}
		Balances []struct {
			Address       types.Address
			Before, After types.Wei
		}
		Timers []revisionTimer
		Order  seqs
		Slices []struct {
			Actor  types.Address
			Cycles types.Cycles `json:",string"`
		}
		Fires []struct {
			Seq     types.Seq `json:",string"`
			Tip     types.Wei `json:"effective_tip"`
			MaxCost types.Wei `json:"max_cost"`
			TipPaid types.Wei `json:"tip_paid"`
			FeePaid types.Wei `json:"fee_paid"`
		}
		Outcomes []struct {
			Seq     types.Seq `json:",string"`
			Outcome string
			Reason  *string
		}
		CyclesUsed types.Cycles `json:"cycles_used,string"`
	}](t, "cip1/first-revision.json") {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld()
			w.p.Policy, w.p.LaneTimerCycles, w.p.MaxCellsPerFire = GBA, c.Budget, c.MaxCells
			w.fees, w.cells = Fees{Cycle: c.BaseFeeCycle, Cell: c.BaseFeeCell}, c.CellsLeft
			here := func(a types.Address) types.Address {
				if a == c.Proposer {
					return proposer
				}
				return a
			}
			for _, b := range c.Balances {
				w.fund(here(b.Address), b.Before)
			}
			for _, v := range c.Weights {
				w.kv.Set(keyActorWeight(v.Actor), codec.Marshal(&actorWeight{Weight: v.Weight}))
			}
			byID := make(map[types.TimerID]*revisionTimer)
			for i := range c.Timers {
				v := &c.Timers[i]
				w.insertRevision(v)
				byID[revisionID(v.Seq)] = v
			}
			w.handle = func(_ *world, o Fire) Fired {
				v := byID[o.Timer.ID]
				return Fired{Result: types.StatusOK, Cycles: v.Cycles, Cells: v.Cells}
			}
			order, parts := w.revisionOrder()
			if !slices.Equal(order, c.Order) {
				t.Errorf("order %v, want %v", order, c.Order)
			}
			if len(parts) != len(c.Slices) {
				t.Errorf("slices %v, want %v", parts, c.Slices)
			}
			for _, s := range c.Slices {
				if parts[s.Actor] != s.Cycles {
					t.Errorf("actor %s has %d cycles, want %d", s.Actor, parts[s.Actor], s.Cycles)
				}
			}
			out := w.block()
			if out.Cycles != c.CyclesUsed || len(w.orders) != len(c.Fires) {
				t.Fatalf("%d fires of %d cycles, want %d of %d", len(w.orders), out.Cycles, len(c.Fires), c.CyclesUsed)
			}
			ended := make(map[types.Seq]types.TimerChange)
			for _, change := range out.Changes {
				ended[change.Timer.Seq] = change
			}
			for i, f := range c.Fires {
				o, change := w.orders[i], ended[f.Seq]
				if o.Timer.Seq != f.Seq || o.Price.TipCycle != f.Tip || o.MaxCost != f.MaxCost || change.FeePaid != f.FeePaid ||
					change.TipPaid != f.TipPaid {
					t.Errorf("fire %d: %d at %s, %s at most, %s paid, %s of it tip; want %+v", i, o.Timer.Seq, o.Price.TipCycle, o.MaxCost, change.FeePaid,
						change.TipPaid, f)
				}
			}
			for _, v := range c.Outcomes {
				change := ended[v.Seq]
				if (v.Outcome == "fired") != (change.Status == types.TimerFired) || v.Reason != nil && change.Reason != reasons[*v.Reason] {
					t.Errorf("%d: %s for %q, want %s for %v", v.Seq, change.Status, change.Reason, v.Outcome, v.Reason)
				}
			}
			for _, b := range c.Balances {
				if got := w.Balance(here(b.Address)); got != b.After {
					t.Errorf("%s holds %s, want %s", b.Address, got, b.After)
				}
			}
		})
	}
}

func revisionID(seq types.Seq) types.TimerID {
	return types.Keccak(binary.BigEndian.AppendUint64(nil, uint64(seq)))
}

// insertRevision puts a vector's timer into state, due in the block being made.
func (w *world) insertRevision(v *revisionTimer) {
	w.at(1).insertTimer(&types.Timer{ID: revisionID(v.Seq), Actor: v.Actor, FeePayer: v.Actor, GasLimit: v.GasLimit, ExpiresAt: 1 << 40,
		MaxFeePerCycle: &v.MaxFee, MaxPriorityFeePerCycle: &v.Tip, Seq: v.Seq, Height: w.now()}, Place{Height: w.now(), Seq: v.Seq})
	own := readTally(w.kv, v.Actor)
	writeTally(w.kv, v.Actor, tally{Pending: own.Pending + 1, Nonce: own.Nonce + 1})
	if next := v.Seq + 1; next > readSequence(w.kv) {
		w.kv.Set(keySequence, codec.Marshal(next))
	}
}

// revisionOrder is the order and the slices of the block being made.
func (w *world) revisionOrder() (order []types.Seq, parts map[types.Address]types.Cycles) {
	r := &laneRun{InBlock: w.blockNow(), host: LaneHost{Ask: w.ask}, policy: gba{}}
	r.takeDue()
	run := &gbaRun{lane: r}
	if err := run.quotePrices(); err != nil {
		panic(err)
	}
	ready, _ := r.classifyDue()
	places := run.byTip(ready)
	for _, at := range places {
		order = append(order, r.due[at].Seq)
	}
	return order, run.apportionBudget(places)
}
