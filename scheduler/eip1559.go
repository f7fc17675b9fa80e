package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// eip1559 is CIP-1: the lane has a base fee of its own, timers pay tips beside
// it, and go by tip times the weight of their actor.
type eip1559 struct{ fifo }

// limits: a timer that was scheduled before the activation is clamped to the cap
// of §10 (decision T5). **Deviation**: as written none of them would ever fire.
func (eip1559) limits(p *params.Params, gasLimit types.Cycles) (types.Cycles, types.Cells) {
	return min(gasLimit, p.MaxCyclesPerFire, p.MaxCyclesPerFireLane), p.MaxCellsPerFire
}

func (eip1559) price(b *Block, t *types.Timer) feemarket.Price {
	price, _ := b.lanePrice(bid{t.MaxFeePerCycle, t.MaxPriorityFeePerCycle}, previousP50(b.KV, b.Height))
	return price
}

// open is the window's decay (CIP-1 §3 step 10: "at the start of the next
// end-of-block step").
func (eip1559) open(r *laneRun) {
	r.activate()
	r.decayWindow()
}

// quote prices the timers as their bidders say, and weighs their actors by the
// fires of the blocks before (CIP-1 §3 step 6, §8; decisions T14, T15, T21).
func (eip1559) quote(r *laneRun) error {
	if len(r.due) == 0 {
		return nil
	}
	p50 := previousP50(r.KV, r.Height)
	answers, err := r.askBidders(laneAgents(p50))
	if err != nil {
		return err
	}
	weights := r.fairnessWeights()
	for at := range r.due {
		d := &r.due[at]
		d.weight = weights.of(d.Actor)
		if !d.expired(r.Height) {
			d.price, d.pricedOut = r.lanePrice(d.stated().or(answers.of(at)), p50)
		}
	}
	return nil
}

// fill is CIP-1 §3 step 7. A timer over the cap of §10 is "deferred without an
// attempt": one from after the activation, when the cap was lowered since.
func (eip1559) fill(r *laneRun, ready []int) error {
	order, activated := r.byUrgency(ready), readLane(r.KV).Activated
	kept := order[:0]
	for _, at := range order {
		if r.overCap(&r.due[at], activated) {
			r.due[at].waiting = ReasonOverCap
			continue
		}
		kept = append(kept, at)
	}
	return r.greedy(kept)
}

func (r *laneRun) overCap(d *dueTimer, activated types.Height) bool {
	if d.GasLimit <= r.Params.MaxCyclesPerFireLane {
		return false
	}
	return mustReadRecord(r.KV.Get(keyRecord(d.ID))).ScheduledAt >= activated
}

// close counts the fires for the blocks to come (CIP-1 §3 step 10, §7.1).
func (eip1559) close(r *laneRun) {
	var fires []actorFires
	var tips []types.Wei
	for i := range r.due {
		if d := &r.due[i]; d.fired {
			fires = append(fires, actorFires{Actor: d.Actor, Fires: 1})
			tips = append(tips, d.price.TipCycle)
		}
	}
	r.keepFires(fires)
	r.keepP50(tips)
}
