package ledger

import (
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// registry is a state's record of runners, carried from block to block so that no
// block reads it again.
type registry struct {
	size     system.Size
	rotation *selection.Rotation // of the subsets, in force in the state's block
	roster   *system.Roster      // nil if no place was held since this process began
}

func registryOf(tree *trie.Tree) registry {
	s := reader{tree}
	runners := registry{size: system.Registered(s), rotation: system.RotationOf(s)}
	runners.rotation.RememberSubsets()
	if runners.size.Count > 0 {
		runners.roster = system.NewRoster(s)
	}
	return runners
}

// currentRegistry returns the registry of the block in the making.
func (r *run) currentRegistry() registry {
	runners := registry{size: system.Registered(r.state), rotation: r.rotation}
	switch {
	case r.parent.runners.roster != nil:
		runners.roster = r.parent.runners.roster.After(r.state)
	case runners.size.Count > 0:
		runners.roster = system.NewRoster(r.state)
	}
	return runners
}

// Presence is P of a block, and how it follows from the votes on it that the block
// after it carries.
type Presence struct {
	Bitmap    *selection.Bitmap
	Rule      selection.Rule // decision J9
	Threshold int            // how many votes a runner needs
}

// noPresence is for executions that draw nothing: reads and dry runs.
var noPresence = Presence{Bitmap: selection.NewBitmap(0)}

// presenceOf returns P of a state's block, from the votes on it that the block after it
// carries. It uses the rule and the assignment in force in that block, for a registry
// as long as that of the block's parent. A bit names the runner that held the place
// at that parent. The bit of a place that is free now, or was taken in the block, is
// 0. So no runner is present by votes on the runner before it. Its error is about
// those votes.
//
// Spec: CIP-11 §8, decisions C3, J9, J12.
func (s *State) presenceOf(carried *types.Certificate) (Presence, *Invalid) {
	var votes []*selection.Bitmap
	if length := s.VoteBits(); length > 0 && carried != nil {
		votes = make([]*selection.Bitmap, len(carried.Votes))
	}
	for i := range votes {
		bitmap, err := selection.ParseBitmap(carried.Votes[i].Bitmap)
		if err != nil {
			return Presence{}, newInvalid(CodeBadCertificate, "CIP-11 §12.3", "the vote of %s: %v", carried.Votes[i].Validator, err)
		}
		votes[i] = bitmap
	}
	p := Presence{Rule: s.runners.rotation.Current.Constants.Rule, Threshold: s.presenceThreshold(carried)}
	p.Bitmap = selection.Presence(votes, s.VoteBits(), p.Threshold)
	places := s.Places()
	for place := range p.Bitmap.Len() {
		if since, held := places.Since(place); p.Bitmap.Has(place) && (!held || since >= s.header.Height) {
			p.Bitmap.Set(place, false)
		}
	}
	return p, nil
}

// Places is which places of the registry are held.
func (s *State) Places() selection.Places { return s.runners.roster.Places() }

// presenceThreshold is how many of the votes carried on the state's block must show a
// runner.
//
// Spec: CIP-11 §8.2, decision J9.
func (s *State) presenceThreshold(carried *types.Certificate) int {
	voters, votes := s.set, 0
	if former := s.PreviousValidators(); former != nil {
		voters = former
	}
	if carried != nil {
		votes = len(carried.Votes)
	}
	current := &s.runners.rotation.Current
	return current.Constants.Rule.Threshold(selection.Electorate{Votes: votes, Validators: len(voters.Members),
		SubsetSize: current.SubsetSize()})
}

// rotateIfDue finds what subsets are in force in the block, for its header.
//
// Spec: CIP-11 §5.3, decision J10.
func (r *run) rotateIfDue() {
	r.rotation = r.parent.runners.rotation
	moment := selection.Moment{Height: r.header.Height, BeginsEpoch: r.header.Epoch != r.parent.header.Epoch,
		Members: r.parent.set.Members, Constants: selection.ConstantsOf(r.params)}
	if r.header.Height > r.parent.header.Height && r.rotation.Due(moment, selection.PaceOf(r.params)) != selection.NotDue {
		next := r.rotation.Advanced(moment)
		r.rotation = &next
	}
	r.header.SubsetEpoch = r.rotation.Epoch
}

// rotateSubsets writes the subsets that begin with the block.
func (r *run) rotateSubsets() error {
	if r.rotation == r.parent.runners.rotation {
		return nil
	}
	return r.instructContract(types.RegistryAddress, "rotate", func() { system.SetRotation(r.state, r.rotation) })
}

// Rotation is the subsets in force in the state's block, and those before them.
// They must not be changed.
func (s *State) Rotation() *selection.Rotation { return s.runners.rotation }

// VoteBits is the number of places of the registry at the parent of the state's block:
// the length of bitmaps in votes on it (CIP-11 §8.4, decision J12).
func (s *State) VoteBits() int { return int(s.runners.size.AtParent(s.header.Height)) }

// Runner returns a runner that is or was registered, or nil.
func (s *State) Runner(a types.Address) *system.Runner { return system.RunnerOf(reader{s.tree}, a) }

// Listed returns a runner that holds a place as a draw sees it, or nil: nothing is read
// from the tree for it. It must not be changed.
func (s *State) Listed(a types.Address) *selection.Runner {
	if s.runners.roster == nil {
		return nil
	}
	return s.runners.roster.Runner(a)
}

// Retired reports whether a runner was deregistered and has no open job any more, so that
// nothing is left for it to do.
//
// Spec: decision J20.
func (s *State) Retired(a types.Address) bool {
	r := s.Listed(a)
	return r != nil && r.Health == selection.Deregistered && r.ActiveJobs == 0
}

// Registrations identifies all that Listed returns, only for comparison: between two
// states of one chain with equal values, no runner changed. It is nil if no runner ever
// existed.
func (s *State) Registrations() any {
	if s.runners.roster == nil {
		return nil
	}
	return s.runners.roster
}

// RunnersBetween calls each for the address of every runner that holds a place, from one
// address to another, by address.
func (s *State) RunnersBetween(first, last types.Address, each func(types.Address)) {
	s.runners.roster.Between(first, last, each)
}

// Registered is the number of places of the registry, free ones among them.
func (s *State) Registered() int { return int(s.runners.size.Count) }

// RunnerAt returns the runner that a bit names in votes on the block of a height, at most
// the state's; zero if the place was free.
func (s *State) RunnerAt(place int, height types.Height) types.Address {
	if place < 0 || place >= selection.MaxRunners {
		return types.Address{}
	}
	runner, _ := system.HolderAt(reader{s.tree}, uint32(place), height)
	return runner
}

// Runners calls each for every runner that holds a place, in the order of the places,
// until it returns false.
func (s *State) Runners(each func(*system.Runner) bool) { system.Runners(reader{s.tree}, each) }
