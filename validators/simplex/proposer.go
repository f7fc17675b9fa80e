package simplex

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// proposer makes the proposals of the views that this validator leads.
type proposer struct{ *requester }

// hasToPropose reports whether this validator still has to propose in the view.
func (m *proposer) hasToPropose(r *round) bool {
	return m.me >= 0 && !m.hasReachedBorder() && m.pace.armed && m.leaderIndex(r.view) == m.me &&
		!r.buildRequested && r.proposal == nil && r.ownVote(types.Nullify) == nil
}

// tryPropose asks for a block, or proposes the one before a border again, when this
// validator leads the view and the time has come. It reports whether it did.
func (m *proposer) tryPropose() bool {
	r := m.rounds[m.view]
	if r == nil || !m.hasToPropose(r) || m.now < m.buildAt() {
		return false
	}
	parent, cert := m.chooseParent()
	if parent == nil {
		return false
	}
	if parent.hash != m.root.Hash && m.hasToWait(parent) {
		m.proposeAgain(r, parent)
		return true
	}
	build := Build{Epoch: m.set.Epoch, View: m.view, Parent: parent.block, ParentHash: parent.hash, Notarization: cert,
		By: m.clock.Add(m.pace.leaderTimeout() / fillingFraction), Ahead: m.clockAhead()}
	if parent.block.Header.Border() {
		build.Finalization = m.root.Finalization
	}
	r.buildRequested = true
	m.addAsk(build)
	return true
}

// buildAt returns when this validator, leading the view, may ask for a block. It is a block
// time after the parent's timestamp, but no later than a block time after entering, so that
// a timestamp from the future blocks no leader. The block's own timestamp, which is a block
// time after the parent's at least, must leave other clocks half a link delay of the drift
// that they allow. A block that is proposed again waits half a link delay more, in which it
// should have become final. If no border is the reason, it waits a block time. A chain that
// is late makes up for it, but leaves votes that say who sees which runners the time to
// come.
func (m *proposer) buildAt() types.Time {
	at := m.entered.Add(m.pace.BlockTime)
	header, gap := m.tipHeader(), m.gap
	if n := m.newestNode(); n != nil {
		gap = n.gap
	}
	stamped := header.Timestamp.Time().Add(m.clockOff() + m.back) // by this validator's clock
	if due := stamped.Add(m.pace.BlockTime); due < at {
		at = due
	}
	at = max(at, stamped.Add(max(gap, time.Millisecond)-m.pace.stampLead()))
	if n := m.newestNode(); n != nil && m.hasToWait(n) {
		at = max(at, m.entered.Add(m.pace.LinkDelay/2))
		if !n.block.Header.Border() {
			at = max(at, m.entered.Add(m.pace.BlockTime))
		}
	}
	if m.lacksPresence() {
		at = max(at, m.entered.Add(m.pace.presencePatience()))
	}
	return at
}

// hasToWait reports whether a notarized block gets no child before it is final. It is the
// last before a border (decision C6), or the maximum of blocks waits for finality (decision
// C4). The leader then proposes it again, which takes no room and makes all below it final
// with it.
func (m *proposer) hasToWait(n *node) bool {
	return n.block.Header.Border() || m.bodies.depthAbove(n, m.root.Hash) >= MaxOpenDepth || !m.hasRoom(n.hash)
}

// lacksPresence reports whether the view before was notarized with some votes on runners,
// and others are still to come: a block carries all that its leader holds (decision C3),
// and a bare quorum of them shows fewer runners than there are (finding F47).
func (m *proposer) lacksPresence() bool {
	r := m.rounds[m.view-1]
	return r != nil && r.notarization != nil && len(r.notarization.Votes[0].Bitmap) > 0 &&
		r.ballotOf(types.Notarize).countVoters() < len(m.set.Members)
}

// chooseParent returns what to build on: the block notarized in the latest view after
// which all views are nullified (decision C1), with its notarization. It asks peers
// for missing parts, and returns nil until they are held.
func (m *proposer) chooseParent() (*node, *types.Certificate) {
	first := m.rootView()
	for v := m.view - 1; v > first; v-- {
		r := m.rounds[v]
		if r.isNotarized(m.root.Hash) {
			return m.onRoot(v)
		}
		if r != nil && r.notarization != nil {
			n := m.bodies.nodes[r.notarization.Block]
			if n != nil && n.status == valid {
				return n, r.fullNotarization(m.set)
			}
			if n == nil {
				m.requestBody(r.notarization, m.self)
			} else {
				m.requestExecution(n)
			}
		}
		if !m.isNullified(v) {
			if r == nil || r.notarization == nil {
				m.requestCertificates(m.firstOpen(first+1, v), v, types.Hash{}, m.self)
			}
			return nil, nil
		}
	}
	return m.onRoot(first)
}

// onRoot is the root, with the notarization of a view or the one that came with it.
func (m *proposer) onRoot(v types.View) (*node, *types.Certificate) {
	root := &node{block: m.root.Block, hash: m.root.Hash, status: valid}
	if m.rootHeight() == 0 {
		return root, nil
	}
	if r := m.rounds[v]; r != nil && r.notarization != nil && r.notarization.Block == m.root.Hash {
		return root, r.fullNotarization(m.set)
	}
	if m.root.Notarization == nil {
		m.requestCertificates(v, v, m.root.Hash, m.self)
		return nil, nil
	}
	return root, m.root.Notarization
}

// handleBuilt takes the application's block, and proposes it or lets it go.
func (m *proposer) handleBuilt(e Built) {
	m.proposeBlock(e)
	if e.Block == nil {
		return
	}
	if hash := e.Block.Hash(); m.bodies.nodes[hash] == nil {
		m.forgetBlocks(hash)
	}
}

// proposeBlock proposes the application's block, if the view waits for it. The
// block and the proposal are persisted first: after a restart the same one is sent
// again.
func (m *proposer) proposeBlock(e Built) {
	r := m.rounds[m.view]
	if r == nil || e.Epoch != m.set.Epoch || e.View != m.view || !r.buildRequested || r.proposal != nil ||
		m.hasReachedBorder() || r.ownVote(types.Nullify) != nil {
		return
	}
	if e.Block == nil {
		m.refuseView(r, types.Hash{}, "the application could not build a block")
		return
	}
	hash := e.Block.Hash()
	parent, ready := m.bodies.parentOf(e.Block, &m.root)
	if !ready {
		m.refuseView(r, hash, "the block was built on another parent than asked for")
		return
	}
	if reason := m.headerFault(e.Block, parent); reason != "" {
		m.refuseView(r, hash, "the block built here is not valid: "+reason)
		return
	}
	n := m.attachBody(e.Block, hash, m.self)
	if n == nil {
		m.refuseView(r, hash, "too many blocks wait for finality")
		return
	}
	m.persistBody(n)
	m.sendProposal(r, n)
}

// proposeAgain proposes a notarized block in a later view (decisions C4, C6).
func (m *proposer) proposeAgain(r *round, n *node) {
	m.persistBody(n)
	m.sendProposal(r, n)
}

func (m *proposer) sendProposal(r *round, n *node) {
	p := &types.Proposal{View: r.view, Block: n.block}
	p.Signature = m.cfg.Signer.Sign(p.DigestOf(n.hash))
	r.proposal, r.hash, r.sent = p, n.hash, m.now
	m.persistRecord(proposalRecord(p, n.hash))
	m.broadcastMessage(p)
}
