package selection

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Rotation is the chain's record of the last rotation of subsets: the epoch that
// headers count, the assignment in force, and the one before it for the overlap.
//
// Spec: CIP-11 §5.3, decision J10.
type Rotation struct {
	_       struct{}     `cbor:",toarray"`
	Epoch   uint64       // subset_epoch; 0 from genesis on
	Height  types.Height // of the block in which it advanced last
	Current Assignment
	Former  *Assignment // nil before the first rotation
}

// Pace is when subsets rotate, and for how long the former ones hold.
type Pace struct {
	EpochBlocks   uint64 // the parameter cip11.subset_epoch_blocks, at least 1
	ChurnPermille uint64 // the parameter cip11.validator_churn_threshold_permille
	OverlapBlocks uint64 // the parameter cip11.overlap_blocks
}

// PaceOf returns the pace of parameters.
func PaceOf(p *params.Params) Pace {
	return Pace{EpochBlocks: p.SubsetEpochBlocks, ChurnPermille: p.ChurnPermille, OverlapBlocks: p.OverlapBlocks}
}

// Moment holds the facts of a block that decide whether subsets rotate in it.
type Moment struct {
	Height      types.Height
	BeginsEpoch bool              // it is the first block of an epoch (decision C6)
	Members     []types.Validator // of the set that decides on the block, sorted by address
	Constants   Constants         // in force in the block
}

// Cause is why the subset epoch advances in a block.
type Cause string

// The causes, the first that holds.
const (
	NotDue  Cause = ""
	Elapsed Cause = "elapsed" // the subset epoch is over
	Churned Cause = "churn"   // more validators joined and left than the threshold
	Changed Cause = "changed" // a constant that subsets depend on, or the presence rule
)

// Due returns why the subset epoch advances in a block, NotDue where it does not.
// Heights may be skipped: what is due at one is due in the first block after it.
//
// Spec: CIP-11 §5.3, decision J10. Vectors: fixtures/vectors/cip11/5.3-rotation.json.
func (r *Rotation) Due(m Moment, p Pace) Cause {
	switch {
	case uint64(m.Height-r.Height) >= p.EpochBlocks:
		return Elapsed
	case m.BeginsEpoch && r.hasChurned(m.Members, p.ChurnPermille):
		return Churned
	case m.BeginsEpoch && m.Constants != r.Current.Constants:
		return Changed
	}
	return NotDue
}

// hasChurned reports whether the validators that joined or left since the last
// rotation, added up, exceed a share of the set at that rotation. Nothing is
// rounded.
func (r *Rotation) hasChurned(set []types.Validator, permille uint64) bool {
	left, joined := 0, 0
	now := Assignment{Members: set}
	for i := range r.Current.Members {
		if !now.hasMember(r.Current.Members[i].Address) {
			left++
		}
	}
	for i := range set {
		if !r.Current.hasMember(set[i].Address) {
			joined++
		}
	}
	return uint64(joined+left)*1000 > permille*uint64(len(r.Current.Members))
}

// Advanced returns what the chain keeps after a block in which a rotation was
// due. Only the last former subset is kept, however short its overlap was.
func (r *Rotation) Advanced(m Moment) Rotation {
	former := r.Current
	next := Rotation{Epoch: r.Epoch + 1, Height: m.Height,
		Current: Assignment{Members: m.Members, Constants: m.Constants}, Former: &former}
	if former.subsets != nil {
		next.Current.rememberSubsets()
	}
	return next
}

// Overlaps reports whether the former subsets still hold in a block: in that of
// the rotation, and in all less than the overlap after it.
func (r *Rotation) Overlaps(height types.Height, p Pace) bool {
	return r.Former != nil && uint64(height-r.Height) < p.OverlapBlocks
}

// Turn returns the place of a validator in a runner's subset. It also reports whether the
// runner may connect to the validator, and the validator may set the runner's bit in a
// block. It may so in the subset, and during the overlap in the former one. A validator
// outside the subset has the place after the last.
//
// By CIP-11 §7.2(4) only the new subset attests, which would make the overlap of
// §5.3 worthless (deviation, decision J10).
func (r *Rotation) Turn(runner types.PublicKey, validator types.Address, height types.Height, p Pace) (turn int, attests bool) {
	subset := r.Current.Subset(runner)
	turn = slices.IndexFunc(subset, func(at int) bool { return r.Current.Members[at].Address == validator })
	if turn < 0 {
		return len(subset), r.Overlaps(height, p) && r.Former.isInSubset(runner, validator)
	}
	return turn, true
}

// Serving lists the validators that a runner belongs to in a block: its subset and,
// during the overlap after a rotation, those that are only in the former one.
//
// Spec: CIP-11 §5.3.
func (r *Rotation) Serving(runner types.PublicKey, height types.Height, p Pace) []types.Validator {
	serving := r.Current.appendSubset(runner, nil)
	if r.Overlaps(height, p) {
		serving = r.Former.appendSubset(runner, serving)
	}
	return serving
}

// appendSubset adds the validators of a runner's subset that the list lacks.
func (a *Assignment) appendSubset(runner types.PublicKey, to []types.Validator) []types.Validator {
	for _, i := range a.Subset(runner) {
		v := a.Members[i]
		if !slices.ContainsFunc(to, func(other types.Validator) bool { return other.Address == v.Address }) {
			to = append(to, v)
		}
	}
	return to
}

// isInSubset reports whether a validator is in a runner's subset.
func (a *Assignment) isInSubset(runner types.PublicKey, validator types.Address) bool {
	for _, i := range a.Subset(runner) {
		if a.Members[i].Address == validator {
			return true
		}
	}
	return false
}
