package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// onJobFrame judges a frame on a job's stream, and what it says.
func (m *Machine) onJobFrame(p *peer, s connection.Stream, t push.Type, frame []byte) {
	d := p.findDelivery(s)
	if d == nil || d.over || d.ended {
		return // it crossed with the end of the stream
	}
	if t.Known() && !d.isInPlace(t) {
		m.classifyDelivery(p, d, SoftFailure)
		m.connections.leavePeer(p, push.UnexpectedFrame)
		return
	}
	rationed := t != push.TypeJobResult // a delivery takes one, which has to be signed
	if !d.frames.allowsOne(m.now, int(m.chain.headParams().ControlFramesPerSecond)) || rationed &&
		!m.long.allowsFrame(m.now, p.key, len(frame)) {
		m.connections.leavePeer(p, push.RateLimited)
		return
	}
	if !t.Known() {
		m.classifyDelivery(p, d, SoftFailure) // it is skipped, and the runner is alive (decision J17)
		return
	}
	read, why := push.Read(frame)
	if why != "" {
		m.classifyDelivery(p, d, SoftFailure)
		m.connections.leavePeer(p, why)
		return
	}
	switch f := read.(type) {
	case *push.JobAck:
		m.onAck(p, d, f)
	case *push.JobProgress:
		m.onProgress(p, d, f)
	case *push.JobResult:
		m.onResult(p, d, f)
	}
}

// isInPlace reports whether a type is in its place: an ack, once; then, unless it
// rejected, progress and one result.
func (d *delivery) isInPlace(t push.Type) bool {
	switch t {
	case push.TypeJobAck:
		return !d.acked
	case push.TypeJobProgress, push.TypeJobResult:
		return d.acked && !d.rejected && !d.result
	}
	return false
}

// onAck takes the answer to an assignment.
//
// Spec: CIP-11 §§10.2, 10.6.
func (m *Machine) onAck(p *peer, d *delivery, f *push.JobAck) {
	if !m.isOf(p, d, f.JobID == d.Job) {
		return
	}
	if !m.config.isSignedBy(p, f.Digest(m.config.ChainID), f.Signed) {
		m.classifyDelivery(p, d, SoftFailure)
		m.connections.leavePeer(p, push.BadSignature)
		return
	}
	d.acked, d.answered = true, true
	reason, after := reasonOf(f.Reason), m.now.Sub(d.sent.at)
	switch {
	case f.Status.Accepted:
		m.addReport(Accepted{Runner: p.address, Assignment: d.AssignmentID, Reason: reason, After: after})
	case f.Status.Duplicate:
		m.classifyBy(p, d, Classified{Outcome: Duplicate, Reason: reason, After: after})
	default:
		d.rejected = true
		m.classifyBy(p, d, Classified{Outcome: SoftFailure, Rejected: *f.Status.Reject, Reason: reason, After: after})
		m.onRefusal(p, d, f)
	}
}

// isOf judges whether a frame belongs to the stream's job.
func (m *Machine) isOf(p *peer, d *delivery, is bool) bool {
	if !is {
		m.classifyDelivery(p, d, SoftFailure)
		m.connections.leavePeer(p, push.UnexpectedFrame)
	}
	return is
}

// onProgress reports a runner's progress.
//
// Spec: CIP-11 §10.4.
func (m *Machine) onProgress(p *peer, d *delivery, f *push.JobProgress) {
	if m.isOf(p, d, f.JobID == d.Job) {
		m.addReport(Progressed{Runner: p.address, Assignment: d.AssignmentID, Fraction: f.Fraction, Detail: f.Detail})
	}
}

// onResult takes a result to the chain.
//
// Spec: CIP-11 §10.3.
func (m *Machine) onResult(p *peer, d *delivery, f *push.JobResult) {
	if !m.isOf(p, d, f.JobID == d.Job) {
		return
	}
	if !m.config.isSignedBy(p, f.Digest(m.config.ChainID), f.RunnerSigned) {
		m.connections.leavePeer(p, push.BadSignature)
		return
	}
	if f.CommitSigned != nil && !m.config.isSignedBy(p, m.commitDigest(d.AssignmentID, f), *f.CommitSigned) {
		m.connections.leavePeer(p, push.BadSignature)
		return
	}
	d.result = true
	m.classifyDelivery(p, d, Success)
	m.results.holdResult(p.address, d.AssignmentID, f)
}

// commitDigest is what the runner of a result signs of its commitment (decision J5).
func (m *Machine) commitDigest(id AssignmentID, f *push.JobResult) types.Hash {
	return push.CommitmentDigest(m.config.ChainID, id.Job, id.Drawn, push.Commitment(f.ResultData, f.RunnerSigned))
}

// onPolled takes a result that came without a connection, and treats it like one from a
// connection. Anyone may bring it, so its signature, which covers all of it, is checked
// last: a busy loop delays all pings.
//
// Spec: decisions J11, J15.
func (m *Machine) onPolled(e Polled) {
	if e.Ack != nil {
		m.onPolledRefusal(e)
		return
	}
	id := m.chain.assignmentIDOf(e.Runner, e.Result.JobID)
	why := m.results.whyRefused(e.Runner, id, e.Result)
	if why == "" && !m.config.isSignedByRunner(e.Runner, e.Result.Digest(m.config.ChainID), e.Result.RunnerSigned) {
		why = "the runner did not sign it"
	}
	if why == "" && e.Result.CommitSigned != nil && !m.config.isSignedByRunner(e.Runner, m.commitDigest(id, e.Result),
		*e.Result.CommitSigned) {
		why = "the runner did not sign the commitment of this draw (commit_signed)"
	}
	if why != "" {
		m.addReport(NotTaken{Runner: e.Runner, Assignment: id, Why: why, Polled: true})
		return
	}
	m.results.holdResult(e.Runner, id, e.Result)
}
