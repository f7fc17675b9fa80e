package system

import (
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Roster is all runners as a draw sees them, sorted by address. It follows from
// the state, and is carried from block to block so that no block reads a registry
// of thousands. It never changes.
type Roster struct{ runners []selection.Runner }

// NewRoster reads the roster of a state.
func NewRoster(s actors.Reader) *Roster {
	r := &Roster{runners: make([]selection.Runner, 0, Registered(s).Count)}
	Runners(s, func(one *Runner) bool {
		r.runners = append(r.runners, one.seen())
		return true
	})
	slices.SortFunc(r.runners, func(a, b selection.Runner) int { return a.Address.Compare(b.Address) })
	return r
}

func byAddress(r selection.Runner, a types.Address) int { return r.Address.Compare(a) }

// After returns the roster of a block in the making, this one being its parent's.
func (r *Roster) After(s *actors.State) *Roster {
	var changed []types.Address
	for _, key := range s.StorageWritten(types.RegistryAddress) {
		if address, ok := RunnerIn(key); ok {
			changed = append(changed, address)
		}
	}
	if len(changed) == 0 {
		return r
	}
	slices.SortFunc(changed, types.Address.Compare)
	changed = slices.Compact(changed)
	next := &Roster{runners: make([]selection.Runner, 0, len(r.runners)+len(changed))}
	rest := r.runners
	for _, address := range changed {
		at, known := slices.BinarySearchFunc(rest, address, byAddress)
		next.runners = append(append(next.runners, rest[:at]...), RunnerOf(s, address).seen())
		if rest = rest[at:]; known {
			rest = rest[1:]
		}
	}
	next.runners = append(next.runners, rest...)
	return next
}

// Runner returns one of them, or nil. It must not be changed.
func (r *Roster) Runner(a types.Address) *selection.Runner {
	if at, known := slices.BinarySearchFunc(r.runners, a, byAddress); known {
		return &r.runners[at]
	}
	return nil
}

// Available returns those who pass the filters that are the same for every job: a
// copy, which is the caller's.
func (r *Roster) Available(filter *selection.Filter) (available []selection.Runner) {
	for i := range r.runners {
		switch filter.Judge(&r.runners[i]) {
		case selection.Unhealthy, selection.Absent, selection.Disreputable:
		default:
			available = append(available, r.runners[i])
		}
	}
	return available
}
