package scheduler

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The fairness window of CIP-1 §8: what each actor fired in the blocks
// [H - window, H - 1] (decision T21). In state, numbers in keys being eight
// bytes, big-endian:
//
//	t/w/<height>  the fires of a block: [actor, fires, actor, fires…] by actor
//	t/u/<actor>   recent_executions: the actor's sum over the window
//	t/v/<fires>   how many actors have that sum
//	t/c           the moving center, while it is smoothed: [height, millionths]
//
// Nothing of it is 0: an actor without a fire in the window is pruned. The amount
// that a fire adds is subtracted once, when its block leaves the window, so the
// work of a block follows from its fires and those of the block that leaves. More
// leave at once only when a header skips heights, each of which would have been a
// block, or when governance shortens the window. When it lengthens the window, what
// was forgotten stays forgotten.
//
// Deviation: §8 keeps a ring of 1,000 counts an actor. The counts by block are
// the same numbers, and an actor that fires once costs once.

// FairnessMean is the value of cip1.fairness_center that measures actors by the
// mean; the other, as written, by the median (decision T21).
const FairnessMean = "mean"

// FairnessOfDeployer is the value of cip1.fairness_of that counts and weighs the fires of all actors of a deployer
// together, a proposal; the other, as written, those of each actor (decision T21).
const FairnessOfDeployer = "deployer"

// unsmoothed is the value of cip1.fairness_smoothing_permille by which a block's own center counts alone, as
// written. With less, a proposal, a moving average of it counts (decision T21).
const unsmoothed = 1_000

// centerScale is the parts of a fire in which a moving center is kept.
const centerScale = 1_000_000

// fairnessParty is whose fires those of an actor count among.
func (b *InBlock) fairnessParty(actor types.Address) types.Address {
	if b.Params.FairnessOf == FairnessOfDeployer {
		return b.Books.Deployer(actor)
	}
	return actor
}

func keyWindow(h types.Height) []byte {
	return binary.BigEndian.AppendUint64([]byte("t/w/"), uint64(h))
}

var keyCenter = []byte("t/c")

func keyRecent(a types.Address) []byte { return append([]byte("t/u/"), a[:]...) }
func keySpread(fires uint64) []byte    { return binary.BigEndian.AppendUint64([]byte("t/v/"), fires) }

// actorFires is the number of fires of an actor's timers.
type actorFires struct {
	Actor types.Address
	Fires uint64
}

// encodeFires is deterministic CBOR. It is written out by hand, as is
// appendFires, because a block may fire more than a decoder of outside input
// takes.
func encodeFires(fires []actorFires) []byte {
	b := codec.AppendArray(make([]byte, 0, 9+22*len(fires)), 2*len(fires))
	for i := range fires {
		b = codec.AppendUnsigned(appendAddress(b, &fires[i].Actor), fires[i].Fires)
	}
	return b
}

func appendFires(fires []actorFires, data []byte) []actorFires {
	const majorArray = 0x80
	r := reader{rest: append([]byte{data[0] ^ majorArray}, data[1:]...)}
	for n := r.readUint() / 2; n > 0 && !r.bad; n-- {
		actor, count := r.readAddress(), r.readUint()
		if actor == nil {
			panic("scheduler: the fires of a block are damaged")
		}
		fires = append(fires, actorFires{*actor, count})
	}
	return fires
}

// recentFires is recent_executions[actor] as the last block left it.
func recentFires(kv KV, actor types.Address) uint64 { return readNumber(kv, keyRecent(actor)) }

func readNumber(kv KV, key []byte) (n uint64) {
	if data := kv.Get(key); data != nil {
		mustRead(data, &n)
	}
	return n
}

// writeNumber keeps a number, or nothing for 0.
func writeNumber(kv KV, key []byte, n uint64) {
	if n == 0 {
		kv.Set(key, nil)
		return
	}
	kv.Set(key, codec.Marshal(n))
}

// window is the fairness window as the block at height finds it in state.
type window struct {
	kv     KV
	params *params.Params
	height types.Height
}

func (b *InBlock) fairnessWindow() window { return window{b.KV, b.Params, b.Height} }

// dropOldBlocks takes the blocks out of the window that are too old for it now.
func (w window) dropOldBlocks() {
	first := w.height - min(w.height, types.Height(w.params.FairnessWindowBlocks))
	var gone [][]byte
	var fires []actorFires
	w.kv.Scan(keyWindow(0), keyWindow(first), func(key, value []byte) bool {
		gone, fires = append(gone, append([]byte(nil), key...)), appendFires(fires, value)
		return true
	})
	for _, key := range gone {
		w.kv.Set(key, nil)
	}
	w.countFires(sumByActor(fires), func(total, n uint64) uint64 {
		if n > total {
			panic("scheduler: an actor has fewer fires than the window counts")
		}
		return total - n
	})
}

// keepFires counts the fires of the block for the blocks to come.
func (w window) keepFires(fires []actorFires) {
	if len(fires) == 0 {
		return
	}
	fires = sumByActor(fires)
	w.kv.Set(keyWindow(w.height), encodeFires(fires))
	w.countFires(fires, func(total, n uint64) uint64 { return total + n })
}

// moveCenter moves the kept center toward that of the window by cip1.fairness_smoothing_permille. It begins
// with the window's own, also where the last that was kept is of no block of the window.
func (w window) moveCenter() {
	if w.params.FairnessSmoothing >= unsmoothed {
		return
	}
	center, per := w.ownCenter()
	whole, rest := center/per, center%per
	now := whole*centerScale + rest*centerScale/per
	if last, ok := w.lastCenter(); ok {
		now = moveToward(last, now, w.params.FairnessSmoothing)
	}
	w.kv.Set(keyCenter, codec.Marshal([2]uint64{uint64(w.height), now}))
}

// moveToward returns a number nearer to its target by permille of their difference, rounded toward it staying.
func moveToward(from, target, permille uint64) uint64 {
	const scale = 1_000
	if target < from {
		high, low := bits.Mul64(from-target, permille)
		step, _ := bits.Div64(high, low, scale)
		return from - step
	}
	high, low := bits.Mul64(target-from, permille)
	step, _ := bits.Div64(high, low, scale)
	return from + step
}

// lastCenter returns the center that was kept last, if its block is in the window or is this one.
func (w window) lastCenter() (center uint64, ok bool) {
	data := w.kv.Get(keyCenter)
	if data == nil {
		return 0, false
	}
	var kept [2]uint64
	mustRead(data, &kept)
	return kept[1], kept[0]+w.params.FairnessWindowBlocks >= uint64(w.height)
}

// sumByActor sorts fires by actor and adds up those of the same.
func sumByActor(fires []actorFires) []actorFires {
	slices.SortFunc(fires, func(a, b actorFires) int { return bytes.Compare(a.Actor[:], b.Actor[:]) })
	sums := fires[:0]
	for _, f := range fires {
		if n := len(sums); n > 0 && sums[n-1].Actor == f.Actor {
			sums[n-1].Fires += f.Fires
			continue
		}
		sums = append(sums, f)
	}
	return sums
}

// countFires moves the actors' sums by their fires, and the spread of the sums.
func (w window) countFires(fires []actorFires, move func(total, n uint64) uint64) {
	var left, entered []uint64 // sums
	for _, f := range fires {
		before := recentFires(w.kv, f.Actor)
		after := move(before, f.Fires)
		writeNumber(w.kv, keyRecent(f.Actor), after)
		left, entered = append(left, before), append(entered, after)
	}
	w.moveSpread(entered, func(actors, n uint64) uint64 { return actors + n })
	w.moveSpread(left, func(actors, n uint64) uint64 { return actors - n })
}

// moveSpread moves how many actors have each of the sums; an actor whose sum is 0 is
// not in the window.
func (w window) moveSpread(sums []uint64, move func(actors, n uint64) uint64) {
	slices.Sort(sums)
	for len(sums) > 0 {
		sum, same := sums[0], 1
		for same < len(sums) && sums[same] == sum {
			same++
		}
		if sum > 0 {
			writeNumber(w.kv, keySpread(sum), move(readNumber(w.kv, keySpread(sum)), uint64(same)))
		}
		sums = sums[same:]
	}
}

// weights gives actors their W as fractions of one denominator:
//
//	ratio[actor] = recent_executions[actor] / max(1, center)
//	W(actor)     = clip(2 − ratio[actor], 1, 2)
//
// with fairness_weight_min and fairness_weight_max for 1 and 2: the maximum for
// ratio 0, the minimum from ratio 1 on, and linear between.
//
// Spec: CIP-1 §8, decision T21. **Finding**: measured by the median, the quiet
// starve under a small tip. Vectors: fixtures/vectors/cip1/8-weights.json.
type weights struct {
	kv          KV
	center, per uint64 // the center is the fraction center/per
	least, most uint64
	known       map[types.Address]uint64 // numerators
}

// currentWeights returns the weights at the block's start, by the current window.
func (w window) currentWeights() weights {
	all := weights{kv: w.kv, least: w.params.WeightMin, most: max(w.params.WeightMin, w.params.WeightMax),
		known: make(map[types.Address]uint64)}
	all.center, all.per = w.currentCenter()
	return all
}

// currentCenter returns the network's center, as a fraction of at least 1: the window's own, or the moving one
// that the block's start has kept.
func (w window) currentCenter() (center, per uint64) {
	if w.params.FairnessSmoothing < unsmoothed {
		if center, ok := w.lastCenter(); ok {
			return max(center, centerScale), centerScale
		}
	}
	return w.ownCenter()
}

// ownCenter returns the center of the window's blocks, as a fraction of at least 1: the lower median of the
// sums of the actors with a fire in it, or their mean.
func (w window) ownCenter() (center, per uint64) {
	var sums, counts []uint64
	var actors, fires uint64
	scanPrefix(w.kv, []byte("t/v/"), func(key, value []byte) bool {
		sum, n := binary.BigEndian.Uint64(key[keyPrefixBytes:]), uint64(0)
		mustRead(value, &n)
		sums, counts = append(sums, sum), append(counts, n)
		actors, fires = actors+n, fires+sum*n
		return true
	})
	if actors == 0 {
		return 1, 1
	}
	if w.params.FairnessCenter == FairnessMean {
		return fires, actors
	}
	below := uint64(0)
	for i, n := range counts {
		if below += n; below > (actors-1)/2 {
			return sums[i], 1
		}
	}
	panic("scheduler: a spread without a middle")
}

// weightOf returns the weight of an actor. The fires of a window, which all ran, times
// the maximum weight, 1,000, are far below 2^64.
func (w *weights) weightOf(actor types.Address) types.Weight {
	num, ok := w.known[actor]
	if !ok {
		num = w.most*w.center - (w.most-w.least)*w.clampedRatio(recentFires(w.kv, actor))
		w.known[actor] = num
	}
	return types.Weight{Num: num, Den: w.center}
}

// clampedRatio is min(ratio, 1) as a fraction of center.
func (w *weights) clampedRatio(recent uint64) uint64 {
	high, low := bits.Mul64(recent, w.per)
	if high > 0 || low > w.center {
		return w.center
	}
	return low
}

// lowestTerms is the fraction as a block reports it.
func lowestTerms(w types.Weight) types.Weight {
	a, b := w.Num, w.Den
	for b != 0 {
		a, b = b, a%b
	}
	if a > 1 {
		w.Num, w.Den = w.Num/a, w.Den/a
	}
	return w
}
