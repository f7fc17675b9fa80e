package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// eip1559 is CIP-1: the lane has its own base fee, timers also pay tips, and they
// are ordered by tip times the weight of their actor.
type eip1559 struct{ fifo }

// limitsOfFire: a timer that was scheduled before the activation is clamped to the cap
// of §10 (decision T5). **Deviation**: as written none of them would ever fire.
func (eip1559) limitsOfFire(p *params.Params, gasLimit types.Cycles) (types.Cycles, types.Cells) {
	return types.FireLimit(gasLimit, min(p.MaxCyclesPerFire, p.MaxCyclesPerFireLane)), p.MaxCellsPerFire
}

func (eip1559) priceOf(b *InBlock, t *types.Timer) feemarket.Price {
	price, _ := b.lanePrice(bid{t.MaxFeePerCycle, t.MaxPriorityFeePerCycle}, previousP50(b.KV, b.Height))
	return price
}

// openRun is the window's decay (CIP-1 §3 step 10: "at the start of the next
// end-of-block step").
func (eip1559) openRun(r *laneRun) policyRun {
	e := &eip1559Run{lane: r, activated: activateAt(r.KV, r.Height), p50: previousP50(r.KV, r.Height), window: r.fairnessWindow()}
	e.window.dropOldBlocks()
	e.window.moveCenter()
	return e
}

// eip1559Run is eip1559 in one block.
type eip1559Run struct {
	lane      *laneRun
	activated types.Height // the first block of the policy
	p50       types.Wei    // the median tip of the block before
	window    window
}

// quotePrices prices the timers as their bidders say, and weighs their actors by the
// fires of the blocks before (CIP-1 §3 step 6, §8; decisions T14, T15, T21).
func (e *eip1559Run) quotePrices() error {
	r := e.lane
	if len(r.due) == 0 {
		return nil
	}
	answers, err := r.askBidders(laneBids(e.p50))
	if err != nil {
		return err
	}
	weights := e.window.currentWeights()
	for at := range r.due {
		d := &r.due[at]
		d.weight = weights.weightOf(r.fairnessParty(d.Actor))
		if d.hasExpired(r.Height) {
			continue
		}
		price, low := r.lanePrice(d.statedBid().orElse(answers.bidAt(at)), e.p50)
		if d.price = price; low {
			d.pricedOut = ReasonPricedOut
		}
	}
	return nil
}

// fillLane is CIP-1 §3 step 7. A timer over the cap of §10 is "deferred without an
// attempt". It is from after the activation, and the cap was lowered below its stated limit.
func (e *eip1559Run) fillLane(ready []int) (p plan) {
	order := e.byUrgency(ready)
	kept := order[:0]
	for _, at := range order {
		if e.overCap(&e.lane.due[at]) {
			p.passed = append(p.passed, passedOver{at, ReasonOverCap})
			continue
		}
		kept = append(kept, at)
	}
	p.turns = inOrder(kept)
	return p
}

func (e *eip1559Run) overCap(d *dueTimer) bool {
	if d.GasLimit <= e.lane.Params.MaxCyclesPerFireLane {
		return false
	}
	return mustReadRecord(e.lane.KV.Get(keyRecord(d.ID))).ScheduledAt >= e.activated
}

// closeRun counts the fires for the blocks to come (CIP-1 §3 step 10, §7.1).
func (e *eip1559Run) closeRun() {
	var fires []actorFires
	var tips []types.Wei
	for i := range e.lane.due {
		if d := &e.lane.due[i]; d.fired {
			fires = append(fires, actorFires{Actor: e.lane.fairnessParty(d.Actor), Fires: 1})
			tips = append(tips, d.price.TipCycle)
		}
	}
	e.window.keepFires(fires)
	keepP50(e.lane.KV, e.lane.Height, tips)
}
