package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// attach takes a body, unless it is held, is none that this set decides on, or
// there is no room.
func (m *Machine) attach(b *types.Block, hash types.Hash, from types.Address) *node {
	if n := m.bodies.nodes[hash]; n != nil {
		return n
	}
	if b.Header.Height <= m.rootHeight() || b.Header.SetEpoch != m.set.Epoch {
		return nil
	}
	return m.bodies.attach(b, hash, from)
}

// detach drops a body, and what came of it.
func (m *Machine) detach(n *node) {
	m.bodies.detach(n)
	m.forget(n.hash)
}

// forget tells the application what it need not keep for this machine.
func (m *Machine) forget(hashes ...types.Hash) { m.out.Forget = append(m.out.Forget, hashes...) }

// headerFault returns what is wrong with a block as the child of its parent, or
// "": in all of a header that does not take execution.
func (m *Machine) headerFault(b *types.Block, parent *types.Header) string {
	h := &b.Header
	switch {
	case h.ChainID != m.cfg.ChainID:
		return "wrong chain id"
	case h.Height != parent.Height+1+types.Height(h.Skipped) || h.Height <= parent.Height:
		return "height is not the parent's + 1 + skipped"
	case h.SetEpoch != m.set.Epoch:
		return "wrong validator set"
	case h.View <= parent.View:
		return "view is not after the parent's"
	case h.Proposer != m.set.Leader(h.View):
		return "proposer is not the view's leader"
	case h.Timestamp <= parent.Timestamp:
		return "timestamp is not after the parent's"
	}
	return m.carriedFault(b, parent)
}

// carriedFault returns what is wrong with the certificates that a block carries,
// or "".
func (m *Machine) carriedFault(b *types.Block, parent *types.Header) string {
	if parent.Height == 0 {
		if b.Parent != nil || b.Finalization != nil {
			return "a child of genesis carries certificates"
		}
		return ""
	}
	if !certifies(b.Parent, types.Notarize, b.Header.Parent, parent) {
		return "no notarization of the parent"
	}
	if !parent.Border() {
		if b.Finalization != nil {
			return "a finalization where no border is"
		}
		return ""
	}
	if !certifies(b.Finalization, types.Finalize, b.Header.Parent, parent) {
		return "no finalization of the block before the border"
	}
	return ""
}

// certifies reports whether a verified certificate is of the kind and for the
// block. The one before a border may have been notarized again in a later view.
func certifies(c *types.Certificate, kind types.VoteKind, hash types.Hash, h *types.Header) bool {
	return c != nil && c.Kind == kind && c.Block == hash && c.Height == h.Height && c.Epoch == h.SetEpoch &&
		(c.View == h.View || h.Border() && c.View > h.View)
}

// execute asks for the execution of a body whose parent is ready. A body that
// does not fit its parent is dropped.
func (m *Machine) execute(n *node) {
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
func (m *Machine) executed(e Executed) {
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

// failedOver keeps a body over which this validator's environment failed: there
// is no vote for it here, and the view goes on without one. It is executed again
// after a while, each time twice as long, at most maxPatience: where it is
// notarized or final this validator cannot go on before (decision C18).
func (m *Machine) failedOver(n *node, reason string) {
	m.bodies.fail(n, min(max(2*n.patience, m.pace.resendInterval()), maxPatience*m.pace.resendInterval()), m.now)
	if r := m.rounds[m.view]; r != nil && r.proposal != nil && r.hash == n.hash {
		m.report(Rejected{View: r.view, Hash: n.hash, Reason: "not executed here: " + reason})
	}
}

// retryFailing executes again what it is time for and still above the root.
func (m *Machine) retryFailing() {
	for _, n := range m.bodies.retry(m.now) {
		if n.notarized {
			m.execute(n)
		}
	}
}

func (m *Machine) executeChildren(of types.Hash) {
	for _, child := range append([]*node(nil), m.bodies.children[of]...) {
		if child.notarized {
			m.execute(child)
		}
	}
}

// discard drops a body that is not valid. Where its hash is notarized there is
// a valid one, so this one was tampered with: another peer is asked.
func (m *Machine) discard(n *node, reason string) {
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

// certificateFor returns a certificate that names the body.
func (m *Machine) certificateFor(n *node) *types.Certificate {
	if r := m.rounds[n.block.Header.View]; r != nil && r.notarization != nil && r.notarization.Block == n.hash {
		return r.notarization
	}
	if m.final != nil && m.final.Block == n.hash {
		return m.final
	}
	for _, child := range m.bodies.children[n.hash] {
		if child.notarized && child.block.Parent != nil {
			return child.block.Parent
		}
	}
	return nil
}

// finalizeNext makes the highest finalized block the root, with all between,
// once their bodies are executed.
func (m *Machine) finalizeNext() bool {
	c := m.final
	if c == nil {
		return false
	}
	path, complete := m.pathTo(c)
	if !complete {
		return false
	}
	m.final = nil
	if len(path) == 0 {
		return false
	}
	done := Finalized{Finalization: c}
	for i := len(path) - 1; i >= 0; i-- {
		done.Blocks = append(done.Blocks, path[i].block)
		done.Hashes = append(done.Hashes, path[i].hash)
	}
	tip := path[0]
	done.Notarization = m.notarizationOf(tip, c.View)
	m.report(done)
	m.moveRoot(Root{Block: tip.block, Hash: tip.hash, Finalization: c, Notarization: done.Notarization})
	m.bodies.remember(path)
	if tip.next != nil {
		m.upcoming = tip.next
	}
	return true
}

// pathTo returns the bodies from the certified block down to the root's child,
// and whether all are there and valid. It asks for what is missing, and reports
// Behind where peers no longer keep that for answers.
func (m *Machine) pathTo(c *types.Certificate) (path []*node, complete bool) {
	complete = true
	for c.Block != m.root.Hash {
		if c.Height <= m.rootHeight() {
			m.conflict(c)
			m.final = nil
			return nil, false
		}
		n := m.bodies.nodes[c.Block]
		if n == nil {
			m.requestBody(c, m.finalFrom)
			if m.far(m.final) || m.fetcher.unanswered(c.Block, len(m.set.Members)) {
				m.behind(m.final, m.finalFrom)
			}
			return nil, false
		}
		n.notarized = true
		complete = complete && n.status == valid
		path = append(path, n)
		if n.block.Parent == nil {
			if n.block.Header.Parent != m.root.Hash {
				m.discard(n, "no notarization of the parent")
				return nil, false
			}
			break
		}
		c = n.block.Parent
	}
	for i := len(path) - 1; i >= 0 && !complete; i-- {
		m.execute(path[i])
	}
	return path, complete
}

// notarizationOf returns a notarization of a body: of the view it was finalized
// in, else of any other.
func (m *Machine) notarizationOf(n *node, v types.View) *types.Certificate {
	for ; v >= n.block.Header.View && v > 0; v-- {
		if r := m.rounds[v]; r != nil && r.notarization != nil && r.notarization.Block == n.hash {
			return r.fullNotarization(m.set)
		}
	}
	for _, child := range m.bodies.children[n.hash] {
		if child.block.Parent != nil {
			return child.block.Parent
		}
	}
	return nil
}

// moveRoot stands the machine on a later block and forgets what is no
// descendant of it, but its own view, in which votes still come in.
func (m *Machine) moveRoot(root Root) {
	m.root = root
	for v := range m.rounds {
		if v < m.rootView() {
			delete(m.rounds, v)
		}
	}
	m.forget(m.bodies.moveRoot(&root)...)
	m.fetcher.dropUpTo(root.Block.Header.Height)
}
