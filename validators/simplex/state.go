package simplex

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// state is what a machine knows. Its parts embed it, and share it: m is the machine as
// far as a part knows it.
type state struct {
	cfg     Config
	now     types.Time    // of the step that is under way, as timeouts count it: it never goes back
	clock   types.Time    // the same, as the clock shows it
	back    time.Duration // by how much the clock was set back in all: now - clock
	started bool
	out     Output // of the step that is under way
	membership
	newestFinal
	views
	demand
	pace    pacemaker
	bodies  bodies
	fetcher fetcher
	peers   map[types.Address]*peer // the members of set
}

// peer is what one sender may still ask for.
type peer struct {
	since    types.Time // begin of the interval that is counted
	requests int        // how many it sent in the interval
	helped   bool       // it was given a certificate in the interval
}

// installSet makes set the current one. Rounds are numbered on from the root's view:
// the view of the first proposal of the last block. Its hash fixes that view, so
// that every validator begins after the border with the same one.
func (m *state) installSet(set *types.ValidatorSet) {
	m.membership.installSet(set)
	m.views.beginAbove(m.rootView(), len(set.Members))
	m.peers = make(map[types.Address]*peer, len(set.Members))
	for i := range set.Members {
		m.peers[set.Members[i].Address] = &peer{}
	}
	m.pace.doublings, m.pace.surplus, m.final, m.fetcher.last = 0, 0, nil, certRequest{}
}

func (m *state) persistRecord(record []byte) { m.out.Persist = append(m.out.Persist, record) }

// recordFirstLog keeps, in this log as well, that a log or a vote (zero) of a key was heard.
// It does nothing if one was heard before.
func (m *state) recordFirstLog(of types.Address, log types.Life) {
	if m.cfg.Life.IsZero() || of == m.self || !m.keepFirstLog(of, log) {
		return
	}
	m.persistRecord(firstLogRecord(of, log))
}

func (m *state) persistBody(n *node) {
	if !n.persisted {
		n.persisted = true
		m.persistRecord(bodyRecord(n.block, n.hash))
	}
}

func (m *state) broadcastMessage(message Message) {
	m.out.Send = append(m.out.Send, Send{Message: message})
}

func (m *state) sendTo(to types.Address, message Message) {
	m.out.Send = append(m.out.Send, Send{To: &to, Message: message})
}

func (m *state) addAsk(a Ask) { m.out.Ask = append(m.out.Ask, a) }

func (m *state) addReport(r Report) { m.out.Report = append(m.out.Report, r) }

// forgetBlocks tells the application what it need not keep for this machine.
func (m *state) forgetBlocks(hashes ...types.Hash) { m.out.Forget = append(m.out.Forget, hashes...) }

// refuseView gives the view up.
func (m *state) refuseView(r *round, hash types.Hash, reason string) {
	r.rejected, r.reason = true, reason
	m.addReport(Rejected{View: r.view, Hash: hash, Reason: reason})
}

func (m *state) reportConflict(c *types.Certificate) {
	if !m.broken {
		m.broken = true
		m.addReport(Conflict{c})
	}
}

// rootView is the view in which the root became final: that of its header, or a later one
// in which it was proposed again. The numbers of views after a border continue from the
// header's.
func (m *state) rootView() types.View {
	v := m.root.Block.Header.View
	if f := m.root.Finalization; f != nil && f.Epoch == m.set.Epoch {
		v = max(v, f.View)
	}
	return v
}

// tipHeader returns the header of the block notarized last or, if that is not held, of
// the root.
func (m *state) tipHeader() *types.Header {
	if n := m.newestNode(); n != nil {
		return &n.block.Header
	}
	return &m.root.Block.Header
}

// gapAfter is how much later than a block, executed or the root, its children are stamped
// at least (decision C7). A block time may change, so that the gap follows from a final or
// executed block.
func (m *state) gapAfter(hash types.Hash) time.Duration {
	if n := m.bodies.nodes[hash]; n != nil {
		return n.gap
	}
	return m.gap
}

// newestNode is the body that was notarized in the highest view, or nil.
func (m *state) newestNode() *node {
	if r := m.rounds[m.newest]; r != nil && r.notarization != nil {
		return m.bodies.nodes[r.notarization.Block]
	}
	return nil
}

// bestCertificate is what shows others that this view was reached.
func (m *state) bestCertificate() *types.Certificate {
	if m.view > 0 {
		if r := m.rounds[m.view-1]; r != nil && r.bestCertificate() != nil {
			return r.bestCertificate()
		}
	}
	return m.root.Finalization
}

// certificateFor returns a certificate that names the body.
func (m *state) certificateFor(n *node) *types.Certificate {
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

// hasReachedBorder reports whether a border is reached: the block before it is final, and
// what follows is not known yet. If only the certificate is held, this is unknown,
// and the views continue without a block.
func (m *state) hasReachedBorder() bool {
	if h := &m.root.Block.Header; h.Border() && h.SetEpoch == m.set.Epoch {
		return true
	}
	if m.final == nil {
		return false
	}
	n := m.bodies.nodes[m.final.Block]
	return n != nil && n.block.Header.Border()
}

// isTooFar reports whether a block is more than MaxFetchBlocks above the root. Each
// block has a distinct height and view, and heights may be skipped (decision C8):
// the smaller distance counts.
func (m *state) isTooFar(c *types.Certificate) bool {
	return c.Height > m.rootHeight()+MaxFetchBlocks && c.View > m.rootView()+MaxFetchBlocks
}

// contradictsChain reports whether a finalization cannot be of this chain, as far as
// it is remembered here: it names another block of the root's height or view, or
// of a height of a block that was final lately, or its height and view are not
// both above the root's or both below. It is the proof of a fork, and may be the
// only one that anybody holds.
func (m *state) contradictsChain(c *types.Certificate) bool {
	root := &m.root.Block.Header
	if c.Kind != types.Finalize || c.Block == m.root.Hash || c.Block == m.edge.Hash {
		return false
	}
	if c.Height == root.Height {
		return true
	}
	if n := m.bodies.finalAt(c.Height); n != nil {
		return n.hash != c.Block
	}
	return c.Epoch == root.SetEpoch && root.Height > 0 && (c.View == root.View || c.Height > root.Height != (c.View > root.View))
}
