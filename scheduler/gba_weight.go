package scheduler

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Weights, scores and λ of the first revision are in thousandths.
const gbaOne = 1000

// standing is an actor's weight and what moves it at the next rollover of an
// epoch. A rollover scans nobody: the epochs that have passed since are worked
// out when the actor next has a timer due, with the parameters of then.
//
// A turn is a timer queued in a block: one that was neither priced out nor
// beyond its owner's balance. Decision T23 names the four inputs; how they are
// scaled is ours.
type standing struct {
	_        struct{}     `cbor:",toarray"`
	Epoch    uint64       // height / epoch_blocks, that the rest is of
	Weight   uint64       // in thousandths, for all of Epoch
	Deferred uint64       // blocks in a row in which it had turns and no fire
	Turns    uint64       // in Epoch, as are those below
	Fires    uint64       // turns that ended in one
	Late     uint64       // blocks since the trigger height, summed over turns
	Tips     types.Wei    // effective tips, summed over turns
	Cycles   types.Cycles // that its fires used
	Budget   types.Cycles // of the blocks in which it had a turn
}

func keyStanding(actor types.Address) []byte { return append([]byte("t/b/a"), actor[:]...) }

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

// epoch is that of the block, from 0.
func (b *Block) epoch() uint64 { return uint64(b.Height) / b.Params.TimerEpoch }

// standing is an actor's in this block's epoch: new, or brought up to date.
func (b *Block) standing(actor types.Address) standing {
	now := b.epoch()
	data := b.KV.Get(keyStanding(actor))
	if data == nil {
		return standing{Epoch: now, Weight: b.Params.GBAWeightStart}
	}
	var s standing
	mustRead(data, &s)
	if s.Epoch < now {
		s.roll(b.Params, now, highestTip(b.KV, s.Epoch))
	}
	return s
}

// roll moves the weight at the end of its epoch by the score, or where it had no
// turn toward its start, and then toward the start for each idle epoch up to now.
func (s *standing) roll(p *params.Params, now uint64, highest types.Wei) {
	score := p.GBAWeightStart
	if s.Turns > 0 {
		score = s.score(p, highest)
	}
	weight := moveWeight(p, s.Weight, score, s.Deferred)
	for idle := now - s.Epoch - 1; idle > 0; idle-- {
		next := moveWeight(p, weight, p.GBAWeightStart, s.Deferred)
		if next == weight {
			break // it rests there
		}
		weight = next
	}
	*s = standing{Epoch: now, Weight: weight, Deferred: s.Deferred}
}

// moveWeight is weight' = (1 − λ) · weight + λ · S, rounded down as a whole,
// within its bounds, and at least the floor after so many deferrals in a row.
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

// score is S, 0..1,000: the mean, rounded down, of
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
func (s *standing) score(p *params.Params, highest types.Wei) uint64 {
	tip := uint64(0)
	if !highest.IsZero() {
		most := new(big.Int).Mul(highest.Big(), new(big.Int).SetUint64(s.Turns))
		part := new(big.Int).Mul(s.Tips.Big(), big.NewInt(gbaOne))
		tip = part.Quo(part, most).Uint64()
	}
	outcome := thousandths(s.Fires, s.Turns)
	lateness := thousandths(s.Late, product(s.Turns, p.GBAFloorAfter))
	consumption := gbaOne - thousandths(uint64(s.Cycles), uint64(s.Budget))
	return (tip + outcome + lateness + consumption) / 4
}

// thousandths is 1,000 n / d, rounded down and at most 1,000.
func thousandths(n, d uint64) uint64 {
	if n >= d {
		return gbaOne
	}
	high, low := bits.Mul64(n, gbaOne)
	part, _ := bits.Div64(high, low, d)
	return part
}

// keepStandings counts the turns of the block, for the timers that were queued.
func (r *laneRun) keepStandings(queued []int) {
	var actors []types.Address // in the order in which they appear
	standings := make(map[types.Address]*standing)
	fires := make(map[types.Address]uint64)
	highest := highestTip(r.KV, r.epoch())
	before := highest
	for _, at := range queued {
		d := &r.due[at]
		s := standings[d.Actor]
		if s == nil {
			current := r.standing(d.Actor)
			s = &current
			s.Budget = s.Budget.Add(r.Params.LaneTimerCycles)
			actors, standings[d.Actor] = append(actors, d.Actor), s
		}
		s.turn(d, uint64(r.Height-d.Height))
		if d.fired {
			fires[d.Actor]++
		}
		if highest.Less(d.price.TipCycle) {
			highest = d.price.TipCycle
		}
	}
	for _, actor := range actors {
		s := standings[actor]
		if s.Deferred++; fires[actor] > 0 {
			s.Deferred = 0
		}
		r.KV.Set(keyStanding(actor), codec.Marshal(s))
	}
	if highest != before {
		r.KV.Set(keyHighestTip(r.epoch()), codec.Marshal(highest))
	}
}

// turn counts a timer that was queued so many blocks after its height.
func (s *standing) turn(d *dueTimer, late uint64) {
	s.Turns++
	s.Late = sum(s.Late, late)
	s.Cycles = s.Cycles.Add(d.used)
	if d.fired {
		s.Fires++
	}
	tips, ok := s.Tips.AddOk(d.price.TipCycle)
	if !ok {
		tips = types.MaxWei
	}
	s.Tips = tips
}

// sum is a + b, at most 2^64 - 1, as product is a × b.
func sum(a, b uint64) uint64 {
	if s, over := bits.Add64(a, b, 0); over == 0 {
		return s
	}
	return math.MaxUint64
}

func product(a, b uint64) uint64 {
	if over, p := bits.Mul64(a, b); over == 0 {
		return p
	}
	return math.MaxUint64
}
