package scheduler

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// gba is CIP-1's first revision: before the transactions each due timer's agent
// is asked for a bid, timers go by effective tip, and each actor has a slice of
// the budget by its weight. The owner pays, and who cannot is deferred.
//
// Spec: CIP-1 first revision §§3, 4, decisions T3, T14, T15, T23.
type gba struct{ fifo }

func (gba) priceOf(b *InBlock, t *types.Timer) feemarket.Price {
	price, _ := b.revisionPrice(bid{t.MaxFeePerCycle, t.MaxPriorityFeePerCycle})
	return price
}

func (gba) insolventEnds() bool { return false }

func (gba) openRun(r *laneRun) policyRun { return &gbaRun{lane: r} }

// gbaRun is gba in one block.
type gbaRun struct {
	lane   *laneRun
	parts  map[types.Address]types.Cycles // what each actor's slice of the budget has left
	queued []int                          // places of due: those that had or could have had a turn
}

// quotePrices asks the agents, and gives each timer the weight that its actor has in
// this epoch. The owner pays for the call too.
func (g *gbaRun) quotePrices() error {
	r := g.lane
	for at := range r.due {
		r.due[at].payer = r.due[at].Actor
	}
	answers, err := r.askBidders(revisionBids)
	if err != nil {
		return err
	}
	weights := make(map[types.Address]uint64)
	for at := range r.due {
		d := &r.due[at]
		if d.hasExpired(r.Height) {
			continue
		}
		weight, known := weights[d.Actor]
		if !known {
			weight = actorWeightOf(r.InBlock, d.Actor).Weight
			weights[d.Actor] = weight
		}
		d.weight = types.Weight{Num: weight, Den: gbaOne}
		price, low := r.revisionPrice(d.statedBid().orElse(answers.bidAt(at)))
		if d.price = price; low {
			d.pricedOut = ReasonBelowCycleFee
		}
	}
	return nil
}

// fillLane gives the timers their turns in two passes of their order: first each whose
// limit fits into the rest of its actor's slice, then the others while the budget
// lasts. A lack of cells or of money is final for the block.
func (g *gbaRun) fillLane(ready []int) plan {
	order := g.byTip(ready)
	g.queued, g.parts = ready, g.apportionBudget(order)
	return plan{turns: func(yield func(turn) bool) {
		var rest []int
		for _, at := range order {
			switch within, more := g.withinSlice(at, yield); {
			case !more:
				return
			case !within:
				rest = append(rest, at)
			}
		}
		inOrder(rest)(yield)
	}}
}

// withinSlice gives a timer its turn if its limit fits into the rest of its actor's
// slice, from which the fire's use is subtracted. more is true if the block
// continues.
func (g *gbaRun) withinSlice(at int, yield func(turn) bool) (within, more bool) {
	d := &g.lane.due[at]
	cycles, _ := g.lane.policy.limitsOfFire(g.lane.Params, d.GasLimit)
	left := g.parts[d.Actor]
	if cycles > left {
		return false, true
	}
	before := g.lane.out.Cycles
	more = yield(turn{at: at})
	g.parts[d.Actor] = left - (g.lane.out.Cycles - before)
	return true, more
}

// byTip orders places of due by effective tip, then weight, the highest first,
// then sequence (revision §3 steps 3d and 5d, decision T23).
func (g *gbaRun) byTip(places []int) []int {
	order := slices.Clone(places)
	slices.SortFunc(order, func(x, y int) int {
		a, b := &g.lane.due[x], &g.lane.due[y]
		return cmp.Or(b.price.TipCycle.Cmp(a.price.TipCycle), cmp.Compare(b.weight.Num, a.weight.Num), cmp.Compare(a.Seq, b.Seq))
	})
	return order
}

// apportionBudget apportions the budget among the actors of places of due by weight, each
// part rounded down (revision §3 step 5d, decision T23).
func (g *gbaRun) apportionBudget(places []int) map[types.Address]types.Cycles {
	parts := make(map[types.Address]types.Cycles)
	var sum uint64
	for _, at := range places {
		d := &g.lane.due[at]
		if _, counted := parts[d.Actor]; !counted {
			parts[d.Actor] = 0
			sum += d.weight.Num
		}
	}
	for _, at := range places {
		d := &g.lane.due[at]
		high, low := bits.Mul64(uint64(g.lane.Params.LaneTimerCycles), d.weight.Num)
		part, _ := bits.Div64(high, low, sum)
		parts[d.Actor] = types.Cycles(part)
	}
	return parts
}

// closeRun counts the turns of the block, for the timers that were queued.
func (g *gbaRun) closeRun() {
	r := g.lane
	var actors []types.Address // in the order in which they appear
	weights := make(map[types.Address]*actorWeight)
	fires := make(map[types.Address]uint64)
	epoch := gbaEpoch(r.InBlock)
	highest := highestTip(r.KV, epoch)
	before := highest
	for _, at := range g.queued {
		d := &r.due[at]
		w := weights[d.Actor]
		if w == nil {
			current := actorWeightOf(r.InBlock, d.Actor)
			w = &current
			w.Budget = w.Budget.Add(r.Params.LaneTimerCycles)
			actors, weights[d.Actor] = append(actors, d.Actor), w
		}
		w.countTurn(d, uint64(r.Height-d.Height))
		if d.fired {
			fires[d.Actor]++
		}
		if highest.Less(d.price.TipCycle) {
			highest = d.price.TipCycle
		}
	}
	for _, actor := range actors {
		w := weights[actor]
		if w.Deferred++; fires[actor] > 0 {
			w.Deferred = 0
		}
		r.KV.Set(keyActorWeight(actor), codec.Marshal(w))
	}
	if highest != before {
		r.KV.Set(keyHighestTip(epoch), codec.Marshal(highest))
	}
}

// revisionPrice is what a fire costs in this block by a bid, the default one
// where that leaves something open: the base fees, and
//
//	effective_tip = min(tip_per_cycle, max_fee_per_cycle − basefee_cycle)
//
// The revision names no default agent. This default uses that of the later §7.1
// with the fee that the bid is checked against: twice the cycle base fee, at most
// 2^256 - 1, and no tip, since the revision has no median. pricedOut is a max fee
// below the cycle base fee; the price is then without tip.
//
// Decisions T14, T23. Vectors: fixtures/vectors/cip1/first-revision.json.
func (b *InBlock) revisionPrice(said bid) (price feemarket.Price, pricedOut bool) {
	price = b.plainPrice()
	if Free(b.Params) {
		return price, false
	}
	most, ok := b.Fees.Cycle.MulOk(b.Params.DefaultFeeMultiple)
	if !ok {
		most = types.MaxWei
	}
	whole := said.orElse(bid{&most, &types.Wei{}})
	tip, ok := feemarket.Tip(*whole.maxFee, *whole.priority, b.Fees.Cycle)
	price.TipCycle = tip
	return price, !ok
}

// RevisionContext is what an agent is told under the first revision: a CBOR map
// with the six names of its §4.2. Amounts are in wei.
type RevisionContext struct {
	TriggerBlockHeight types.Height `cbor:"trigger_block_height"`
	CurrentBlockHeight types.Height `cbor:"current_block_height"`
	BaseFeeCycle       types.Wei    `cbor:"basefee_cycle"`
	BaseFeeCell        types.Wei    `cbor:"basefee_cell"`
	LastBlockCycles    types.Cycles `cbor:"last_block_cycle_usage"`
	OwnerBalance       types.Wei    `cbor:"owner_actor_balance"`
}

// RevisionFees is what it answers. The revision's tip_per_cycle is the later
// max_priority_fee_per_cycle by another name, so that one agent can serve both;
// an answer with both names is nonsense.
type RevisionFees struct {
	TxFeeParams
	TipPerCycle *types.Wei `cbor:"tip_per_cycle,omitempty"`
}

// revisionBids is how the first revision speaks with agents.
var revisionBids = bidCodec{
	context: func(r *laneRun, q bidKey) any {
		return &RevisionContext{TriggerBlockHeight: q.trigger, CurrentBlockHeight: r.Height,
			BaseFeeCycle: r.Fees.Cycle, BaseFeeCell: r.Fees.Cell,
			LastBlockCycles: r.host.LastCycles, OwnerBalance: r.Books.Balance(q.actor)}
	},
	floor: func(b *InBlock) types.Wei { return b.Fees.Cycle },
	read: func(output []byte) (bid, bool) {
		var fees RevisionFees
		if !readMap(output, &fees) || fees.TipPerCycle != nil && fees.MaxPriorityFeePerCycle != nil {
			return bid{}, false
		}
		return bid{fees.MaxFeePerCycle, fees.MaxPriorityFeePerCycle}.orElse(bid{nil, fees.TipPerCycle}), true
	},
}
