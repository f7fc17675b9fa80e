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
	until  guarded[types.Time] // it has no effect from then on; types.Never while it lasts
	told   *fault.Effect       // of a cheat, which is over; nil of a fault
}

func newFault(o *fault.Order) *Fault {
	f := &Fault{Order: *o}
	f.end(types.Never)
	return f
}

// end has the fault end at a time, if it does not end before.
func (f *Fault) end(at types.Time) {
	f.until.do(func(until *types.Time) {
		if *until == 0 || at < *until {
			*until = at
		}
	})
}

// Ended reports whether the fault can have no effect any more.
func (f *Fault) Ended(now types.Time) (ended bool) {
	f.until.do(func(until *types.Time) { ended = *until <= now })
	return ended
}

// Did lists the effects so far, in the units of a world; "" without effects.
func (f *Fault) Did(u fault.Units) string { return f.Counts.Text(f.Order.Verb, u) }

// effect says what the fault did so far.
func (f *Fault) effect(now types.Time, u fault.Units) fault.Effect {
	if f.told != nil {
		return *f.told
	}
	did := f.Did(u)
	return fault.Effect{Verb: f.Order.Verb, Detail: f.Order.Detail(), Did: did, Idle: did == "", Ended: f.Ended(now), Order: &f.Order}
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

// add remembers a fault.
func (r *record) add(f *Fault) {
	if len(r.all) >= MaxFaults {
		r.all = slices.Delete(r.all, 0, 1)
	}
	r.all = append(r.all, f)
}

// key distinguishes faults of a node that do not replace each other.
type key struct {
	node, verb string
	actor      types.Address
}

// keyOf is the key of an order. Whatever ended a process is replaced by the next end.
func keyOf(o *fault.Order) key {
	k := key{node: o.Node, verb: o.Verb}
	switch o.Verb {
	case "drop", "rejoin":
		k.verb = "crash"
	case "host_fail":
		k.actor = o.Actor
	}
	return k
}

// find is the fault in force of a key, or nil.
func (r *record) find(k key) *Fault {
	for _, f := range r.force {
		if keyOf(&f.Order) == k {
			return f
		}
	}
	return nil
}

// begin puts a fault in force, in place of the one of its key.
func (r *record) begin(f *Fault, now types.Time) {
	r.finish(r.find(keyOf(&f.Order)), now)
	r.force = append(r.force, f)
}

// finish ends a fault in force; nil is allowed and changes nothing.
func (r *record) finish(f *Fault, now types.Time) {
	if f == nil {
		return
	}
	f.end(now)
	r.force = slices.DeleteFunc(r.force, func(one *Fault) bool { return one == f })
}

// finishAll ends the faults of a node that last as long as its process.
func (r *record) finishAll(node string, now types.Time) {
	r.force = slices.DeleteFunc(r.force, func(f *Fault) bool {
		over := f.Order.Node == node && fault.Lookup(f.Order.Verb).Lasts == fault.Process
		if over {
			f.end(now)
		}
		return over
	})
}

// over is how a fault is told that it has no effect any more, in so long.
func (w *Orders) over(f *Fault, after time.Duration) {
	now := w.backend.Now()
	f.end(now.Add(after))
	if after <= 0 {
		w.record.do(func(r *record) { r.finish(f, now) })
	}
}
