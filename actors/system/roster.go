package system

import (
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// maxPage bounds the runners of a page of a roster. A block that changes one runner
// copies its page; with 65,504 runners there are about a thousand pages.
const maxPage = 64

// Roster is all runners that hold a place as a draw sees them, sorted by address, and
// the places. It follows from the state. It is carried from block to block, so that no
// block reads a registry of thousands. It never changes, and shares unchanged pages with
// the roster of the block before.
type Roster struct {
	pages  [][]selection.Runner // sorted by address; no page is empty
	places selection.Places
}

// NewRoster reads the roster of a state.
func NewRoster(s actors.Reader) *Roster {
	r := new(Roster)
	var all []selection.Runner
	Runners(s, func(one *Runner) bool {
		all = append(all, one.asCandidate())
		r.places = r.places.With(int(one.Index), one.RegisteredAt)
		return true
	})
	slices.SortFunc(all, func(a, b selection.Runner) int { return a.Address.Compare(b.Address) })
	r.appendRunners(all)
	return r
}

// Places returns the places of the registry.
func (r *Roster) Places() selection.Places {
	if r == nil {
		return selection.Places{}
	}
	return r.places
}

func byAddress(r selection.Runner, a types.Address) int { return r.Address.Compare(a) }

// After returns the roster of a block in the making, whose parent has the roster r.
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
	next := &Roster{pages: make([][]selection.Runner, 0, len(r.pages)+1), places: r.places}
	for i, page := range r.pages {
		upto := len(changed)
		if i+1 < len(r.pages) {
			upto, _ = slices.BinarySearchFunc(changed, r.pages[i+1][0].Address, types.Address.Compare)
		}
		if upto == 0 {
			next.pages = append(next.pages, page)
			continue
		}
		next.appendRunners(next.mergePage(s, page, changed[:upto]))
		changed = changed[upto:]
	}
	next.appendRunners(next.mergePage(s, nil, changed)) // of an empty roster
	return next
}

// mergePage returns a page with its changed runners, which it reads from the state. It notes
// their places.
func (r *Roster) mergePage(s actors.Reader, page []selection.Runner, changed []types.Address) (merged []selection.Runner) {
	merged = make([]selection.Runner, 0, len(page)+len(changed))
	for _, address := range changed {
		at, known := slices.BinarySearchFunc(page, address, byAddress)
		merged = append(merged, page[:at]...)
		if page = page[at:]; known {
			page = page[1:]
		}
		if one := RunnerOf(s, address); one.holdsPlace() {
			merged = append(merged, one.asCandidate())
			r.places = r.places.With(int(one.Index), one.RegisteredAt)
		} else {
			r.places = r.places.Without(int(one.Index), one.RegisteredAt)
		}
	}
	return append(merged, page...)
}

// appendRunners appends runners, which follow all others, in pages. A small page joins the one
// before, so that a registry that empties leaves no pages of one runner.
func (r *Roster) appendRunners(runners []selection.Runner) {
	if n := len(r.pages); n > 0 && len(runners) > 0 && len(r.pages[n-1])+len(runners) <= maxPage/2 {
		runners = slices.Concat(r.pages[n-1], runners)
		r.pages = r.pages[:n-1]
	}
	for len(runners) > maxPage {
		r.pages = append(r.pages, slices.Clip(runners[:maxPage/2]))
		runners = runners[maxPage/2:]
	}
	if len(runners) > 0 {
		r.pages = append(r.pages, runners)
	}
}

// Runner returns a runner, or nil. It must not be changed.
func (r *Roster) Runner(a types.Address) *selection.Runner {
	i, first := slices.BinarySearchFunc(r.pages, a, func(page []selection.Runner, a types.Address) int {
		return page[0].Address.Compare(a)
	})
	if !first {
		i--
	}
	if i < 0 {
		return nil
	}
	if at, known := slices.BinarySearchFunc(r.pages[i], a, byAddress); known {
		return &r.pages[i][at]
	}
	return nil
}

// Between calls each for every runner from one address to another, by address.
func (r *Roster) Between(first, last types.Address, each func(types.Address)) {
	if r == nil {
		return
	}
	for _, page := range r.pages {
		for i := range page {
			if a := page[i].Address; first.Compare(a) <= 0 && a.Compare(last) <= 0 {
				each(a)
			}
		}
	}
}

// Available returns the runners that pass the filters that are the same for every job:
// a copy, which belongs to the caller.
func (r *Roster) Available(filter *selection.Filter) (available []selection.Runner) {
	for _, page := range r.pages {
		for i := range page {
			switch filter.Judge(&page[i]) {
			case selection.Unhealthy, selection.Absent, selection.Disreputable:
			default:
				available = append(available, page[i])
			}
		}
	}
	return available
}
