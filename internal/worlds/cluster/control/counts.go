package control

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

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

// entryOf is what counts the effects of a fault, made at its first use. 0 is not a
// number.
func (r *register) entryOf(number int) (*entry, error) {
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

// endFault says that a fault can have no effect any more.
func (r *register) endFault(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.over = true
}

// panicPatience is how long a supervisor waits for the ordered panic of a role, which
// first handles its queued events.
const panicPatience = 2 * time.Second

// executeOrder executes a fault of a kind of node, or ends it if the fault has no number. It waits
// for the panic of a role, so that the supervisor learns about it before the process ends.
func (r *register) executeOrder(ctx context.Context, in orderRequest, kind fault.Whose,
	do func(*fault.Order, *fault.Counts, func(time.Duration)) error) error {
	o := &in.Order
	if err := o.Check(); err != nil {
		return err
	}
	if err := o.CheckOf(kind); err != nil {
		return err
	}
	e, err := r.entryOf(in.Fault)
	switch {
	case err != nil:
		return err
	case e == nil && !o.Mends():
		return fmt.Errorf("the effects of %s are counted: give it a number", o.Verb.Name)
	case e == nil:
		return do(o, nil, nil)
	}
	done := make(chan struct{})
	err = do(o, &e.counts, func(after time.Duration) {
		if after > 0 {
			time.AfterFunc(after, func() { r.endFault(e) })
		} else {
			r.endFault(e)
		}
		close(done)
	})
	if err != nil || o.Verb != fault.Panic || o.Role == "" {
		return err
	}
	late := time.NewTimer(panicPatience)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	case <-ctx.Done():
	}
	return nil
}

// listCounts is what each fault did so far, by number.
func (r *register) listCounts() (all []Count) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, number := range slices.Sorted(maps.Keys(r.all)) {
		e := r.all[number]
		all = append(all, Count{number, e.counts.Figures(), e.over})
	}
	return all
}
