package selection

import (
	"encoding/binary"
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// The dumb twins: each does what the spec's sentence says, step by step, and
// shares nothing with the package but the hash.

// twinSubset sorts all validators and takes the first k.
func twinSubset(runner types.PublicKey, validators []types.Validator, k int) []int {
	order := make([]int, len(validators))
	for i := range order {
		order[i] = i
	}
	key := func(i int) *big.Int {
		h := types.Keccak(append(append([]byte{}, runner[:]...), validators[i].PublicKey[:]...))
		return new(big.Int).SetBytes(h[:])
	}
	slices.SortFunc(order, func(a, b int) int { return key(a).Cmp(key(b)) })
	return order[:k]
}

// twinPresence counts bit by bit over votes in their wire form.
func twinPresence(votes [][]byte, registry, threshold int) []bool {
	present := make([]bool, registry)
	for i := range present {
		count := 0
		for _, vote := range votes {
			if len(vote) == 0 || i >= int(binary.BigEndian.Uint32(vote)) {
				continue
			}
			if vote[4+i/8]>>(i%8)&1 == 1 {
				count++
			}
		}
		present[i] = len(votes) > 0 && count >= threshold
	}
	return present
}

// twinDraw walks the cumulative weights, with big integers and fresh slices.
func twinDraw(seed types.Hash, candidates []Candidate, members int, favour Favour) (committee []types.Address) {
	left := slices.Clone(candidates)
	for i := range members {
		weight := func(c Candidate) *big.Int {
			w := new(big.Int).SetUint64(c.Weight)
			if i == 0 && c.Address == favour.Runner && favour.Multiplier > 0 {
				w.Mul(w, big.NewInt(int64(favour.Multiplier)))
			}
			return w
		}
		total := new(big.Int)
		for _, c := range left[i:] {
			total.Add(total, weight(c))
		}
		step := make([]byte, 8)
		binary.LittleEndian.PutUint64(step, uint64(i))
		seed = types.Keccak(append(append([]byte{}, seed[:]...), step...))
		at := new(big.Int).SetUint64(binary.LittleEndian.Uint64(seed[:8]))
		at.Mod(at, total)
		for j := i; ; j++ {
			if at.Cmp(weight(left[j])) < 0 {
				committee = append(committee, left[j].Address)
				left[i], left[j] = left[j], left[i]
				break
			}
			at.Sub(at, weight(left[j]))
		}
	}
	return committee
}

// twinWeight tries exponents until the next is too great: the largest e with
// 2^e × minStake <= stake + minStake.
func twinWeight(stake, minStake types.Wei) uint64 {
	sum := new(big.Int).Add(stake.Big(), minStake.Big())
	e := uint64(0)
	for power := new(big.Int).Lsh(minStake.Big(), 1); power.Cmp(sum) <= 0; power.Lsh(power, 1) {
		e++
	}
	return e + 1
}

// key is a made-up public key: subsets hash keys and never ask for the point.
func key(n int) (k types.PublicKey) {
	k[0] = 2 + byte(n&1)
	binary.BigEndian.PutUint64(k[25:], uint64(n))
	return k
}

// validatorsOf makes a set of validators with these numbers, sorted by address.
func validatorsOf(numbers ...int) []types.Validator {
	set := make([]types.Validator, len(numbers))
	for i, n := range numbers {
		public := key(n)
		digest := types.Keccak(public[:])
		set[i] = types.Validator{Address: types.Address(digest[12:]), PublicKey: public}
	}
	slices.SortFunc(set, func(a, b types.Validator) int { return a.Address.Compare(b.Address) })
	return set
}

// upTo is 0 to n-1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// written are the constants of CIP-11 §13.
var written = Constants{MinSubset: 3, MaxSubset: 8, Rule: Quorum}

// Attests is whether a validator may set a runner's bit in a block.
func (r *Rotation) Attests(runner types.PublicKey, validator types.Address, height types.Height, p Pace) bool {
	_, attests := r.Turn(runner, validator, height, p)
	return attests
}
