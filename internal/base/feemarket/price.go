package feemarket

import "github.com/cowboyinc/devnet/internal/base/types"

// Tip returns what a unit pays to the proposer over the base fee, in wei:
// min(maxPriority, maxFee - baseFee). ok is false where maxFee does not reach
// the base fee; the payer then cannot be charged at all in this block.
//
// Spec: CIP-3 (docs/DRAFTS.md), CIP-1 §3 step 6.
func Tip(maxFee, maxPriority, baseFee types.Wei) (tip types.Wei, ok bool) {
	if maxFee.Less(baseFee) {
		return types.Wei{}, false
	}
	return maxPriority.Min(maxFee.Sub(baseFee)), true
}

// Price is the price of one unit of each resource in a block, in wei. A resource
// that is free costs 0.
type Price struct {
	BaseFeeCycle types.Wei // burned
	BaseFeeLane  types.Wei // of the timer lane, a cycle, burned and counted apart (decision T13)
	BaseFeeCell  types.Wei // burned
	TipCycle     types.Wei // to the proposer
	TipCell      types.Wei // to the proposer
}

// Cost is a payer's payment by recipient, in wei.
type Cost struct {
	BurnedCycle types.Wei
	BurnedLane  types.Wei
	BurnedCell  types.Wei
	Tip         types.Wei
}

// Cost returns the price of the given cycles and cells. ok is false if the total or
// a part of it exceeds 2^256 - 1, which no account can pay.
func (p *Price) Cost(cycles types.Cycles, cells types.Cells) (cost Cost, ok bool) {
	var sum checkedSum
	cost.BurnedCycle = sum.multiplyOrOverflow(p.BaseFeeCycle, uint64(cycles))
	cost.BurnedLane = sum.multiplyOrOverflow(p.BaseFeeLane, uint64(cycles))
	cost.BurnedCell = sum.multiplyOrOverflow(p.BaseFeeCell, uint64(cells))
	tipCycle := sum.multiplyOrOverflow(p.TipCycle, uint64(cycles))
	tipCell := sum.multiplyOrOverflow(p.TipCell, uint64(cells))
	if sum.overflow {
		return Cost{}, false
	}
	cost.Tip = tipCycle.Add(tipCell)
	return cost, true
}

// Total is all of the cost. It cannot overflow for a result of Price.Cost.
func (c *Cost) Total() types.Wei {
	return c.BurnedCycle.Add(c.BurnedLane).Add(c.BurnedCell).Add(c.Tip)
}

// Burned is the part that leaves the supply.
func (c *Cost) Burned() types.Wei { return c.BurnedCycle.Add(c.BurnedLane).Add(c.BurnedCell) }

// Charge is a payment in advance for the limits of an execution.
type Charge struct {
	Price  Price
	Cycles types.Cycles // the limits
	Cells  types.Cells
	Total  types.Wei // what is taken before the handler runs
}

// NewCharge returns the charge for limits. ok is false as for Price.Cost.
func NewCharge(price Price, cycles types.Cycles, cells types.Cells) (charge Charge, ok bool) {
	cost, ok := price.Cost(cycles, cells)
	if !ok {
		return Charge{}, false
	}
	return Charge{price, cycles, cells, cost.Total()}, true
}

// Settle returns the cost of the execution by its use, and the refund: both add up
// to the charge. Use beyond a limit is not charged, as it cannot be.
//
// Spec: CIP-5 §6.3, CIP-1 §3 step 8, decision C14.
func (c *Charge) Settle(cycles types.Cycles, cells types.Cells) (cost Cost, refund types.Wei) {
	cost, ok := c.Price.Cost(min(cycles, c.Cycles), min(cells, c.Cells))
	if !ok {
		panic("feemarket: a part of a charge exceeds the whole")
	}
	return cost, c.Total.Sub(cost.Total())
}

// checkedSum multiplies, and adds up what it multiplied, so that an overflow
// anywhere is seen once.
type checkedSum struct {
	total    types.Wei
	overflow bool
}

func (s *checkedSum) multiplyOrOverflow(price types.Wei, units uint64) types.Wei {
	product, ok := price.MulOk(units)
	if ok {
		s.total, ok = s.total.AddOk(product)
	}
	s.overflow = s.overflow || !ok
	return product
}
