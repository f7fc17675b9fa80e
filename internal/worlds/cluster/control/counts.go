package control

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// register numbers the faults of a node as its driver does, and counts their effects.
type register struct {
	mu  sync.Mutex
	all map[int]*entry
}

type entry struct {
	counts fault.Counts
	over   bool
}

// of is what counts the effects of a fault, made at its first use. 0 is none.
func (r *register) of(number int) (*entry, error) {
	if number == 0 {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.all[number]; e != nil {
		return e, nil
	}
	if len(r.all) >= MaxFaults || number < 0 {
		return nil, fmt.Errorf("fault %d: a node counts the effects of at most %d faults, numbered from 1", number, MaxFaults)
	}
	if r.all == nil {
		r.all = map[int]*entry{}
	}
	r.all[number] = &entry{}
	return r.all[number], nil
}

// end says that a fault can have no effect any more.
func (r *register) end(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.over = true
}

// list is what each fault did so far, by number.
func (r *register) list() (all []counted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, number := range slices.Sorted(maps.Keys(r.all)) {
		e := r.all[number]
		all = append(all, counted{number, e.counts.Figures(), e.over})
	}
	return all
}
