package gateway

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// resultID names a result: of a runner, for an assignment.
type resultID struct {
	runner types.Address
	AssignmentID
}

// pendingResult is a result or a refusal on its way to the chain. It outlives the connection that it
// came by, and lasts until its assignment is not open any more.
type pendingResult struct {
	resultID
	result     push.JobResult
	refusal    *Refuse // in place of a result
	commitment types.Hash
	committed  bool // the commitment, or the refusal, was submitted
	revealed   bool // the result was submitted

	// Kept by the index.
	place uint64       // in the order in which they came
	due   types.Height // of a head that advances it whatever changed; 0 if none
	at    int          // the index in dues, if due is not 0
	lost  bool         // it is in lost
}

// resultIndex finds the pending results that a head can advance: those whose job changed, whose
// height came, and whose submission was lost. A head costs the number of these, and not
// of all that are held. Each result has at most one entry in each part.
type resultIndex struct {
	all  map[resultID]*pendingResult
	jobs map[types.Hash][]*pendingResult // at most one of each member of a job's committees
	dues dues
	lost []*pendingResult
	next uint64 // the place of the next
}

func newHeldIndex() resultIndex {
	return resultIndex{all: map[resultID]*pendingResult{}, jobs: map[types.Hash][]*pendingResult{}}
}

// putResult adds a result. The first head at height due or above advances it, whatever changed;
// due is 0 if the result waits for changes only.
func (x *resultIndex) putResult(h *pendingResult, due types.Height) {
	h.place, h.due = x.next, due
	x.next++
	x.all[h.resultID] = h
	x.jobs[h.Job] = append(x.jobs[h.Job], h)
	if due > 0 {
		heap.Push(&x.dues, h)
	}
}

// dropResult removes a result. Its submission is not marked as lost: ready took the mark.
func (x *resultIndex) dropResult(h *pendingResult) {
	delete(x.all, h.resultID)
	rest := slices.DeleteFunc(x.jobs[h.Job], func(other *pendingResult) bool { return other == h })
	if x.jobs[h.Job] = rest; len(rest) == 0 {
		delete(x.jobs, h.Job)
	}
	if h.due > 0 {
		heap.Remove(&x.dues, h.at)
		h.due = 0
	}
}

// markLoss marks what is held of a runner for a job, so that the next head advances it.
func (x *resultIndex) markLoss(runner types.Address, job types.Hash) {
	for _, h := range x.jobs[job] {
		if h.runner != runner {
			continue
		}
		h.committed, h.revealed = false, false
		if !h.lost {
			h.lost = true
			x.lost = append(x.lost, h)
		}
	}
}

// takeReady takes the results that a head at a height can advance, in the order in which they
// came. changed are the jobs that changed; unknown says that all may have.
func (x *resultIndex) takeReady(height types.Height, changed []types.Hash, unknown bool) []*pendingResult {
	found := x.lost
	x.lost = nil
	for _, h := range found {
		h.lost = false
	}
	for len(x.dues) > 0 && x.dues[0].due <= height {
		h := heap.Pop(&x.dues).(*pendingResult)
		h.due = 0
		found = append(found, h)
	}
	if unknown {
		found = found[:0]
		for _, h := range x.all { // order: sorted below
			found = append(found, h)
		}
	} else {
		for _, job := range changed {
			found = append(found, x.jobs[job]...)
		}
	}
	slices.SortFunc(found, func(a, b *pendingResult) int { return cmp.Compare(a.place, b.place) })
	return slices.Compact(found)
}

// dues are a heap, the lowest height first.
type dues []*pendingResult

func (d dues) Len() int { return len(d) }
func (d dues) Less(i, j int) bool {
	if d[i].due != d[j].due {
		return d[i].due < d[j].due
	}
	return d[i].place < d[j].place
}

func (d dues) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].at, d[j].at = i, j
}

func (d *dues) Push(x any) {
	h := x.(*pendingResult)
	h.at = len(*d)
	*d = append(*d, h)
}

func (d *dues) Pop() any {
	last := len(*d) - 1
	h := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return h
}
