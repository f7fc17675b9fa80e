package oracle

import (
	"math/big"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// feesBefore is the block before, from which base fees follow.
type feesBefore struct {
	header *types.Header
	lane   LaneRules
}

// baseFees judges the base fees of a block: each is the fee of the block before,
// moved by that block's use (decisions C14, T12). A skipped height is an empty
// block under the parameters of the block before; the lane's fee is the cycle's but
// under eip1559 from the block after the one that begins it (decision T25).
func (j *Judge) baseFees(o *Observation) {
	h, before := &o.Block.Header, j.before
	j.before = feesBefore{h, o.Lane}
	if before.lane.Policy == "" {
		return // the rules of genesis are unknown
	}
	p := before.header
	cycle, cell, lane := p.BaseFeeCycle.Big(), p.BaseFeeCell.Big(), p.BaseFeeLaneTimer.Big()
	used := [3]uint64{uint64(p.CyclesUsed), uint64(p.CellsUsed), uint64(p.TimerCyclesUsed)}
	step := func(to *LaneRules) {
		own := lane
		cycle = nextBaseFee(cycle, used[0], uint64(to.CyclesLimit), to.FeeDivisor, to.MinBaseFee)
		cell = nextBaseFee(cell, used[1], uint64(to.CellsLimit), to.FeeDivisor, to.MinBaseFee)
		lane = cycle
		if to.Policy == eip1559 && before.lane.Policy == eip1559 {
			lane = nextLaneFee(own, used[2], to)
		}
		used = [3]uint64{}
	}
	for range min(h.Skipped, maxFeeSteps) {
		empty, was := used == [3]uint64{}, [3]*big.Int{cycle, cell, lane}
		step(&before.lane)
		if empty && was[0].Cmp(cycle) == 0 && was[1].Cmp(cell) == 0 && was[2].Cmp(lane) == 0 {
			break // further empty blocks change nothing either
		}
	}
	step(&o.Lane)
	j.seen.BaseFees++
	if h.BaseFeeCycle.Big().Cmp(cycle) != 0 || h.BaseFeeCell.Big().Cmp(cell) != 0 || h.BaseFeeLaneTimer.Big().Cmp(lane) != 0 {
		j.reportViolation("basefees", h.Height, types.Address{},
			"the base fees are %s a cycle, %s a cell and %s for the lane; after block %d they are "+
				"%s, %s and %s",
			h.BaseFeeCycle, h.BaseFeeCell, h.BaseFeeLaneTimer, p.Height, cycle, cell, lane)
	}
}

// nextLaneFee is nextBaseFee for the lane. CIP-1 §5's formula has no divisor apart from the clip;
// a gain stands in its place.
func nextLaneFee(base *big.Int, used uint64, to *LaneRules) *big.Int {
	const asWritten = 1000
	if to.LaneFeeGain == 0 {
		return base
	}
	over := new(big.Int).SetUint64(used)
	whole := new(big.Int).SetUint64(uint64(to.LaneBudget))
	over.Lsh(over, 1).Sub(over, whole).Mul(over, new(big.Int).SetUint64(to.LaneFeeGain))
	return moveByRate(base, over, whole.Mul(whole, big.NewInt(asWritten)), to.LaneFeeDivisor, to.MinBaseFee)
}

// maxFeeSteps is after how many empty blocks any fee has come to rest: one of 256
// bits falls by an eighth some thirteen hundred times; a divisor of thousands
// takes longer, which no test has.
const maxFeeSteps = 100_000

// nextBaseFee is base × (1 + clip((2u - limit) / (limit × divisor), ±1/divisor)), the change
// truncated toward zero, but an increase is at least 1; never below least, and at most
// 2^256 - 1.
func nextBaseFee(base *big.Int, used, limit, divisor uint64, least types.Wei) *big.Int {
	whole := new(big.Int).SetUint64(limit)
	over := new(big.Int).SetUint64(used)
	over.Lsh(over, 1).Sub(over, whole)
	return moveByRate(base, over, whole.Mul(whole, new(big.Int).SetUint64(divisor)), divisor, least)
}

// moveByRate moves a fee by the rate over / whole, clipped to one divisor's part of the fee. The two are
// changed.
func moveByRate(base, over, whole *big.Int, divisor uint64, least types.Wei) *big.Int {
	rises := over.Sign() > 0
	part := new(big.Int).SetUint64(divisor)
	change := new(big.Int).Mul(over, part)
	if change.CmpAbs(whole) > 0 {
		over.SetInt64(int64(over.Sign()))
		whole = part
	}
	change.Mul(base, over)
	change.Quo(change, whole) // toward zero
	if rises && change.Sign() == 0 {
		change.SetInt64(1)
	}
	next := change.Add(change, base)
	if most := types.MaxWei.Big(); next.Cmp(most) > 0 {
		next = most
	}
	if next.Cmp(least.Big()) < 0 {
		next = least.Big()
	}
	return next
}
