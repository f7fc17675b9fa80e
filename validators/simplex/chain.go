package simplex

import (
	"bytes"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// status is how far the execution of a body is.
type status uint8

const (
	held   status = iota // not asked for yet
	asked                // Execute is out
	valid                // executed, and right
	failed               // the environment failed over it; asked again at retryAt
)

// node is a body above the root.
type node struct {
	block     *types.Block
	hash      types.Hash
	from      types.Address // who sent it
	status    status
	patience  time.Duration // of the last retryAt
	retryAt   types.Time    // where failed
	notarized bool
	persisted bool
	bitmap    []byte              // of this validator, once valid
	next      *types.ValidatorSet // the set after a border, once valid
}

// attach takes a body, unless it is held or there is no room.
func (m *Machine) attach(b *types.Block, hash types.Hash, from types.Address) *node {
	if n := m.nodes[hash]; n != nil {
		return n
	}
	if len(m.nodes) >= MaxOpenBlocks || b.Header.Height <= m.rootHeight() || b.Header.SetEpoch != m.set.Epoch {
		return nil
	}
	n := &node{block: b, hash: hash, from: from}
	m.nodes[hash] = n
	m.children[b.Header.Parent] = append(m.children[b.Header.Parent], n)
	return n
}

// detach drops a body, and what came of it.
func (m *Machine) detach(n *node) {
	delete(m.nodes, n.hash)
	m.out.Forget = append(m.out.Forget, n.hash)
	siblings := m.children[n.block.Header.Parent]
	for i := range siblings {
		if siblings[i] == n {
			siblings = append(siblings[:i:i], siblings[i+1:]...)
			break
		}
	}
	if len(siblings) == 0 {
		delete(m.children, n.block.Header.Parent)
	} else {
		m.children[n.block.Header.Parent] = siblings
	}
}

// parentOf returns the header of a block's parent, and whether that is final or
// was executed. A nil header is of a parent that is not held.
func (m *Machine) parentOf(b *types.Block) (header *types.Header, ready bool) {
	if b.Header.Parent == m.root.Hash {
		return &m.root.Block.Header, true
	}
	if p := m.nodes[b.Header.Parent]; p != nil {
		return &p.block.Header, p.status == valid
	}
	return nil, false
}

// judge returns what is wrong with a block as the child of its parent, or "".
// It judges all of a header that does not take execution.
func (m *Machine) judge(b *types.Block, parent *types.Header) string {
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
	return m.judgeCarried(b, parent)
}

func (m *Machine) judgeCarried(b *types.Block, parent *types.Header) string {
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
	parent, ready := m.parentOf(n.block)
	if n.status != held || !ready {
		return
	}
	if reason := m.judge(n.block, parent); reason != "" {
		m.discard(n, reason)
		return
	}
	n.status = asked
	m.ask(Execute{Block: n.block, Hash: n.hash, ParentHash: n.block.Header.Parent})
}

// executed takes an answer, and goes on with what waited for it.
func (m *Machine) executed(e Executed) {
	n := m.nodes[e.Hash]
	if n == nil || n.status != asked {
		return
	}
	if e.Failed {
		m.failedOver(n, e.Reason)
		return
	}
	if !e.Valid || len(e.Bitmap) > MaxBitmapBytes {
		m.discard(n, e.Reason)
		return
	}
	n.status, n.bitmap = valid, e.Bitmap
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
	n.status = failed
	n.patience = min(max(2*n.patience, m.resendInterval()), maxPatience*m.resendInterval())
	n.retryAt = m.now.Add(n.patience)
	m.failing = append(m.failing, n)
	if r := m.rounds[m.view]; r != nil && r.proposal != nil && r.hash == n.hash {
		m.report(Rejected{View: r.view, Hash: n.hash, Reason: "not executed here: " + reason})
	}
}

// retryFailing executes again what it is time for and still above the root.
func (m *Machine) retryFailing() {
	kept := m.failing[:0]
	for _, n := range m.failing {
		switch {
		case m.nodes[n.hash] != n || n.status != failed:
		case m.now < n.retryAt:
			kept = append(kept, n)
		default:
			n.status = held
			if n.notarized {
				m.execute(n)
			}
		}
	}
	clear(m.failing[len(kept):])
	m.failing = kept
}

func (m *Machine) executeChildren(of types.Hash) {
	for _, child := range append([]*node(nil), m.children[of]...) {
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
			m.wantLater(c)
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
	for _, child := range m.children[n.hash] {
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
	m.remember(path)
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
		n := m.nodes[c.Block]
		if n == nil {
			m.need(c, m.finalFrom)
			if m.far(m.final) || m.unanswered(c.Block) {
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
	for _, child := range m.children[n.hash] {
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
	nodes, children := map[types.Hash]*node{}, map[types.Hash][]*node{}
	m.keep(nodes, children, root.Hash)
	for hash, n := range m.nodes { // order: orphans are no descendants of each other, so each is judged alike
		if m.nodes[n.block.Header.Parent] == nil && n.block.Header.Height > root.Block.Header.Height+1 && nodes[hash] == nil {
			nodes[hash] = n
			children[n.block.Header.Parent] = m.children[n.block.Header.Parent]
			m.keep(nodes, children, hash)
		}
	}
	m.hold(nodes, children)
	kept := m.wants[:0]
	for _, w := range m.wants {
		if w.certificate.Height > root.Block.Header.Height {
			kept = append(kept, w)
		}
	}
	m.wants = kept
}

// hold replaces the bodies that are held. What stood above the root and is held no
// longer is forgotten; what is final is not.
func (m *Machine) hold(nodes map[types.Hash]*node, children map[types.Hash][]*node) {
	before := len(m.out.Forget)
	for hash, n := range m.nodes { // order: sorted below
		if nodes[hash] == nil && n.block.Header.Height > m.rootHeight() {
			m.out.Forget = append(m.out.Forget, hash)
		}
	}
	slices.SortFunc(m.out.Forget[before:], func(a, b types.Hash) int { return bytes.Compare(a[:], b[:]) })
	m.nodes, m.children = nodes, children
}

func (m *Machine) keep(nodes map[types.Hash]*node, children map[types.Hash][]*node, hash types.Hash) {
	open := []types.Hash{hash}
	for len(open) > 0 {
		hash, open = open[0], open[1:]
		if len(m.children[hash]) > 0 {
			children[hash] = m.children[hash]
		}
		for _, child := range m.children[hash] {
			nodes[child.hash] = child
			open = append(open, child.hash)
		}
	}
}

// remember keeps the newest finalized bodies for peers.
func (m *Machine) remember(path []*node) {
	for i := len(path) - 1; i >= 0; i-- {
		m.recent = append(m.recent, path[i])
	}
	if over := len(m.recent) - MaxRecentBlocks; over > 0 {
		m.recent = append([]*node(nil), m.recent[over:]...)
	}
}
