package selection

import (
	"bytes"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Assignment is what decides every runner's subset: validators and constants as
// they stood at one rotation.
type Assignment struct {
	_         struct{}          `cbor:",toarray"`
	Members   []types.Validator // sorted by address (decision C1)
	Constants Constants
}

// SubsetSize is k of this assignment.
func (a *Assignment) SubsetSize() int { return a.Constants.SubsetSize(len(a.Members)) }

// SubsetKey is what orders validators for a runner: the least come first. Keys
// are compared as big-endian numbers.
//
// Spec: CIP-11 §5.1.
func SubsetKey(runner, validator types.PublicKey) types.Hash {
	return types.Keccak(runner[:], validator[:])
}

// Subset returns Sub(R, t): positions in Members, in the order of their keys.
//
// Spec: CIP-11 §5.1, decision J10. Vectors: fixtures/vectors/cip11/5.1-subset.json.
func (a *Assignment) Subset(runner types.PublicKey) []int {
	return members(a.nearest(nil, runner))
}

// place is a validator in the order of one runner.
type place struct {
	key    types.Hash
	member int32 // its position among the members
}

// nearest appends the k places of a runner with the least keys.
func (a *Assignment) nearest(dst []place, runner types.PublicKey) []place {
	begin, k := len(dst), a.SubsetSize()
	for i := range a.Members {
		dst = insertPlace(dst, begin, k, place{SubsetKey(runner, a.Members[i].PublicKey), int32(i)})
	}
	return dst
}

// insertPlace keeps the places from begin on sorted by key, and at most k.
func insertPlace(places []place, begin, k int, p place) []place {
	if k == 0 {
		return places
	}
	if len(places) == begin+k {
		if bytes.Compare(p.key[:], places[len(places)-1].key[:]) >= 0 {
			return places
		}
		places = places[:len(places)-1]
	}
	at := len(places)
	for at > begin && bytes.Compare(p.key[:], places[at-1].key[:]) < 0 {
		at--
	}
	return slices.Insert(places, at, p)
}

func members(places []place) []int {
	out := make([]int, len(places))
	for i := range places {
		out[i] = int(places[i].member)
	}
	return out
}

// has reports whether an address is among the members.
func (a *Assignment) has(validator types.Address) bool { return a.position(validator) >= 0 }

// position is that of a validator among the members, or -1.
func (a *Assignment) position(validator types.Address) int {
	at, found := slices.BinarySearchFunc(a.Members, validator, func(v types.Validator, want types.Address) int {
		return v.Address.Compare(want)
	})
	if !found {
		return -1
	}
	return at
}
