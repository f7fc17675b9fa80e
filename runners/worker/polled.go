package worker

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// refusal names what was refused: a spec that a validator made up for an assignment does
// not keep out the true one.
type refusal struct {
	ID
	spec types.Hash
}

// declinedAssignment is a refused assignment.
type declinedAssignment struct {
	deadline types.Height
	ack      *push.JobAck // that refuses it on chain; nil if the reason does not count there
	brought  types.Height // the head when the ack was brought last
}

// onPolled takes an assignment that a poll brought. It is worked on when the view shows
// the same: it is not signed, so that no number of answers stands for the view.
//
// Spec: decisions J11 and J15.
func (m *Machine) onPolled(e Polled) {
	id := e.Job.ID
	said := &claim{first: e.Validator, spec: e.Job.Spec, hash: e.Job.Spec.Hash(), deadline: e.Job.Deadline}
	s, told := m.standingOf(id)
	if told && (!s.Open || !said.matchesChain(&s)) {
		return // it is over, or the chain has another
	}
	if j := m.jobs[id]; j != nil {
		j.keepClaim(said)
		m.lookUpOnChain(j)
		return
	}
	if _, is := m.declined[refusal{id, said.hash}]; is {
		m.bringRefusal(id, said)
		return
	}
	if why, detail := m.whyRefused(id, said); why != "" {
		if told && (why != push.Capacity || m.draining != "") { // otherwise the next poll brings it again
			m.rememberRefusal(id, said, m.newRefusalAck(id, said, why, detail))
			m.addReport(Fetched{ID: id, Validator: e.Validator, Why: detail})
			m.bringRefusal(id, said)
		}
		return
	}
	j := m.acceptAssignment(id, said)
	m.addReport(Fetched{ID: id, Validator: e.Validator})
	m.lookUpOnChain(j)
}

// rememberRefusal remembers that an assignment was refused, so that it is not polled for. An
// assignment far above a late view may be taken when the view has risen.
func (m *Machine) rememberRefusal(id ID, said *claim, ack *push.JobAck) {
	if len(m.declined) < maxDeclined && id.Drawn <= m.head.Height+maxAhead {
		m.declined[refusal{id, said.hash}] = declinedAssignment{deadline: min(said.deadline, m.head.Height+types.Height(maxRemembered)), ack: ack}
	}
}

// bringRefusal brings the refusal of an assignment that a poll brought and the view shows. A
// validator that took it may have lost it: while polls bring the assignment, the refusal is
// brought again.
//
// Spec: decisions J11, J21.
func (m *Machine) bringRefusal(id ID, said *claim) {
	key := refusal{id, said.hash}
	before := m.declined[key]
	if _, told := m.standingOf(id); !told || !m.config.Polls || before.ack == nil {
		return
	}
	if before.brought > 0 && m.head.Height < before.brought+patienceBlocks {
		return
	}
	before.brought = m.head.Height
	m.declined[key] = before
	m.out.Bring = append(m.out.Bring, Bring{ID: id, Refusal: before.ack})
}

// noteMissing takes note of the open assignments that no validator has delivered.
func (m *Machine) noteMissing() {
	for what, before := range m.declined { // order: each is judged by itself
		if before.deadline < m.head.Height {
			delete(m.declined, what)
		}
	}
	for id := range m.unmet { // order: each is judged by itself
		if !m.lacksDelivery(id, m.head.Assignments[id]) {
			delete(m.unmet, id)
		}
	}
	for id, s := range m.head.Assignments { // order: each is judged by itself
		if _, known := m.unmet[id]; !known && m.lacksDelivery(id, s) {
			m.unmet[id] = m.head.Height
		}
	}
}

// lacksDelivery reports whether an assignment is this runner's to do, and was not delivered.
func (m *Machine) lacksDelivery(id ID, s Standing) bool {
	_, declined := m.declined[refusal{id, s.SpecHash}]
	return s.Open && !declined && m.jobs[id] == nil
}

// Missing reports whether the view shows an assignment that no validator has delivered and
// that the runner has room for. since is the height of the head that showed the first.
//
// Spec: decision J11.
func (m *Machine) Missing() (since types.Height, is bool) {
	if m.draining != "" || m.isFull() {
		return 0, false
	}
	for id, at := range m.unmet { // order: the smallest of them
		if m.jobs[id] == nil && (!is || at < since) {
			since, is = at, true
		}
	}
	return since, is
}
