package network

import (
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Fault is an order that was done, and its counters.
type Fault struct {
	Order  fault.Order
	Counts fault.Counts
	begun  types.Time               // when it was ordered
	until  guardedValue[types.Time] // it has no effect from then on; types.Never while it lasts
	told   *fault.Effect            // of a cheat, which is over; nil of a fault
}

func newFault(o *fault.Order, now types.Time) *Fault {
	f := &Fault{Order: *o, begun: now}
	f.endAt(types.Never)
	return f
}

// endAt has the fault end at a time, if it does not end before.
func (f *Fault) endAt(at types.Time) {
	f.until.withValue(func(until *types.Time) {
		if *until == 0 || at < *until {
			*until = at
		}
	})
}

// Ended reports whether the fault can have no effect any more.
func (f *Fault) Ended(now types.Time) (ended bool) {
	f.until.withValue(func(until *types.Time) { ended = *until <= now })
	return ended
}

// Did lists the effects so far, in the units of a world; "" without effects.
func (f *Fault) Did(u fault.Units) string { return f.Counts.Text(f.Order.Verb, u) }

// effectSoFar says what the fault did so far.
func (f *Fault) effectSoFar(now types.Time, u fault.Units) fault.Effect {
	if f.told != nil {
		return *f.told
	}
	did := f.Did(u)
	e := fault.Effect{Verb: f.Order.Verb.Name, Detail: f.Order.Detail(), Did: did, Idle: did == "", Begun: f.begun, Order: &f.Order}
	f.until.withValue(func(until *types.Time) { e.Until, e.Ended = *until, *until <= now })
	return e
}

// MaxFaults bounds the faults that a network remembers. The oldest is forgotten first.
const MaxFaults = 4096

// record is the faults of a network so far, and those in force.
type record struct {
	all []*Fault
	// force are the faults that wait for their end, the oldest first: of nodes, one for
	// each key.
	force []*Fault
}

// addFault remembers a fault.
func (r *record) addFault(f *Fault) {
	if len(r.all) >= MaxFaults {
		r.all = slices.Delete(r.all, 0, 1)
	}
	r.all = append(r.all, f)
}

// key distinguishes faults of a node that do not replace each other.
type key struct {
	node  string
	verb  *fault.Verb
	actor types.Address
}

// keyOf is the key of an order. Whatever ended a process is replaced by the next end.
func keyOf(o *fault.Order) key {
	k := key{node: o.Node, verb: o.Verb}
	switch o.Verb {
	case fault.Drop, fault.Rejoin:
		k.verb = fault.Crash
	case fault.HostFail:
		k.actor = o.Actor
	}
	return k
}

// findInForce is the fault in force of a key, or nil.
func (r *record) findInForce(k key) *Fault {
	for _, f := range r.force {
		if keyOf(&f.Order) == k {
			return f
		}
	}
	return nil
}

// putInForce puts a fault in force, in place of the one of its key.
func (r *record) putInForce(f *Fault, now types.Time) {
	r.endInForce(r.findInForce(keyOf(&f.Order)), now)
	r.force = append(r.force, f)
}

// endInForce ends a fault in force; nil is allowed and changes nothing.
func (r *record) endInForce(f *Fault, now types.Time) {
	if f == nil {
		return
	}
	f.endAt(now)
	r.force = slices.DeleteFunc(r.force, func(one *Fault) bool { return one == f })
}

// finishAll ends the faults of a node that last as long as its process.
func (r *record) finishAll(node string, now types.Time) {
	r.force = slices.DeleteFunc(r.force, func(f *Fault) bool {
		over := f.Order.Node == node && f.Order.Verb.Lasts == fault.Process
		if over {
			f.endAt(now)
		}
		return over
	})
}

// endAfter is how a fault is told that it has no effect any more, in so long.
func (w *Orders) endAfter(f *Fault, after time.Duration) {
	now := w.backend.Now()
	f.endAt(now.Add(after))
	if after <= 0 {
		w.record.withValue(func(r *record) { r.endInForce(f, now) })
	}
}
