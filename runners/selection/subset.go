package selection

import (
	"bytes"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/memo"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Assignment decides every runner's subset: validators and constants at the time of
// one rotation.
type Assignment struct {
	_         struct{}          `cbor:",toarray"`
	Members   []types.Validator // sorted by address (decision C1)
	Constants Constants
	// subsets remembers those of runners: each validator of a process asks for the same. It is nil
	// where nothing is remembered; copies of an assignment share it.
	subsets *memo.Once[types.PublicKey, []int]
}

// keptSubsets bounds the subsets that an assignment remembers: those of a crowd. Strangers that
// connect are remembered too, the oldest out first.
const keptSubsets = 16_384

// RememberSubsets has the assignments of a rotation remember subsets. Members and constants
// must not change afterwards.
func (r *Rotation) RememberSubsets() {
	r.Current.rememberSubsets()
	if r.Former != nil {
		r.Former.rememberSubsets()
	}
}

func (a *Assignment) rememberSubsets() {
	a.subsets = memo.New[types.PublicKey, []int](memo.Bound{Count: keptSubsets}, nil)
}

// SubsetSize is k of this assignment.
func (a *Assignment) SubsetSize() int { return a.Constants.SubsetSize(len(a.Members)) }

// SubsetKey orders validators for a runner: the lowest come first. Keys are
// compared as big-endian numbers.
//
// Spec: CIP-11 §5.1.
func SubsetKey(runner, validator types.PublicKey) types.Hash {
	return types.Keccak(runner[:], validator[:])
}

// Subset returns Sub(R, t): positions in Members, in the order of their keys. They must not
// be changed.
//
// Spec: CIP-11 §5.1, decision J10. Vectors: fixtures/vectors/cip11/5.1-subset.json.
func (a *Assignment) Subset(runner types.PublicKey) []int {
	return a.subsets.Do(nil, runner, func() ([]int, bool) { return a.computeSubset(runner), true })
}

// computeSubset is Subset, without memory.
func (a *Assignment) computeSubset(runner types.PublicKey) []int {
	places := make([]place, 0, a.SubsetSize())
	for i := range a.Members {
		places = insertPlace(places, place{SubsetKey(runner, a.Members[i].PublicKey), i})
	}
	out := make([]int, len(places))
	for i := range places {
		out[i] = places[i].member
	}
	return out
}

// place is a validator in the order of one runner.
type place struct {
	key    types.Hash
	member int // its position among the members
}

// insertPlace keeps the places sorted by key, and at most as many as they have room for.
func insertPlace(places []place, p place) []place {
	if len(places) == cap(places) {
		if len(places) == 0 || bytes.Compare(p.key[:], places[len(places)-1].key[:]) >= 0 {
			return places
		}
		places = places[:len(places)-1]
	}
	at := len(places)
	for at > 0 && bytes.Compare(p.key[:], places[at-1].key[:]) < 0 {
		at--
	}
	return slices.Insert(places, at, p)
}

// hasMember reports whether an address is among the members.
func (a *Assignment) hasMember(validator types.Address) bool {
	_, found := slices.BinarySearchFunc(a.Members, validator, func(v types.Validator, want types.Address) int {
		return v.Address.Compare(want)
	})
	return found
}
