package simplex

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// voter takes the proposals of others, and goes step by step toward a notarize vote.
type voter struct{ *collector }

// receiveProposal takes the first proposal of a view from its leader.
func (m *voter) receiveProposal(from types.Address, p VerifiedProposal) {
	view, header := p.proposal.View, &p.proposal.Block.Header
	if header.SetEpoch != m.set.Epoch || view <= m.rootView() {
		m.answers.sendMissingCertificate(from, header.SetEpoch, view)
		return
	}
	if from != m.set.Leader(view) || view < m.view || view > m.view+MaxFutureProposals {
		if view < m.view {
			m.answers.sendMissingCertificate(from, header.SetEpoch, view)
		}
		return
	}
	m.heard[m.index[from]] = m.view
	r := m.openRound(view)
	if r == nil {
		return
	}
	if r.proposal != nil {
		if r.hash != p.hash && !r.equivocated {
			r.equivocated = true
			m.addReport(Evidence{Offender: from, First: r.proposal, Second: p.proposal})
		}
		return
	}
	if view == m.view && header.View == view && header.Height > m.goal {
		m.clocks.noteStamp(m.index[from], header.Timestamp, m.clock)
	}
	r.proposal, r.hash = p.proposal, p.hash
	n := m.attachBody(p.proposal.Block, p.hash, from)
	m.fetcher.dropWant(p.hash)
	if n != nil && n.notarized {
		m.requestExecution(n)
	}
	m.learnParentCertificate(p.proposal.Block, from)
}

// considerVote goes one step toward a notarize vote for the view's proposal, and
// reports whether it did. The rule is decision C1's: the parent is notarized
// and every view between is nullified; and C2's: the block was executed.
func (m *voter) considerVote() bool {
	r := m.rounds[m.view]
	if r == nil || m.me < 0 || m.hasReachedBorder() || r.proposal == nil || r.rejected ||
		r.ownVote(types.Notarize) != nil || r.ownVote(types.Nullify) != nil || r.ownVote(types.Finalize) != nil {
		return false
	}
	n := m.bodies.nodes[r.hash]
	if n == nil {
		if n = m.attachBody(r.proposal.Block, r.hash, m.set.Leader(r.view)); n == nil {
			m.refuseView(r, r.hash, "the proposal is not above the finalized block, or too many blocks wait for finality")
			return true
		}
	}
	if n.block.Header.View != r.view {
		return m.considerAgain(r, n)
	}
	parent, ready := m.bodies.parentOf(n.block, &m.root)
	if parent == nil {
		if n.block.Parent == nil || n.block.Parent.Height <= m.rootHeight() {
			m.refuseView(r, r.hash, "the parent is not on the finalized chain")
			return true
		}
		m.requestBody(n.block.Parent, m.set.Leader(r.view))
		return false
	}
	if reason := m.proposalFault(n, parent); reason != "" {
		m.refuseView(r, r.hash, reason)
		return true
	}
	if n.block.Header.Skipped > 0 && n.block.Header.Height > m.leap {
		return false // this validator has no order for that travel, or not yet
	}
	if !ready {
		if p := m.bodies.nodes[n.block.Header.Parent]; p != nil {
			m.requestExecution(p)
		}
		return false
	}
	if n.status == pending && n.block.Header.Timestamp < parent.Timestamp.Time().Add(m.gapAfter(n.block.Header.Parent)).Millis() {
		m.refuseView(r, r.hash, "timestamp is less than a block time after the parent's")
		return true
	}
	if !m.isChildOf(n, parent, r) {
		return false
	}
	return m.voteAfterExecution(r, n)
}

// proposalFault adds to headerFault what concerns the moment of voting.
func (m *voter) proposalFault(n *node, parent *types.Header) string {
	if reason := m.headerFault(n.block, parent); reason != "" {
		return reason
	}
	if n.status == pending && n.block.Header.Proposer != m.self && n.block.Header.Timestamp > m.clock.Add(m.pace.Drift()).Millis() {
		m.tellClock(n.block.Header.Proposer, n.block.Header.Timestamp)
		return "timestamp is too far in the future"
	}
	return ""
}

// considerAgain judges a block that is proposed again in a later view (decisions C4, C6).
// It judges that proposal as an empty block on top of the block's notarization.
func (m *voter) considerAgain(r *round, n *node) bool {
	h := &n.block.Header
	if h.View > r.view {
		m.refuseView(r, r.hash, "the block names a later view")
		return true
	}
	for v := r.view - 1; v >= h.View && v > m.rootView(); v-- {
		at := m.rounds[v]
		if at.isNotarized(n.hash) {
			n.notarized = true
			return m.voteAfterExecution(r, n)
		}
		if v == h.View && at != nil && at.notarization != nil {
			break
		}
		if !m.isNullified(v) {
			m.requestCertificates(m.firstOpen(h.View, v), v, types.Hash{}, m.set.Leader(r.view))
			return false
		}
	}
	m.refuseView(r, r.hash, "the block was not notarized before it was proposed again")
	return true
}

// isChildOf reports whether a proposal may be voted for as a child of its parent. Every view
// before the proposal's is nullified, down to the last in which the parent was notarized
// (decision C1). It asks the leader for missing certificates.
func (m *voter) isChildOf(n *node, parent *types.Header, r *round) bool {
	hash, first := n.block.Header.Parent, parent.View+1
	if hash == m.root.Hash {
		first = m.rootView() + 1
	}
	for v := r.view - 1; v >= first; v-- {
		if m.rounds[v].isNotarized(hash) {
			return true
		}
		if !m.isNullified(v) {
			m.requestCertificates(m.firstOpen(first, v), v, types.Hash{}, m.set.Leader(r.view))
			return false
		}
	}
	return true
}

func (m *voter) voteAfterExecution(r *round, n *node) bool {
	if n.status == pending {
		m.requestExecution(n)
		return false
	}
	if n.status != valid {
		return false
	}
	m.persistBody(n)
	m.voteNotarize(r, n)
	return true
}

// attestLate casts the notarize vote that others were quicker than: their notarization ended
// the view before this validator had executed its block. The vote decides nothing any
// more, but the next leader carries what it attests of runners (decision C3), if the
// vote reaches it before it proposes. It reports whether it did.
func (m *voter) attestLate() bool {
	r := m.rounds[m.view-1]
	if r == nil || m.me < 0 || !m.isFreeOf(r.view) {
		return false
	}
	if r.notarization == nil || r.ownVote(types.Notarize) != nil || r.ownVote(types.Nullify) != nil {
		return false
	}
	n := m.bodies.nodes[r.notarization.Block]
	if n == nil || n.status != valid || n.runners == 0 || n.block.Header.View != r.view {
		return false
	}
	m.voteNotarize(r, n)
	return true
}

func (m *voter) voteNotarize(r *round, n *node) {
	m.castVote(r, &types.Vote{Kind: types.Notarize, Height: n.block.Header.Height, Block: n.hash, Bitmap: m.presenceFor(n)})
}

// presenceFor is what this validator attests now of the runners that a block has bits for.
func (m *voter) presenceFor(n *node) []byte {
	if m.cfg.Presence == nil {
		return selection.NewBitmap(n.runners).Bytes()
	}
	return m.cfg.Presence(m.clock, n.runners, n.places)
}
