// Package memo remembers what pure functions gave, within a bound that is named:
// a Once by count and by weight, oldest out first.
//
// Remembered values do not depend on who computes them, so the first caller and
// forgotten entries affect only time.
package memo

import (
	"slices"
	"sync"
)

// Bound is how much a Once keeps.
type Bound struct {
	Count  int // values
	Weight int // of all their keys together, by Once's weigh; 0: they are not weighed
}

// Once remembers the values of a pure function by key, and computes each exactly
// one time: a caller waits while another computes its value. It is safe for
// concurrent use. A nil Once remembers nothing.
type Once[K comparable, V any] struct {
	bound Bound
	weigh func(K) int

	mu      sync.Mutex
	entries map[K]*entry[V] // those that are being computed too
	order   []K             // of those that are kept, oldest first
	weight  int             // of order
}

type entry[V any] struct {
	once  sync.Once
	value V
	owned bool    // a caller passed a Life
	lives []*Life // of those callers that are not over
}

// Life is the lifetime of a user of a Once. At its end the Once forgets the values that
// no other user asked for. A Life belongs to one Once.
type Life struct{ over bool }

// New returns an empty Once. weigh takes a key and returns at least 0; it is not
// called if the bound has no weight.
func New[K comparable, V any](bound Bound, weigh func(K) int) *Once[K, V] {
	return &Once[K, V]{bound: bound, weigh: weigh, entries: map[K]*entry[V]{}}
}

// Do returns the value of a key: the one that is remembered, or else what compute
// gives. Callers that wait for it get it too; it is remembered if keep is true.
// Asked with a Life that is over, Do computes and remembers nothing.
func (o *Once[K, V]) Do(l *Life, key K, compute func() (value V, keep bool)) V {
	e := o.findOrAddEntry(l, key)
	if e == nil {
		value, _ := compute()
		return value
	}
	e.once.Do(func() { o.computeEntry(key, e, compute) })
	return e.value
}

// DoBytes is Do for a key of bytes, which is copied only if it is new.
func DoBytes[V any](o *Once[string, V], key []byte, compute func() (value V, keep bool)) V {
	if o != nil {
		o.mu.Lock()
		e := o.entries[string(key)]
		o.mu.Unlock()
		if e != nil {
			e.once.Do(func() { o.computeEntry(string(key), e, compute) })
			return e.value
		}
	}
	return o.Do(nil, string(key), compute)
}

// findOrAddEntry returns the entry of a key, made if there was none, or nil if nothing is to
// be remembered.
func (o *Once[K, V]) findOrAddEntry(l *Life, key K) *entry[V] {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if l != nil && l.over {
		return nil
	}
	e := o.entries[key]
	if e == nil {
		e = &entry[V]{}
		o.entries[key] = e
	}
	if l != nil {
		e.owned = true
		if !slices.Contains(e.lives, l) {
			e.lives = append(e.lives, l)
		}
	}
	return e
}

// computeEntry makes an entry's value, and keeps or drops it.
func (o *Once[K, V]) computeEntry(key K, e *entry[V], compute func() (V, bool)) {
	keep := false
	defer func() { o.placeEntry(key, e, keep) }() // where compute panics too
	e.value, keep = compute()
}

// placeEntry gives what was computed its place among what is remembered, the newest.
func (o *Once[K, V]) placeEntry(key K, e *entry[V], keep bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.entries[key] != e {
		return // forgotten meanwhile
	}
	weight := o.weightOf(key)
	if !keep || e.owned && len(e.lives) == 0 || weight > o.bound.Weight {
		delete(o.entries, key)
		return
	}
	o.order = append(o.order, key)
	o.weight += weight
	for len(o.order) > o.bound.Count || o.weight > o.bound.Weight {
		delete(o.entries, o.order[0])
		o.weight -= o.weightOf(o.order[0])
		o.order = o.order[1:]
	}
}

func (o *Once[K, V]) weightOf(key K) int {
	if o.bound.Weight == 0 {
		return 0
	}
	return o.weigh(key)
}

// End ends a life, and forgets the values that no other user asked for.
func (o *Once[K, V]) End(l *Life) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	l.over = true
	for key, e := range o.entries { // order: each is judged separately
		e.lives = slices.DeleteFunc(e.lives, func(one *Life) bool { return one == l })
		if e.owned && len(e.lives) == 0 {
			delete(o.entries, key)
		}
	}
	kept := o.order[:0]
	o.weight = 0
	for _, key := range o.order {
		if o.entries[key] != nil {
			kept = append(kept, key)
			o.weight += o.weightOf(key)
		}
	}
	clear(o.order[len(kept):])
	o.order = kept
}

// Len is how many values are remembered.
func (o *Once[K, V]) Len() int {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.order)
}
