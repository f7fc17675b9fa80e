package scheduler

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cowboyinc/devnet/scheduler/exact"
)

// TieByID is the value of cip1.tie_break that decides ties as written: by timer
// id (decision T10).
const TieByID = "id"

// rankedTimer is a timer in the order of turns: its urgency in 128 bits, or the maximum
// if these do not hold it, and the front of the fields that decide ties.
type rankedTimer struct {
	high, low, tie uint64
	at             int // place in due
}

const greatest = ^uint64(0)

func (e *eip1559Run) rankTimer(at int) rankedTimer {
	u := e.urgencyAt(at)
	t := rankedTimer{high: u[1], low: u[0], tie: uint64(at), at: at}
	if u[2]|u[3]|u[4]|u[5] != 0 {
		t.high, t.low = greatest, greatest
	}
	if e.lane.Params.TieBreak == TieByID {
		t.tie = binary.BigEndian.Uint64(e.lane.due[at].ID[:])
	}
	return t
}

// urgencyAt is (priority_per_cycle + priority_floor) × the numerator of the
// actor's weight, whole. All weights of a block have one denominator, so urgencies
// compare as effective priorities do.
func (e *eip1559Run) urgencyAt(at int) exact.Wide {
	d := &e.lane.due[at]
	return exact.SumTimes(d.price.TipCycle, e.lane.Params.PriorityFloor, d.weight.Num)
}

// compareRanks gives the more urgent first, and never 0.
func (e *eip1559Run) compareRanks(a, b *rankedTimer) int {
	if a.high != b.high {
		return cmp.Compare(b.high, a.high)
	}
	if a.low != b.low {
		return cmp.Compare(b.low, a.low)
	}
	if a.high&a.low == greatest {
		u, v := e.urgencyAt(a.at), e.urgencyAt(b.at)
		if c := v.Compare(&u); c != 0 {
			return c
		}
	}
	if a.tie != b.tie {
		return cmp.Compare(a.tie, b.tie)
	}
	return bytes.Compare(e.lane.due[a.at].ID[:], e.lane.due[b.at].ID[:])
}

// byUrgency returns the places of due in the order of turns: by effective
// priority, the highest first, ties by timer id, or by trigger height and then
// sequence, the order of places. The comparison is exact.
//
// Spec: CIP-1 §3 steps 6 and 7, decision T10. **Finding**: if no timer tips,
// weights order nothing; a priority_floor of 1 fixes this. Vectors:
// fixtures/vectors/cip1/3-selection.json.
func (e *eip1559Run) byUrgency(ready []int) []int {
	all := make([]rankedTimer, len(ready))
	for i, at := range ready {
		all[i] = e.rankTimer(at)
	}
	slices.SortFunc(all, func(a, b rankedTimer) int { return e.compareRanks(&a, &b) })
	order := make([]int, len(all))
	for i := range all {
		order[i] = all[i].at
	}
	return order
}
