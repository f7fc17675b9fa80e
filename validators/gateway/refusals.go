package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// onRefusal brings a pushed runner's refusal to the chain, if the runner signed one and its
// time is not over.
//
// Spec: decision J21.
func (m *Machine) onRefusal(p *peer, d *delivery, f *push.JobAck) {
	one, why := m.refusalOf(p.address, d.AssignmentID, f)
	if why != "" {
		return // the ack rejects, and does not count on chain
	}
	if !m.config.isSignedBy(p, one.Refusal.Digest(m.config.ChainID), one.Signed) {
		m.connections.leavePeer(p, push.BadSignature)
		return
	}
	why = m.results.whyFull(one.resultID(), len(one.Refusal.Text))
	switch {
	case why == "":
		m.results.keepResult(&pendingResult{resultID: one.resultID(), refusal: &one})
	case m.results.index.all[one.resultID()] == nil:
		m.addReport(NotTaken{Runner: p.address, Assignment: d.AssignmentID, Why: why})
	}
}

// onPolledRefusal takes a refusal that came without a connection. Its signature is checked
// last, as for a result.
//
// Spec: decisions J11, J21.
func (m *Machine) onPolledRefusal(e Polled) {
	id := m.chain.assignmentIDOf(e.Runner, e.Ack.JobID)
	one, why := m.refusalOf(e.Runner, id, e.Ack)
	if why == "" {
		why = m.results.whyFull(one.resultID(), len(one.Refusal.Text))
	}
	if why == "" && !m.config.isSignedByRunner(e.Runner, one.Refusal.Digest(m.config.ChainID), one.Signed) {
		why = "the runner did not sign the refusal of this draw and spec (refusal_signed)"
	}
	if why != "" {
		m.addReport(NotTaken{Runner: e.Runner, Assignment: id, Why: why, Polled: true})
		return
	}
	m.results.keepResult(&pendingResult{resultID: one.resultID(), refusal: &one})
}

// refusalOf returns what an ack refuses: the assignment, with its draw and its spec. why
// says why it cannot count on chain; "" if it can. The signature is not checked.
//
// Spec: decision J21.
func (m *Machine) refusalOf(runner types.Address, id AssignmentID, f *push.JobAck) (one Refuse, why string) {
	a := m.chain.findAssignment(runner, id)
	switch {
	case f.Status.Reject == nil:
		return one, "its status is not Reject"
	case f.RefusalSigned == nil:
		return one, "refusal_signed is null: sign the refusal"
	case a == nil:
		return one, "its assignment is over"
	case m.chain.head.Height >= a.CommitEnd:
		return one, "the time to refuse is over: it ends with the time to commit"
	case len(a.Commitments) > 0:
		return one, "the runner committed to a result"
	}
	one = Refuse{Runner: runner, Signed: *f.RefusalSigned,
		Refusal: push.Refusal{JobID: id.Job, Drawn: id.Drawn, Spec: a.Spec, Reason: *f.Status.Reject}}
	if f.Reason != nil {
		one.Refusal.Text = *f.Reason
	}
	return one, one.Refusal.Counts()
}

// resultID returns the runner and the assignment of a refusal.
func (one *Refuse) resultID() resultID {
	return resultID{one.Runner, AssignmentID{Job: one.Refusal.JobID, Drawn: one.Refusal.Drawn}}
}
