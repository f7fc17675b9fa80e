package gateway

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// results are the results and the refusals on their way to the chain.
type results struct {
	*step
	chain *chain
	index resultIndex
	bytes int                   // of all that are held
	of    map[types.Address]int // the bytes of each runner that has any
}

// holdResult takes a result, the first of a runner for an assignment. A refused result is
// dropped.
func (r *results) holdResult(runner types.Address, id AssignmentID, f *push.JobResult) {
	if why := r.whyRefused(runner, id, f); why != "" {
		r.addReport(NotTaken{Runner: runner, Assignment: id, Why: why})
		return
	}
	r.keepResult(&pendingResult{resultID: resultID{runner, id}, result: *f, commitment: push.Commitment(f.ResultData, f.RunnerSigned)})
}

// keepResult holds what was found to have room, of an open assignment, and submits what is next.
func (r *results) keepResult(h *pendingResult) {
	a := r.chain.findAssignment(h.runner, h.AssignmentID)
	due := types.Height(0)
	if h.refusal == nil && a.Committee > 1 && a.CommitEnd > r.chain.head.Height {
		due = a.CommitEnd // the result may be submitted from there on
	}
	r.index.putResult(h, due)
	r.addHeldBytes(h.runner, h.heldBytes())
	r.advanceResult(h, a)
}

// whyRefused says why a result is not taken, "" if it is: it came too late, or is longer than
// the job allows, or has no signed commitment for a committee, or there is no room for it.
func (r *results) whyRefused(runner types.Address, id AssignmentID, f *push.JobResult) (why string) {
	a, size := r.chain.findAssignment(runner, id), len(f.ResultData)
	switch {
	case a == nil:
		return "its assignment is over"
	case uint64(size) > a.MaxReturn:
		return "it is longer than the job's max_return_bytes"
	case a.Committee > 1 && f.CommitSigned == nil:
		return "commit_signed is null, and its job has a committee: sign the commitment"
	}
	return r.whyFull(resultID{runner, id}, size)
}

// whyFull says why nothing more of a number of bytes is held, "" if it can be: the runner's
// answer is held already, or the runner would have more held than is left to all others.
func (r *results) whyFull(id resultID, size int) (why string) {
	switch before := r.index.all[id]; {
	case before != nil && before.refusal != nil:
		return "the runner's refusal is held already"
	case before != nil:
		return "the runner's result is held already"
	case r.of[id.runner]+size+heldOverhead > MaxHeldBytes-r.bytes:
		return "too many results are held"
	}
	return ""
}

// heldBytes is what a result or a refusal counts of MaxHeldBytes.
func (h *pendingResult) heldBytes() int {
	if h.refusal != nil {
		return len(h.refusal.Refusal.Text) + heldOverhead
	}
	return len(h.result.ResultData) + heldOverhead
}

// addHeldBytes adds to what is held of a runner.
func (r *results) addHeldBytes(runner types.Address, bytes int) {
	r.bytes += bytes
	if r.of[runner] += bytes; r.of[runner] == 0 {
		delete(r.of, runner)
	}
}

// advanceReady advances the held results that the head may release, in the order in which
// they came. It drops those whose assignment is over.
func (r *results) advanceReady() {
	changed, known := r.chain.head.Reader.Changed()
	for _, h := range r.index.takeReady(r.chain.head.Height, changed, !known) {
		if a := r.chain.findAssignment(h.runner, h.AssignmentID); a != nil {
			r.advanceResult(h, a)
			continue
		}
		r.index.dropResult(h)
		r.addHeldBytes(h.runner, -h.heldBytes())
	}
}

// advanceResult submits what is next. A refusal goes into a block of the time to commit. The
// commitment of a result goes there as well; the result itself goes when the commitment is
// final and that time is over or all have committed. A committee of one has nothing to
// hide.
//
// Spec: decisions J15, J21.
func (r *results) advanceResult(h *pendingResult, a *Assignment) {
	if h.refusal != nil {
		if !h.committed && r.chain.head.Height < a.CommitEnd && len(a.Commitments) == 0 {
			h.committed = true
			r.addSubmission(*h.refusal)
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
		r.addSubmission(Reveal{Runner: h.runner, Assignment: h.AssignmentID, Result: h.result, Alone: alone})
	case !final && !over && !h.committed:
		h.committed = true
		r.addSubmission(Commit{Runner: h.runner, Assignment: h.AssignmentID, Commitment: h.commitment, Signed: *h.result.CommitSigned})
	}
}
