package selection

import (
	"encoding/binary"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Seed returns the seed of a job's first draw. parent is the hash of the parent of
// the block that draws first, whether or not that is the one that submitted the job
// (decision J4).
//
// Spec: CIP-11 §9.2, decision J2. Vectors: fixtures/vectors/cip11/9.2-draw.json.
func Seed(parent, job types.Hash, submittedAt types.Height) types.Hash {
	at := binary.LittleEndian.AppendUint64(nil, uint64(submittedAt))
	return types.Keccak(parent[:], []byte("cowboy-runner-select-v2:"), job[:], at)
}

// RetrySeed returns the seed of the n-th retry, from 1, of a job whose first draw
// had the given seed; first is never the seed of a retry.
//
// Spec: decision J6.
func RetrySeed(first types.Hash, n uint32) types.Hash {
	return types.Keccak(first[:], []byte("retry:"), binary.LittleEndian.AppendUint32(nil, n))
}

// RefusalSeed returns the seed of the draw of places that refusals emptied, of a job
// whose first draw had the given seed, after its n-th refusal, from 1.
//
// Spec: decision J21.
func RefusalSeed(first types.Hash, n uint32) types.Hash {
	return types.Keccak(first[:], []byte("refusal:"), binary.LittleEndian.AppendUint32(nil, n))
}

// Lot orders the results of a draw's committee: the lowest wins. It depends on a seed that
// is unknown when a runner registers, so that no address is worth searching for.
//
// Spec: decision J5.
func Lot(draw types.Hash, runner types.Address) types.Hash { return types.Keccak(draw[:], runner[:]) }

// MRU is the runner that last completed a job of a submitter and kind (CIP-11
// §9.4).
type MRU struct {
	_      struct{} `cbor:",toarray"`
	Runner types.Address
	SetAt  types.Height // of the block in which the job completed
}

// Favours reports whether the record still weighs in a block, ttlBlocks being the
// parameter cip11.mru_ttl_blocks.
func (m *MRU) Favours(height types.Height, ttlBlocks uint64) bool {
	return m != nil && uint64(height-m.SetAt) <= ttlBlocks
}

// Favour makes one runner weigh more in the first step of a draw (CIP-11 §9.3).
// The zero Favour favours no runner.
type Favour struct {
	Runner types.Address
	// Multiplier is the parameter cip11.mru_weight_multiplier, at least 1. Its 32
	// bits leave the sum of all weights within 64, so that nothing saturates.
	Multiplier uint32
}

// Draw returns a committee from candidates sorted by address, in the order in
// which its members were picked: a weighted Fisher-Yates shuffle of as many steps
// as there are members. If there are fewer candidates than members, or members is
// 0, ok is false and no runner is drawn (decision J4).
//
// Step i takes digest = keccak256(seed ‖ i_le8), walks the cumulative weights from
// position i to u64_le(digest[0:8]) mod their total, and swaps what it finds with
// position i; digest is the seed of the next step. A tree of partial sums stands
// for the walk: it takes the logarithm of the candidates where the walk takes all
// of them.
//
// Spec: CIP-11 §§9.2, 9.3, decision J2. Vectors: fixtures/vectors/cip11/9.2-draw.json.
func Draw(seed types.Hash, candidates []Candidate, members int, favour Favour) (committee []types.Address, ok bool) {
	if members < 1 || members > len(candidates) {
		return nil, false
	}
	u := newUrn(candidates, favour)
	committee = make([]types.Address, members)
	for i := range members {
		seed = types.Keccak(seed[:], binary.LittleEndian.AppendUint64(nil, uint64(i)))
		committee[i] = u.pickAt(i, binary.LittleEndian.Uint64(seed[:8])%u.total)
		u.dropFavour(i)
	}
	return committee, true
}

// urn holds the candidates of a running draw: the candidate and its weight at each
// position. Positions before the step's are empty.
type urn struct {
	addresses []types.Address
	weights   []uint64 // with the favour, in the first step
	sums      []uint64 // a tree of partial sums of weights, from 1 (Fenwick)
	total     uint64
	favoured  int    // position of the favoured runner, -1 without one
	extra     uint64 // its weight beyond its own
}

func newUrn(candidates []Candidate, favour Favour) *urn {
	u := &urn{addresses: make([]types.Address, len(candidates)), weights: make([]uint64, len(candidates)),
		sums: make([]uint64, len(candidates)+1), favoured: -1}
	for i, c := range candidates {
		if i > 0 && candidates[i-1].Address.Compare(c.Address) >= 0 || c.Weight == 0 {
			panic(fmt.Sprintf("selection: candidate %s is out of order or weighs nothing", c.Address))
		}
		u.addresses[i], u.weights[i] = c.Address, c.Weight
		if c.Address == favour.Runner && favour.Multiplier > 1 {
			u.favoured, u.extra = i, c.Weight*uint64(favour.Multiplier-1)
			u.weights[i] += u.extra
		}
		u.total += u.weights[i]
	}
	for i := 1; i < len(u.sums); i++ {
		u.sums[i] += u.weights[i-1]
		if above := i + i&-i; above < len(u.sums) {
			u.sums[above] += u.sums[i]
		}
	}
	return u
}

// pickAt finds the candidate at which the cumulative weights from position i on
// exceed at, swaps it with position i and takes it out.
func (u *urn) pickAt(i int, at uint64) types.Address {
	found := u.findPosition(at)
	picked := u.addresses[found]
	u.addresses[found] = u.addresses[i]
	moved, gone := u.weights[i], u.weights[found]
	u.changeWeight(found, moved-gone) // wraps if the weight decreases, and back again
	u.changeWeight(i, -moved)
	u.total -= gone
	switch u.favoured {
	case found:
		u.favoured = -1
	case i:
		u.favoured = found
	}
	return picked
}

// findPosition is the first position whose cumulative weight exceeds at.
func (u *urn) findPosition(at uint64) int {
	position, step := 0, 1
	for 2*step < len(u.sums) {
		step *= 2
	}
	for ; step > 0; step /= 2 {
		if next := position + step; next < len(u.sums) && u.sums[next] <= at {
			position, at = next, at-u.sums[next]
		}
	}
	return position
}

// changeWeight adds to the weight at a position.
func (u *urn) changeWeight(position int, by uint64) {
	u.weights[position] += by
	for i := position + 1; i < len(u.sums); i += i & -i {
		u.sums[i] += by
	}
}

// dropFavour takes the favour away after the first step.
func (u *urn) dropFavour(step int) {
	if step > 0 || u.favoured < 0 {
		return
	}
	u.changeWeight(u.favoured, -u.extra)
	u.total -= u.extra
}
