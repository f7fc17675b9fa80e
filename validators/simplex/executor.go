package simplex

import (
	"bytes"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// executor lets the application execute the bodies above the root whose parents were
// executed, and drops invalid ones.
type executor struct{ *state }

// attachBody takes a body, unless it is held, this set does not decide on it, or there
// is no room.
func (m *executor) attachBody(b *types.Block, hash types.Hash, from types.Address) *node {
	if n := m.bodies.nodes[hash]; n != nil {
		return n
	}
	if b.Header.Height <= m.rootHeight() || b.Header.SetEpoch != m.set.Epoch {
		return nil
	}
	if m.bodies.isFull() {
		idle := m.findIdle(b.Header.Parent)
		if idle == nil {
			return nil
		}
		m.detachBody(idle)
	}
	return m.bodies.attachBody(b, hash, from)
}

// hasRoom reports whether a child of a block can be held.
func (m *executor) hasRoom(parent types.Hash) bool {
	return !m.bodies.isFull() || m.findIdle(parent) != nil
}

// findIdle is a body that nothing waits for, so that another can take its place. No other body
// has it as its parent, and its view is nullified, or past without a notarization. Where it
// matters after all, who builds on it still has it. It is the one of the lowest view, or
// nil: the parent that is given and the newest notarized block stay.
func (m *executor) findIdle(parent types.Hash) (found *node) {
	newest := m.newestNode()
	for hash, n := range m.bodies.nodes { // order: the lowest view, then the lowest hash
		v := n.block.Header.View
		switch {
		case hash == parent || n == newest || len(m.bodies.children[hash]) > 0 || m.final != nil && m.final.Block == hash:
		case !m.isNullified(v) && (n.notarized || v >= m.view):
		case m.rounds[m.view] != nil && m.rounds[m.view].hash == hash:
		case found == nil || v < found.block.Header.View || v == found.block.Header.View && bytes.Compare(hash[:], found.hash[:]) < 0:
			found = n
		}
	}
	return found
}

// detachBody drops a body, with its result.
func (m *executor) detachBody(n *node) {
	m.bodies.detachBody(n)
	m.forgetBlocks(n.hash)
}

// requestExecution asks for the execution of a body whose parent is ready. A body that
// does not fit its parent is dropped.
func (m *executor) requestExecution(n *node) {
	parent, ready := m.bodies.parentOf(n.block, &m.root)
	if n.status != pending || !ready {
		return
	}
	if reason := m.headerFault(n.block, parent); reason != "" {
		m.discardBody(n, reason)
		return
	}
	n.status = executing
	m.addAsk(Execute{Block: n.block, Hash: n.hash, ParentHash: n.block.Header.Parent, Notarized: n.notarized})
}

// handleExecuted takes an answer, and continues with bodies that waited for it.
func (m *executor) handleExecuted(e Executed) {
	n := m.bodies.nodes[e.Hash]
	if n == nil || n.status != executing {
		return
	}
	if e.Failed {
		m.failedOver(n, e)
		return
	}
	if !e.Valid {
		m.discardBody(n, e.Reason)
		return
	}
	n.status, n.runners, n.places, n.gap = valid, e.Runners, e.Places, e.Gap
	if e.Next != nil && n.block.Header.Border() && checkSet(e.Next, &n.block.Header) == nil {
		n.next = e.Next
	}
	m.executeChildren(n.hash)
}

func (m *executor) executeChildren(of types.Hash) {
	for _, child := range append([]*node(nil), m.bodies.children[of]...) {
		if child.notarized {
			m.requestExecution(child)
		}
	}
}

// discardBody drops a body that is not valid. Where its hash is notarized there is
// a valid one, so this one was tampered with: another peer is asked.
func (m *executor) discardBody(n *node, reason string) {
	m.detachBody(n)
	if r := m.rounds[m.view]; r != nil && r.proposal != nil && r.hash == n.hash && !r.rejected && r.ownVote(types.Notarize) == nil {
		m.refuseView(r, n.hash, reason)
	}
	if n.notarized {
		if c := m.certificateFor(n); c != nil {
			m.fetcher.addWant(c, m.now.Add(m.pace.resendInterval()))
		}
	}
}

// failedOver keeps a body on which this validator's environment failed: this
// validator does not vote on it, and the view continues without its vote. It is
// executed again after a while, each time twice as long, at most maxPatience: if it
// is notarized or final this validator cannot continue without it. Where a program
// was late it nullifies the view at once: its proposer pays with the view (decision
// C18).
func (m *executor) failedOver(n *node, e Executed) {
	m.bodies.keepForRetry(n, min(max(2*n.patience, m.pace.resendInterval()), maxPatience*m.pace.resendInterval()), m.now)
	r := m.rounds[m.view]
	if r == nil || r.proposal == nil || r.hash != n.hash {
		return
	}
	reason := "not executed here: " + e.Reason
	if e.Late && !n.notarized && !r.rejected && r.ownVote(types.Notarize) == nil {
		m.refuseView(r, n.hash, reason)
		return
	}
	m.addReport(Rejected{View: r.view, Hash: n.hash, Reason: reason})
}

// retryFailing executes again what it is time for and still above the root.
func (m *executor) retryFailing() {
	for _, n := range m.bodies.takeRetries(m.now) {
		if n.notarized {
			m.requestExecution(n)
		}
	}
}
