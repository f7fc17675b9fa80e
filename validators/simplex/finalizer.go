package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// finalizer moves the root to what is final and executed.
type finalizer struct{ *requester }

// finalizeNext makes the highest finalized block the root, with all between,
// once their bodies are executed.
func (m *finalizer) finalizeNext() bool {
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
	m.addReport(done)
	m.gap = tip.gap
	m.moveRoot(Root{Block: tip.block, Hash: tip.hash, Finalization: c, Notarization: done.Notarization})
	m.bodies.rememberFinal(path)
	if tip.next != nil {
		m.upcoming = tip.next
	}
	return true
}

// pathTo returns the bodies from the certified block down to the root's child, and
// whether all are held and valid. It asks for missing bodies, and reports a gap if
// peers no longer keep them for answers.
func (m *finalizer) pathTo(c *types.Certificate) (path []*node, complete bool) {
	complete = true
	for c.Block != m.root.Hash {
		if c.Height <= m.rootHeight() {
			m.reportConflict(c)
			m.final = nil
			return nil, false
		}
		n := m.bodies.nodes[c.Block]
		if n == nil {
			m.requestBody(c, m.finalFrom)
			if m.isTooFar(m.final) || m.fetcher.isUnanswered(c.Block, len(m.set.Members)) {
				m.reportBehind(m.final, m.finalFrom)
			}
			return nil, false
		}
		n.notarized = true
		complete = complete && n.status == valid
		path = append(path, n)
		if n.block.Parent == nil {
			if n.block.Header.Parent != m.root.Hash {
				m.discardBody(n, "no notarization of the parent")
				return nil, false
			}
			break
		}
		c = n.block.Parent
	}
	for i := len(path) - 1; i >= 0 && !complete; i-- {
		m.requestExecution(path[i])
	}
	return path, complete
}

// notarizationOf returns a notarization of a body: of the view it was finalized in,
// otherwise of any other.
func (m *finalizer) notarizationOf(n *node, v types.View) *types.Certificate {
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

// moveRoot moves the machine to a later block and forgets all that does not descend
// from it, except its own view, in which votes still come in.
func (m *finalizer) moveRoot(root Root) {
	m.root = root
	for v := range m.rounds {
		if v < m.rootView() {
			delete(m.rounds, v)
		}
	}
	if m.gone.endView() <= m.rootView() {
		m.gone = viewSet{}
	}
	m.forgetBlocks(m.bodies.moveRoot(&root)...)
	m.fetcher.dropUpTo(root.Block.Header.Height)
}
