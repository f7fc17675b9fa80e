package gateway

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// heldID names a result: of a runner, for an assignment.
type heldID struct {
	runner types.Address
	AssignmentID
}

// held is a result on its way to the chain. It outlives the connection that it came
// by, and lasts until its assignment is not open any more.
type held struct {
	heldID
	result     push.JobResult
	commitment types.Hash
	committed  bool // the commitment was submitted
	revealed   bool // the result was submitted
}

// hold takes a result, the first of a runner for an assignment. What came too late,
// or is longer than the job allows, is dropped.
func (m *Machine) hold(runner types.Address, id AssignmentID, f *push.JobResult) {
	of, size := heldID{runner, id}, len(f.ResultData)
	a := m.assignment(runner, id)
	refuse := func(why string) { m.report(NotTaken{Runner: runner, Assignment: id, Why: why}) }
	switch {
	case a == nil:
		refuse("its assignment is over")
	case uint64(size) > a.MaxReturn:
		refuse("it is longer than the job's max_return_bytes")
	case m.held[of] != nil:
		refuse("the runner's result is held already")
	case m.heldBytes+size > MaxHeldBytes:
		refuse("too many results are held")
	default:
		h := &held{heldID: of, result: *f, commitment: push.Commitment(f.ResultData, f.RunnerSigned)}
		m.held[of] = h
		m.heldOrder = append(m.heldOrder, h)
		m.heldBytes += size
		m.advance(h, a)
	}
}

// onPolled takes a result that came without a connection, as if it had come by one.
//
// Spec: decisions J11, J15.
func (m *Machine) onPolled(e Polled) {
	id := AssignmentID{Job: e.Result.JobID}
	for _, a := range m.head.Reader.Assignments(e.Runner) {
		if a.Job == e.Result.JobID {
			id = a.AssignmentID
		}
	}
	signer, ok := m.config.Verifier.Recover(e.Result.Digest(m.config.ChainID), e.Result.RunnerSigned)
	switch {
	case m.params().Push == selection.Sunset:
		m.report(NotTaken{Runner: e.Runner, Assignment: id, Why: "results come over connections alone by now"})
	case !ok || signer != e.Runner:
		m.report(NotTaken{Runner: e.Runner, Assignment: id, Why: "the runner did not sign it"})
	default:
		m.hold(e.Runner, id, e.Result)
	}
}

// advanceAll takes the held results as far as the head allows, in the order they
// came, and drops those whose assignment is over.
func (m *Machine) advanceAll() {
	m.heldOrder = slices.DeleteFunc(m.heldOrder, func(h *held) bool {
		a := m.assignment(h.runner, h.AssignmentID)
		if a != nil {
			m.advance(h, a)
			return false
		}
		delete(m.held, h.heldID)
		m.heldBytes -= len(h.result.ResultData)
		return true
	})
}

// advance submits what is next of a result: the commitment, in a block of the time
// to commit; the result itself, when the commitment is final and that time is over
// or everybody has committed. Of a committee of one there is nothing to hide.
//
// Spec: decision J15.
func (m *Machine) advance(h *held, a *Assignment) {
	alone := a.Committee == 1
	final := slices.Contains(a.Commitments, h.commitment)
	over := m.head.Height >= a.CommitEnd
	switch {
	case h.revealed || m.head.Height >= a.Deadline:
	case alone || final && (over || a.AllCommitted):
		h.revealed = true
		m.submit(Reveal{Runner: h.runner, Assignment: h.AssignmentID, Result: h.result, Alone: alone})
	case !final && !over && !h.committed:
		h.committed = true
		m.submit(Commit{Runner: h.runner, Assignment: h.AssignmentID, Commitment: h.commitment})
	}
}
