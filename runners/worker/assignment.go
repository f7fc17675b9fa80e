package worker

import (
	"strings"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

func addressOf(key types.PublicKey) (types.Address, error) { return crypto.AddressOf(key) }

// clipText makes a text one that the wire takes.
func clipText(text string) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= push.MaxText {
		return text
	}
	end := push.MaxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// isSignedBy reports whether the stream's validator made a signature.
func (m *Machine) isSignedBy(s *stream, digest types.Hash, sig types.Signature) bool {
	signer, ok := m.config.Verifier.Recover(digest, sig)
	return ok && signer == s.address
}

// onFrame judges a frame on a job's stream, and what it says: first the assignment,
// and then at most its end.
func (m *Machine) onFrame(s *stream, frame []byte) {
	t := push.Type(frame[0])
	if !t.Known() || s.theirs {
		return // it is skipped (decision J17), or it crossed with the end
	}
	if !s.assigned && t != push.TypeJobAssignment || s.assigned && t != push.TypeJobCancel {
		m.leaveFaulty(s, push.UnexpectedFrame)
		return
	}
	read, why := push.Read(frame)
	if why != "" {
		m.leaveFaulty(s, why)
		return
	}
	switch f := read.(type) {
	case *push.JobAssignment:
		m.onAssignment(s, f)
	case *push.JobCancel:
		m.onCancel(s, f)
	}
}

// onAssignment answers a delivery.
//
// Spec: CIP-11 §§10.1, 10.2.
func (m *Machine) onAssignment(s *stream, f *push.JobAssignment) {
	if !m.isSignedBy(s, f.Digest(m.config.ChainID), f.ValidatorSigned) {
		m.leaveFaulty(s, push.BadSignature)
		return
	}
	id := ID{Job: f.JobID, Drawn: f.BlockHeight}
	s.assigned, s.of = true, id
	said := &claim{s.validator, []types.PublicKey{s.validator}, &f.JobSpec, f.JobSpec.Hash(), f.DeadlineBlock}
	if j := m.jobs[id]; j != nil {
		m.answerRepetition(s, j, said)
		return
	}
	if why, detail := m.whyRefused(id, said); why != "" {
		m.refuseJob(s, id, said, why, detail)
		return
	}
	s.job = m.acceptAssignment(id, said)
	m.sendAck(s, id, push.AckStatus{Accepted: true}, "")
	m.lookUpOnChain(s.job)
}

// acceptAssignment takes an assignment, which its caller looks up.
func (m *Machine) acceptAssignment(id ID, said *claim) *job {
	j := &job{ID: id, spec: said, specs: []*claim{said}}
	m.jobs[id] = j
	m.order = append(m.order, j)
	m.moved = true
	return j
}

// answerRepetition answers a repeated delivery.
func (m *Machine) answerRepetition(s *stream, j *job, said *claim) {
	if !said.isSame(j.spec) {
		m.addReport(Conflict{ID: j.ID, Validator: s.validator})
	}
	if !j.countClaim(s.validator, said) {
		m.rejectJob(s, j.ID, push.BadSpec, "this validator delivered another spec for it")
		return
	}
	s.job = j
	m.answerDuplicate(s, j)
	switch {
	case j.state == failed:
		m.endStream(s)
	default:
		m.lookUpOnChain(j) // which may have waited for a stream, for this spec or for one more to say it
	}
}

// whyRefused returns why an assignment is not accepted, "" if it is.
func (m *Machine) whyRefused(id ID, said *claim) (why push.RejectReason, detail string) {
	late := said.deadline <= m.head.Height
	if s, told := m.standingOf(id); told {
		late = late || !s.Open
	}
	switch {
	case late:
		return push.PastDeadline, "it is over, or not this runner's"
	case id.Drawn > m.head.Height && uint64(id.Drawn-m.head.Height) > maxAhead:
		return push.BadSpec, "it was drawn far above the head"
	}
	if refusal := m.config.Accepts(said.spec); refusal != nil {
		return refusal.Reason, refusal.Detail
	}
	switch {
	case m.draining != "":
		return push.Capacity, m.draining
	case m.isFull() || m.countUnknown(said.first) >= max(m.config.MaxJobs/4, 1):
		return push.Capacity, "at capacity"
	}
	return "", ""
}

// countUnknown counts the assignments of a validator that the chain has not shown yet: a
// liar can make a runner remember a few invalid ones, for some blocks, and no more.
func (m *Machine) countUnknown(validator types.PublicKey) (n uint32) {
	for _, j := range m.order {
		if !j.known && j.spec.first == validator {
			n++
		}
	}
	return n
}

// rejectJob answers that a job cannot be done here, and ends our side.
func (m *Machine) rejectJob(s *stream, id ID, why push.RejectReason, detail string) {
	m.sendAck(s, id, push.AckStatus{Reject: &why}, detail)
	m.endStream(s)
}

// refuseJob answers that a job cannot be done here, in a way that counts on chain: the
// runner loses no reputation.
//
// Spec: decision J21.
func (m *Machine) refuseJob(s *stream, id ID, said *claim, why push.RejectReason, detail string) {
	ack := m.newRefusalAck(id, said, why, detail)
	m.rememberRefusal(id, said, ack)
	if ack == nil {
		m.rejectJob(s, id, why, detail)
		return
	}
	answer := *ack
	m.signAndSendAck(s, id, &answer, *ack.Reason)
	m.endStream(s)
}

// newRefusalAck returns the ack that refuses an assignment on chain, without its own signature;
// nil if the reason does not count there.
func (m *Machine) newRefusalAck(id ID, said *claim, why push.RejectReason, detail string) *push.JobAck {
	refusal := push.Refusal{JobID: id.Job, Drawn: id.Drawn, Spec: said.hash, Reason: why, Text: push.RefusalText(detail)}
	if refusal.Counts() != "" {
		return nil
	}
	signed := m.signDigest(refusal.Digest(m.config.ChainID))
	return &push.JobAck{JobID: id.Job, Status: push.AckStatus{Reject: &why}, Reason: &refusal.Text, RefusalSigned: &signed}
}

// sendAck is the first answer on a stream.
func (m *Machine) sendAck(s *stream, id ID, status push.AckStatus, detail string) {
	m.signAndSendAck(s, id, &push.JobAck{JobID: id.Job, Status: status}, detail)
}

// signAndSendAck signs an ack, with a detail for people in place of its reason, and sends it.
func (m *Machine) signAndSendAck(s *stream, id ID, f *push.JobAck, detail string) {
	f.Reason = nil
	if detail != "" {
		detail = clipText(detail)
		f.Reason = &detail
	}
	f.Signed = m.signDigest(f.Digest(m.config.ChainID))
	m.sendFrame(s, f)
	m.addReport(Answered{ID: id, Validator: s.validator, Status: f.Status, Why: detail})
}

// answerDuplicate answers that the assignment is known already. The answer names no
// validator, so that one signature does for all who push it at the same time.
func (m *Machine) answerDuplicate(s *stream, j *job) {
	status := push.AckStatus{Duplicate: true}
	if j.again == nil {
		f := &push.JobAck{JobID: j.Job, Status: status}
		f.Signed = m.signDigest(f.Digest(m.config.ChainID))
		j.again = push.Write(f)
	}
	m.sendBytes(s, j.again)
	m.addReport(Answered{ID: j.ID, Validator: s.validator, Status: status})
}

// onCancel ends the runner's side of a stream, and checks whether the assignment is
// over: an assignment that the chain shows as the runner's own continues (deviation
// from CIP-11 §10.5).
func (m *Machine) onCancel(s *stream, f *push.JobCancel) {
	switch {
	case f.JobID != s.of.Job:
		m.leaveFaulty(s, push.UnexpectedFrame)
		return
	case !m.isSignedBy(s, f.Digest(m.config.ChainID), f.ValidatorSigned):
		m.leaveFaulty(s, push.BadSignature)
		return
	}
	m.endStream(s)
	j := s.job
	s.job = nil
	if j != nil {
		m.lookUpOnChain(j)
	}
	m.forgetEndedStreams()
}
