package scheduler

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

var keyLane = []byte("t/l")

// laneState is the state that a block of eip1559 leaves to the next, besides the
// window.
type laneState struct {
	_         struct{}     `cbor:",toarray"`
	Activated types.Height // the first block that ran eip1559
	At        types.Height // the last block whose median tip was above 0
	P50       types.Wei    // the median tip of that block, in wei a cycle
	Before    types.Wei    // the fee of the block before it, by which it still prices after its lane
}

func readLane(kv KV) (s laneState) {
	if data := kv.Get(keyLane); data != nil {
		mustRead(data, &s)
	}
	return s
}

// previousP50 returns previous_block_p50_priority_tip_per_cycle for the block at
// height: the lower median of the tips that the fires of the height before paid the
// proposer per cycle, each fire counted once. It is 0 if nothing fired, or if that
// height was skipped (CIP-1 §7.1, decisions C8, T17). It is the same before and
// after the block's own lane, since deliveries still schedule there (decision C16).
func previousP50(kv KV, height types.Height) types.Wei {
	switch s := readLane(kv); height {
	case s.At + 1:
		return s.P50
	case s.At:
		return s.Before
	}
	return types.Wei{}
}

// activateAt returns the first block that ran eip1559, which is the block at height
// if there was none before.
func activateAt(kv KV, height types.Height) types.Height {
	if kv.Get(keyLane) == nil {
		kv.Set(keyLane, codec.Marshal(&laneState{Activated: height}))
	}
	return readLane(kv).Activated
}

// keepP50 keeps the median of the tips of the fires of the block at height, which
// it sorts. A median of 0 is what a block without a note has.
func keepP50(kv KV, height types.Height, tips []types.Wei) {
	p50 := lowerMedian(tips)
	if p50.IsZero() {
		return
	}
	s := readLane(kv)
	s.Before = previousP50(kv, height)
	s.At, s.P50 = height, p50
	kv.Set(keyLane, codec.Marshal(&s))
}

// lowerMedian sorts the amounts and returns the middle one, of an even number the
// lower of the two; 0 for an empty list (decision T17).
//
// Vectors: fixtures/vectors/cip1/7-median.json.
func lowerMedian(of []types.Wei) types.Wei {
	if len(of) == 0 {
		return types.Wei{}
	}
	slices.SortFunc(of, types.Wei.Cmp)
	return of[(len(of)-1)/2]
}
