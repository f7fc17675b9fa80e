package simplex

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// leading reports whether this validator still has to propose in the view.
func (m *Machine) leading(r *round) bool {
	return m.me >= 0 && !m.ended() && m.pace.armed && m.leaderIndex(r.view) == m.me &&
		!r.buildRequested && r.proposal == nil && r.ownVote(types.Nullify) == nil
}

// propose asks for a block, or proposes the one before a border again, when this
// validator leads the view and the time has come. It reports whether it did.
func (m *Machine) propose() bool {
	r := m.rounds[m.view]
	if r == nil || !m.leading(r) || m.now < m.buildAt() {
		return false
	}
	parent, cert := m.choose()
	if parent == nil {
		return false
	}
	if parent.hash != m.root.Hash && parent.block.Header.Border() {
		m.proposeAgain(r, parent)
		return true
	}
	build := Build{Epoch: m.set.Epoch, View: m.view, Parent: parent.block, ParentHash: parent.hash, Notarization: cert,
		By: m.now.Add(m.pace.leaderTimeout() / fillingFraction)}
	if parent.block.Header.Border() {
		build.Finalization = m.root.Finalization
	}
	r.buildRequested = true
	m.ask(build)
	return true
}

// buildAt is when this validator, leading the view, may ask for a block: a block
// time after the parent's timestamp, and in no case later than a block time
// after entering, so that a timestamp from the future holds nobody up. The
// block's own timestamp, which is after the parent's, must leave other clocks
// half of the drift that they allow. The block before a border waits half a link
// delay more, in which it should have become final.
func (m *Machine) buildAt() types.Time {
	at := m.entered.Add(m.pace.BlockTime)
	header := m.tip()
	if due := header.Timestamp.Time().Add(m.pace.BlockTime); due < at {
		at = due
	}
	at = max(at, (header.Timestamp + 1).Time().Add(-m.pace.drift()/2))
	if header.Height > m.rootHeight() && header.Border() {
		at = max(at, m.entered.Add(m.pace.LinkDelay/2))
	}
	return at
}

// newestNode is the body that was notarized in the highest view, or nil.
func (m *Machine) newestNode() *node {
	if r := m.rounds[m.newest]; r != nil && r.notarization != nil {
		return m.bodies.nodes[r.notarization.Block]
	}
	return nil
}

// choose returns what to build on: the block notarized in the latest view after
// which all views are nullified (decision C1), with its notarization. It asks
// peers for what it lacks, and returns nil until it is there.
func (m *Machine) choose() (*node, *types.Certificate) {
	for v := m.view - 1; v > m.rootView(); v-- {
		r := m.rounds[v]
		if r != nil && r.notarization != nil {
			n := m.bodies.nodes[r.notarization.Block]
			if n != nil && n.status == valid {
				return n, r.fullNotarization(m.set)
			}
			if n == nil {
				m.requestBody(r.notarization, m.self)
			} else {
				m.execute(n)
			}
		}
		if r == nil || r.nullification == nil {
			if r == nil || r.notarization == nil {
				m.requestCertificates(m.rootView()+1, v, types.Hash{}, m.self)
			}
			return nil, nil
		}
	}
	root := &node{block: m.root.Block, hash: m.root.Hash, status: valid}
	if m.rootHeight() == 0 {
		return root, nil
	}
	if r := m.rounds[m.rootView()]; r != nil && r.notarization != nil && r.notarization.Block == m.root.Hash {
		return root, r.fullNotarization(m.set)
	}
	if m.root.Notarization == nil {
		m.requestCertificates(m.rootView(), m.rootView(), m.root.Hash, m.self)
		return nil, nil
	}
	return root, m.root.Notarization
}

// built takes the application's block, and proposes it or lets it go.
func (m *Machine) built(e Built) {
	m.proposeBuilt(e)
	if e.Block == nil {
		return
	}
	if hash := e.Block.Hash(); m.bodies.nodes[hash] == nil {
		m.forget(hash)
	}
}

// proposeBuilt proposes the application's block, where that is what the view waits
// for. The block and the proposal are persisted first: after a restart the same one
// is sent again.
func (m *Machine) proposeBuilt(e Built) {
	r := m.rounds[m.view]
	if r == nil || e.Epoch != m.set.Epoch || e.View != m.view || !r.buildRequested || r.proposal != nil ||
		m.ended() || r.ownVote(types.Nullify) != nil {
		return
	}
	if e.Block == nil {
		m.refuse(r, types.Hash{}, "the application could not build a block")
		return
	}
	hash := e.Block.Hash()
	parent, ready := m.bodies.parentOf(e.Block, &m.root)
	if !ready {
		m.refuse(r, hash, "the block was built on another parent than asked for")
		return
	}
	if reason := m.headerFault(e.Block, parent); reason != "" {
		m.refuse(r, hash, "the block built here is not valid: "+reason)
		return
	}
	n := m.attach(e.Block, hash, m.self)
	if n == nil {
		m.refuse(r, hash, "too many blocks wait for finality")
		return
	}
	m.persistBody(n)
	m.send(r, n)
}

// refuse gives the view up.
func (m *Machine) refuse(r *round, hash types.Hash, reason string) {
	r.rejected, r.reason = true, reason
	m.report(Rejected{View: r.view, Hash: hash, Reason: reason})
}

// proposeAgain proposes the block before a border in a later view (decision C6).
func (m *Machine) proposeAgain(r *round, n *node) {
	m.persistBody(n)
	m.send(r, n)
}

func (m *Machine) send(r *round, n *node) {
	p := &types.Proposal{View: r.view, Block: n.block}
	p.Signature = m.cfg.Signer.Sign(p.DigestOf(n.hash))
	r.proposal, r.hash, r.sent = p, n.hash, m.now
	m.persist(proposalRecord(p, n.hash))
	m.broadcast(p)
}

func (m *Machine) persistBody(n *node) {
	if !n.persisted {
		n.persisted = true
		m.persist(bodyRecord(n.block, n.hash))
	}
}

// receiveProposal takes the first proposal of a view from its leader.
func (m *Machine) receiveProposal(from types.Address, p VerifiedProposal) {
	view, header := p.proposal.View, &p.proposal.Block.Header
	if header.SetEpoch != m.set.Epoch || view <= m.rootView() {
		m.sendMissingCertificate(from, header.SetEpoch, view)
		return
	}
	if from != m.set.Leader(view) || view < m.view || view > m.view+MaxFutureProposals {
		if view < m.view {
			m.sendMissingCertificate(from, header.SetEpoch, view)
		}
		return
	}
	m.heard[m.index[from]] = m.view
	r := m.open(view)
	if r == nil {
		return
	}
	if r.proposal != nil {
		if r.hash != p.hash && !r.equivocated {
			r.equivocated = true
			m.report(Evidence{Offender: from, First: r.proposal, Second: p.proposal})
		}
		return
	}
	r.proposal, r.hash = p.proposal, p.hash
	n := m.attach(p.proposal.Block, p.hash, from)
	m.fetcher.drop(p.hash)
	if n != nil && n.notarized {
		m.execute(n)
	}
	m.learnCarried(p.proposal.Block, from)
}

// learnCarried takes the notarization that a block carries.
func (m *Machine) learnCarried(b *types.Block, from types.Address) {
	if b.Parent == nil {
		return
	}
	if b.Parent.Epoch == m.set.Epoch {
		m.learn(b.Parent, from)
	} else if b.Header.Parent == m.root.Hash && m.root.Notarization == nil {
		m.root.Notarization = b.Parent
		m.persist(certificateRecord(b.Parent))
	}
}

// consider goes one step toward a notarize vote for the view's proposal, and
// reports whether it did. The rule is decision C1's: the parent is notarized
// and every view between is nullified; and C2's: the block was executed.
func (m *Machine) consider() bool {
	r := m.rounds[m.view]
	if r == nil || m.me < 0 || m.ended() || r.proposal == nil || r.rejected ||
		r.ownVote(types.Notarize) != nil || r.ownVote(types.Nullify) != nil || r.ownVote(types.Finalize) != nil {
		return false
	}
	n := m.bodies.nodes[r.hash]
	if n == nil {
		if n = m.attach(r.proposal.Block, r.hash, m.set.Leader(r.view)); n == nil {
			m.refuse(r, r.hash, "the proposal is not above the finalized block, or too many blocks wait for finality")
			return true
		}
	}
	if n.block.Header.View != r.view {
		return m.considerAgain(r, n)
	}
	parent, ready := m.bodies.parentOf(n.block, &m.root)
	if parent == nil {
		if n.block.Parent == nil || n.block.Parent.Height <= m.rootHeight() {
			m.refuse(r, r.hash, "the parent is not on the finalized chain")
			return true
		}
		m.requestBody(n.block.Parent, m.set.Leader(r.view))
		return false
	}
	if reason := m.proposalFault(n, parent); reason != "" {
		m.refuse(r, r.hash, reason)
		return true
	}
	if n.block.Header.Skipped > 0 && n.block.Header.Height > m.goal {
		return false // nobody asked this validator for that travel, or not yet
	}
	if !ready {
		if p := m.bodies.nodes[n.block.Header.Parent]; p != nil {
			m.execute(p)
		}
		return false
	}
	if !m.gapNullified(parent.View, r) {
		return false
	}
	return m.voteOnceExecuted(r, n)
}

// proposalFault adds to headerFault what concerns the moment of voting.
func (m *Machine) proposalFault(n *node, parent *types.Header) string {
	if reason := m.headerFault(n.block, parent); reason != "" {
		return reason
	}
	if n.status == pending && n.block.Header.Timestamp > m.now.Add(m.pace.drift()).Millis() {
		return "timestamp is too far in the future"
	}
	return ""
}

// considerAgain judges the proposal of the block before a border in a later view
// (decision C6): as if it were an empty block on top of its own notarization.
func (m *Machine) considerAgain(r *round, n *node) bool {
	h := &n.block.Header
	if !h.Border() || h.View > r.view {
		m.refuse(r, r.hash, "the block is of another view, and no border follows it")
		return true
	}
	for v := r.view - 1; v >= h.View && v > m.rootView(); v-- {
		at := m.rounds[v]
		if at != nil && at.notarization != nil && at.notarization.Block == n.hash {
			n.notarized = true
			return m.voteOnceExecuted(r, n)
		}
		if at == nil || at.nullification == nil {
			m.requestCertificates(v, v, types.Hash{}, m.set.Leader(r.view))
			return false
		}
	}
	m.refuse(r, r.hash, "the block was not notarized before it was proposed again")
	return true
}

// gapNullified reports whether every view between the parent's and the round's
// is nullified, and asks the leader for what is missing.
func (m *Machine) gapNullified(parent types.View, r *round) bool {
	for v := r.view - 1; v > parent; v-- {
		if !m.nullified(v) {
			m.requestCertificates(parent+1, v, types.Hash{}, m.set.Leader(r.view))
			return false
		}
	}
	return true
}

func (m *Machine) voteOnceExecuted(r *round, n *node) bool {
	if n.status == pending {
		m.execute(n)
		return false
	}
	if n.status != valid {
		return false
	}
	m.persistBody(n)
	m.vote(r, &types.Vote{Kind: types.Notarize, Height: n.block.Header.Height, Block: n.hash, Bitmap: m.presence(n.runners)})
	return true
}

// presence is what this validator attests of so many runners now.
func (m *Machine) presence(runners int) []byte {
	if m.cfg.Presence == nil {
		return selection.NewBitmap(runners).Bytes()
	}
	return m.cfg.Presence(m.now, runners)
}
