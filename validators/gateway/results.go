package gateway

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// heldID names a result: of a runner, for an assignment.
type heldID struct {
	runner types.Address
	AssignmentID
}

// held is a result or a refusal on its way to the chain. It outlives the connection that it
// came by, and lasts until its assignment is not open any more.
type held struct {
	heldID
	result     push.JobResult
	refusal    *Refuse // in place of a result
	commitment types.Hash
	committed  bool // the commitment, or the refusal, was submitted
	revealed   bool // the result was submitted
}

// results are the results and the refusals on their way to the chain.
type results struct {
	*step
	chain *chain
	held  map[heldID]*held
	order []*held // what is held, in the order it came
	bytes int
	of    map[types.Address]int // the bytes of each runner that has any
}

// hold takes a result, the first of a runner for an assignment. A refused result is
// dropped.
func (r *results) hold(runner types.Address, id AssignmentID, f *push.JobResult) {
	if why := r.refuses(runner, id, f); why != "" {
		r.report(NotTaken{Runner: runner, Assignment: id, Why: why})
		return
	}
	r.keep(&held{heldID: heldID{runner, id}, result: *f, commitment: push.Commitment(f.ResultData, f.RunnerSigned)})
}

// keep holds what was found to have room, of an open assignment, and submits what is next.
func (r *results) keep(h *held) {
	r.held[h.heldID] = h
	r.order = append(r.order, h)
	r.weigh(h.runner, h.weight())
	r.advance(h, r.chain.assignment(h.runner, h.AssignmentID))
}

// refuses says why a result is not taken, "" if it is: it came too late, or is longer than
// the job allows, or has no signed commitment for a committee, or there is no room for it.
func (r *results) refuses(runner types.Address, id AssignmentID, f *push.JobResult) (why string) {
	a, size := r.chain.assignment(runner, id), len(f.ResultData)
	switch {
	case a == nil:
		return "its assignment is over"
	case uint64(size) > a.MaxReturn:
		return "it is longer than the job's max_return_bytes"
	case a.Committee > 1 && f.CommitSigned == nil:
		return "commit_signed is null, and its job has a committee: sign the commitment"
	}
	return r.full(heldID{runner, id}, size)
}

// full says why nothing more of a number of bytes is held, "" if it can be: the runner's
// answer is held already, or the runner would have more held than is left to all others.
func (r *results) full(id heldID, size int) (why string) {
	switch before := r.held[id]; {
	case before != nil && before.refusal != nil:
		return "the runner's refusal is held already"
	case before != nil:
		return "the runner's result is held already"
	case r.of[id.runner]+size+heldOverhead > MaxHeldBytes-r.bytes:
		return "too many results are held"
	}
	return ""
}

// weight is what a result or a refusal counts of MaxHeldBytes.
func (h *held) weight() int {
	if h.refusal != nil {
		return len(h.refusal.Refusal.Text) + heldOverhead
	}
	return len(h.result.ResultData) + heldOverhead
}

// weigh adds to what is held of a runner.
func (r *results) weigh(runner types.Address, bytes int) {
	r.bytes += bytes
	if r.of[runner] += bytes; r.of[runner] == 0 {
		delete(r.of, runner)
	}
}

// advanceAll takes the held results as far as the head allows, in the order they
// came, and drops those whose assignment is over.
func (r *results) advanceAll() {
	r.order = slices.DeleteFunc(r.order, func(h *held) bool {
		if a := r.chain.assignment(h.runner, h.AssignmentID); a != nil {
			r.advance(h, a)
			return false
		}
		delete(r.held, h.heldID)
		r.weigh(h.runner, -h.weight())
		return true
	})
}

// unkept notes that what was submitted of a result or a refusal is lost, so that the next
// head submits it again.
func (r *results) unkept(runner types.Address, job types.Hash) {
	for _, a := range r.chain.head.Reader.Assignments(runner) {
		if h := r.held[heldID{runner, a.AssignmentID}]; a.Job == job && h != nil {
			h.committed, h.revealed = false, false
		}
	}
}

// advance submits what is next. A refusal goes into a block of the time to commit. The
// commitment of a result goes there as well; the result itself goes when the commitment is
// final and that time is over or all have committed. A committee of one has nothing to
// hide.
//
// Spec: decisions J15, J21.
func (r *results) advance(h *held, a *Assignment) {
	if h.refusal != nil {
		if !h.committed && r.chain.head.Height < a.CommitEnd && len(a.Commitments) == 0 {
			h.committed = true
			r.submit(*h.refusal)
		}
		return
	}
	alone := a.Committee == 1
	final := slices.Contains(a.Commitments, h.commitment)
	over := a.AllCommitted || r.chain.head.Height >= a.CommitEnd
	switch {
	case h.revealed || r.chain.head.Height >= a.Deadline:
	case alone || final && over:
		h.revealed = true
		r.submit(Reveal{Runner: h.runner, Assignment: h.AssignmentID, Result: h.result, Alone: alone})
	case !final && !over && !h.committed:
		h.committed = true
		r.submit(Commit{Runner: h.runner, Assignment: h.AssignmentID, Commitment: h.commitment, Signed: *h.result.CommitSigned})
	}
}
