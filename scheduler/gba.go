package scheduler

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// gba is CIP-1's first revision: before the transactions each due timer's agent
// is asked for a bid, timers go by effective tip, and each actor has a slice of
// the budget by its weight. The owner pays, and who cannot is deferred.
//
// Spec: CIP-1 first revision §§3, 4, decisions T3, T14, T15, T23.
type gba struct{ fifo }

func (gba) price(b *Block, t *types.Timer) feemarket.Price {
	price, _ := b.revisionPrice(bid{t.MaxFeePerCycle, t.MaxPriorityFeePerCycle})
	return price
}

// quote asks the agents, and gives each timer the weight that its actor has in
// this epoch. The owner pays for the call too.
func (gba) quote(r *laneRun) error {
	for at := range r.due {
		r.due[at].payer = r.due[at].Actor
	}
	answers, err := r.askBidders(revisionAgents)
	if err != nil {
		return err
	}
	weights := make(map[types.Address]uint64)
	for at := range r.due {
		d := &r.due[at]
		if d.expired(r.Height) {
			continue
		}
		weight, known := weights[d.Actor]
		if !known {
			weight = r.standing(d.Actor).Weight
			weights[d.Actor] = weight
		}
		d.weight = types.Weight{Num: weight, Den: gbaOne}
		d.price, d.pricedOut = r.revisionPrice(d.stated().or(answers.of(at)))
	}
	return nil
}

// revisionPrice is what a fire costs in this block by a bid, the default one
// where that leaves something open: the base fees, and
//
//	effective_tip = min(tip_per_cycle, max_fee_per_cycle − basefee_cycle)
//
// The revision names no default agent. Ours is that of the later §7.1 with the
// fee that the bid is held against: twice the cycle base fee, at most the
// greatest amount, and no tip, there being no median to go by. pricedOut is a
// max fee below the cycle base fee; the price is then without tip.
//
// Decisions T14, T23. Vectors: fixtures/vectors/cip1/first-revision.json.
func (b *Block) revisionPrice(said bid) (price feemarket.Price, pricedOut bool) {
	price = b.plainPrice()
	if Free(b.Params) {
		return price, false
	}
	most, ok := b.Fees.Cycle.MulOk(b.Params.DefaultFeeMultiple)
	if !ok {
		most = types.MaxWei
	}
	whole := said.or(bid{&most, &types.Wei{}})
	tip, ok := feemarket.Tip(*whole.maxFee, *whole.priority, b.Fees.Cycle)
	price.TipCycle = tip
	return price, !ok
}

// fill gives the timers their turns twice in their order: first each whose limit
// fits into what its actor's slice has left, then the others by what the budget
// has left. A lack of cells or of money is final for the block.
func (gba) fill(r *laneRun, ready []int) error {
	for at := range r.due {
		if d := &r.due[at]; d.waiting == ReasonPricedOut {
			d.waiting = ReasonBelowCycleFee
		}
	}
	order := r.byTip(ready)
	parts := r.slices(order)
	var rest []int
	for _, at := range order {
		d := &r.due[at]
		cycles, _ := r.policy.limits(r.Params, d.GasLimit)
		left := parts[d.Actor]
		if cycles > left {
			rest = append(rest, at)
			continue
		}
		before := r.out.Cycles
		if err := r.greedy([]int{at}); err != nil {
			return err
		}
		parts[d.Actor] = left - (r.out.Cycles - before)
	}
	if err := r.greedy(rest); err != nil {
		return err
	}
	r.keepStandings(ready)
	return nil
}

func (gba) insolventEnds() bool { return false }

// byTip orders places of due by effective tip, then weight, the highest first,
// then sequence (revision §3 steps 3d and 5d, decision T23).
func (r *laneRun) byTip(places []int) []int {
	order := slices.Clone(places)
	slices.SortFunc(order, func(x, y int) int {
		a, b := &r.due[x], &r.due[y]
		return cmp.Or(b.price.TipCycle.Cmp(a.price.TipCycle), cmp.Compare(b.weight.Num, a.weight.Num), cmp.Compare(a.Seq, b.Seq))
	})
	return order
}

// slices apportions the budget among the actors of places of due by weight, each
// part rounded down (revision §3 step 5d, decision T23).
func (r *laneRun) slices(places []int) map[types.Address]types.Cycles {
	parts := make(map[types.Address]types.Cycles)
	var sum uint64
	for _, at := range places {
		d := &r.due[at]
		if _, counted := parts[d.Actor]; !counted {
			parts[d.Actor] = 0
			sum += d.weight.Num
		}
	}
	for _, at := range places {
		d := &r.due[at]
		high, low := bits.Mul64(uint64(r.Params.LaneTimerCycles), d.weight.Num)
		part, _ := bits.Div64(high, low, sum)
		parts[d.Actor] = types.Cycles(part)
	}
	return parts
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

// revisionAgents is how the first revision speaks with agents.
var revisionAgents = agency{
	context: func(r *laneRun, q question) any {
		return &RevisionContext{TriggerBlockHeight: q.trigger, CurrentBlockHeight: r.Height,
			BaseFeeCycle: r.Fees.Cycle, BaseFeeCell: r.Fees.Cell,
			LastBlockCycles: r.lane.LastCycles, OwnerBalance: r.Books.Balance(q.actor)}
	},
	floor: func(b *Block) types.Wei { return b.Fees.Cycle },
	read: func(output []byte) (bid, bool) {
		var fees RevisionFees
		if !readMap(output, &fees) || fees.TipPerCycle != nil && fees.MaxPriorityFeePerCycle != nil {
			return bid{}, false
		}
		return bid{fees.MaxFeePerCycle, fees.MaxPriorityFeePerCycle}.or(bid{nil, fees.TipPerCycle}), true
	},
}
