package selection

import "github.com/cowboyinc/devnet/internal/base/types"

// Table holds the subsets of all runners of a registry under one assignment. It
// is computed from them and part of no state: who has none makes one anew. A
// rotation keeps what it can of the one before, for a key is a hash, and a
// hundred validators of ten thousand runners have a million of them.
type Table struct {
	assignment Assignment
	k          int
	runners    []types.PublicKey // in the order of the registry (decision J12)
	places     []place           // k of each runner
}

// NewTable returns the table of an assignment, without runners.
func NewTable(a Assignment) *Table { return &Table{assignment: a, k: a.SubsetSize()} }

// Add appends a runner: the next of the registry.
func (t *Table) Add(runner types.PublicKey) {
	t.runners = append(t.runners, runner)
	t.places = t.assignment.nearest(t.places, runner)
}

// Len is the number of runners.
func (t *Table) Len() int { return len(t.runners) }

// Subset returns the subset of the runner with an index of the registry, as
// Assignment.Subset does.
func (t *Table) Subset(runner int) []int { return members(t.of(runner)) }

func (t *Table) of(runner int) []place { return t.places[runner*t.k : (runner+1)*t.k] }

// Served returns the runners whose subset a validator is in: those that it may
// let in, and whose bits it may set (CIP-11 §§5.2, 7.2(4)).
func (t *Table) Served(validator types.Address) *Bitmap {
	served := NewBitmap(len(t.runners))
	member := int32(t.assignment.position(validator))
	for i := range t.places {
		if t.places[i].member == member {
			served.Set(i/t.k, true)
		}
	}
	return served
}

// Rotated returns the table of another assignment for the same runners.
//
// The places of a runner are the least of the former members, so those that stay
// are the least of all who stay. Where they are no fewer than the new k, nobody
// else who stayed can come before them, and only who joined has to be hashed.
func (t *Table) Rotated(to Assignment) *Table {
	next := &Table{assignment: to, k: to.SubsetSize(), runners: t.runners[:len(t.runners):len(t.runners)]}
	next.places = make([]place, 0, next.k*len(next.runners))
	now, joined := moves(&t.assignment, &to)
	stayed := make([]place, 0, t.k)
	for i, runner := range next.runners {
		stayed = stayed[:0]
		for _, p := range t.of(i) {
			if now[p.member] >= 0 {
				stayed = append(stayed, place{p.key, now[p.member]})
			}
		}
		if len(stayed) < next.k {
			next.places = to.nearest(next.places, runner)
			continue
		}
		begin := len(next.places)
		next.places = append(next.places, stayed[:next.k]...)
		for _, j := range joined {
			next.places = insertPlace(next.places, begin, next.k, place{SubsetKey(runner, to.Members[j].PublicKey), int32(j)})
		}
	}
	return next
}

// moves returns where each member of one assignment is in another, -1 where
// nowhere, and who is only in the other.
func moves(from, to *Assignment) (now []int32, joined []int) {
	now = make([]int32, len(from.Members))
	for i := range from.Members {
		now[i] = int32(to.position(from.Members[i].Address))
	}
	for j := range to.Members {
		if !from.has(to.Members[j].Address) {
			joined = append(joined, j)
		}
	}
	return now, joined
}
