package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// executor has the application execute the bodies above the root whose parents were, and
// drops what is not valid.
type executor struct{ *state }

// attach takes a body, unless it is held, is none that this set decides on, or
// there is no room.
func (m *executor) attach(b *types.Block, hash types.Hash, from types.Address) *node {
	if n := m.bodies.nodes[hash]; n != nil {
		return n
	}
	if b.Header.Height <= m.rootHeight() || b.Header.SetEpoch != m.set.Epoch {
		return nil
	}
	return m.bodies.attach(b, hash, from)
}

// detach drops a body, and what came of it.
func (m *executor) detach(n *node) {
	m.bodies.detach(n)
	m.forget(n.hash)
}

// execute asks for the execution of a body whose parent is ready. A body that
// does not fit its parent is dropped.
func (m *executor) execute(n *node) {
	parent, ready := m.bodies.parentOf(n.block, &m.root)
	if n.status != pending || !ready {
		return
	}
	if reason := m.headerFault(n.block, parent); reason != "" {
		m.discard(n, reason)
		return
	}
	n.status = executing
	m.ask(Execute{Block: n.block, Hash: n.hash, ParentHash: n.block.Header.Parent})
}

// executed takes an answer, and goes on with what waited for it.
func (m *executor) executed(e Executed) {
	n := m.bodies.nodes[e.Hash]
	if n == nil || n.status != executing {
		return
	}
	if e.Failed {
		m.failedOver(n, e.Reason)
		return
	}
	if !e.Valid {
		m.discard(n, e.Reason)
		return
	}
	n.status, n.runners = valid, e.Runners
	if e.Next != nil && n.block.Header.Border() && checkSet(e.Next, &n.block.Header) == nil {
		n.next = e.Next
	}
	m.executeChildren(n.hash)
}

func (m *executor) executeChildren(of types.Hash) {
	for _, child := range append([]*node(nil), m.bodies.children[of]...) {
		if child.notarized {
			m.execute(child)
		}
	}
}

// discard drops a body that is not valid. Where its hash is notarized there is
// a valid one, so this one was tampered with: another peer is asked.
func (m *executor) discard(n *node, reason string) {
	m.detach(n)
	if r := m.rounds[m.view]; r != nil && r.proposal != nil && r.hash == n.hash && !r.rejected && r.ownVote(types.Notarize) == nil {
		m.refuse(r, n.hash, reason)
	}
	if n.notarized {
		if c := m.certificateFor(n); c != nil {
			m.fetcher.add(c, m.now.Add(m.pace.resendInterval()))
		}
	}
}

// failedOver keeps a body over which this validator's environment failed: there
// is no vote for it here, and the view goes on without one. It is executed again
// after a while, each time twice as long, at most maxPatience: where it is
// notarized or final this validator cannot go on before (decision C18).
func (m *executor) failedOver(n *node, reason string) {
	m.bodies.fail(n, min(max(2*n.patience, m.pace.resendInterval()), maxPatience*m.pace.resendInterval()), m.now)
	if r := m.rounds[m.view]; r != nil && r.proposal != nil && r.hash == n.hash {
		m.report(Rejected{View: r.view, Hash: n.hash, Reason: "not executed here: " + reason})
	}
}

// retryFailing executes again what it is time for and still above the root.
func (m *executor) retryFailing() {
	for _, n := range m.bodies.retry(m.now) {
		if n.notarized {
			m.execute(n)
		}
	}
}
