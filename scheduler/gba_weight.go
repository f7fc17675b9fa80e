package scheduler

import (
	"encoding/binary"
	"math/big"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/exact"
)

// Weights, scores and λ of the first revision are in thousandths.
const gbaOne = 1000

// actorWeight is an actor's weight and what moves it at the next rollover of an
// epoch. A rollover scans no actors: the epochs that passed meanwhile are applied
// when the actor next has a timer due, with the parameters of that block.
//
// A turn is a timer queued in a block: one that was neither priced out nor
// beyond its owner's balance. Decision T23 names the four inputs; how they are
// scaled is ours.
type actorWeight struct {
	_        struct{}     `cbor:",toarray"`
	Epoch    uint64       // height / epoch_blocks, that the rest is of
	Weight   uint64       // the weight for all of Epoch, in thousandths
	Deferred uint64       // blocks in a row in which it had turns and no fire
	Turns    uint64       // in Epoch, as are those below
	Fires    uint64       // turns that ended in one
	Late     uint64       // blocks since the trigger height, summed over turns
	Tips     types.Wei    // effective tips, summed over turns
	Cycles   types.Cycles // that its fires used
	Budget   types.Cycles // the budgets of the blocks in which it had a turn
}

func keyActorWeight(actor types.Address) []byte { return append([]byte("t/b/a"), actor[:]...) }

// keyHighestTip holds the highest effective tip that was queued in an epoch.
func keyHighestTip(epoch uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte("t/b/h"), epoch)
}

func highestTip(kv KV, epoch uint64) (tip types.Wei) {
	if data := kv.Get(keyHighestTip(epoch)); data != nil {
		mustRead(data, &tip)
	}
	return tip
}

// gbaEpoch returns the epoch of the block, from 0.
func gbaEpoch(b *InBlock) uint64 { return uint64(b.Height) / b.Params.CalendarEpochBlocks }

// actorWeightOf is an actor's in the block's epoch: new, or brought up to date.
func actorWeightOf(b *InBlock, actor types.Address) actorWeight {
	now := gbaEpoch(b)
	data := b.KV.Get(keyActorWeight(actor))
	if data == nil {
		return actorWeight{Epoch: now, Weight: b.Params.GBAWeightStart}
	}
	var w actorWeight
	mustRead(data, &w)
	if w.Epoch < now {
		w.rollEpoch(b.Params, now, highestTip(b.KV, w.Epoch))
	}
	return w
}

// rollEpoch moves the weight at the end of its epoch by the score, or toward its start
// if it had no turn, and then toward the start for each idle epoch up to now.
func (w *actorWeight) rollEpoch(p *params.Params, now uint64, highest types.Wei) {
	score := p.GBAWeightStart
	if w.Turns > 0 {
		score = w.scoreOf(p, highest)
	}
	weight := moveWeight(p, w.Weight, score, w.Deferred)
	for idle := now - w.Epoch - 1; idle > 0; idle-- {
		next := moveWeight(p, weight, p.GBAWeightStart, w.Deferred)
		if next == weight {
			break // it rests there
		}
		weight = next
	}
	*w = actorWeight{Epoch: now, Weight: weight, Deferred: w.Deferred}
}

// moveWeight returns weight' = (1 − λ) · weight + λ · S, rounded down as a whole,
// within its bounds, and at least the floor after enough deferrals in a row.
//
// Spec: CIP-1 first revision §3 steps 5b and 5c, decision T23.
// Vectors: fixtures/vectors/cip1/first-revision-weights.json.
func moveWeight(p *params.Params, weight, score, deferred uint64) uint64 {
	next := ((gbaOne-p.GBAWeightLambda)*weight + p.GBAWeightLambda*score) / gbaOne
	next = min(max(next, p.GBAWeightMin), p.GBAWeightMax)
	if deferred >= p.GBAFloorAfter {
		next = max(next, p.GBAWeightFloor)
	}
	return next
}

// scoreOf is S, 0..1,000: the mean, rounded down, of
//
//	tip          tips over turns × the highest anyone offered in the epoch
//	outcome      fires over turns
//	lateness     blocks late over turns × gba_starvation_deferrals, at most 1,000
//	consumption  1,000 less cycles used over the budget of its blocks
//
// each in thousandths and rounded down, the last after being taken from 1,000 in
// whole. Lateness raises the score and consumption lowers it: who waited is made
// up to, who filled the lane makes room.
//
// Spec: CIP-1 first revision §3 step 5a, decision T23.
// Vectors: fixtures/vectors/cip1/first-revision-score.json.
func (w *actorWeight) scoreOf(p *params.Params, highest types.Wei) uint64 {
	tip := uint64(0)
	if !highest.IsZero() {
		most := new(big.Int).Mul(highest.Big(), new(big.Int).SetUint64(w.Turns))
		part := new(big.Int).Mul(w.Tips.Big(), big.NewInt(gbaOne))
		tip = part.Quo(part, most).Uint64()
	}
	outcome := exact.PartOf(gbaOne, w.Fires, w.Turns)
	lateness := exact.PartOf(gbaOne, w.Late, exact.Times(w.Turns, p.GBAFloorAfter))
	consumption := gbaOne - exact.PartOf(gbaOne, uint64(w.Cycles), uint64(w.Budget))
	return (tip + outcome + lateness + consumption) / 4
}

// countTurn counts a timer that was queued late blocks after its height.
func (w *actorWeight) countTurn(d *dueTimer, late uint64) {
	w.Turns++
	w.Late = exact.Sum(w.Late, late)
	w.Cycles = w.Cycles.Add(d.used)
	if d.fired {
		w.Fires++
	}
	tips, ok := w.Tips.AddOk(d.price.TipCycle)
	if !ok {
		tips = types.MaxWei
	}
	w.Tips = tips
}
