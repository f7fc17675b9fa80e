package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// collector counts votes, this validator's own among them, makes certificates of them, and
// takes the certificates that others made.
type collector struct {
	*requester
	answers *responder
}

func (m *collector) receiveVote(from types.Address, v *types.Vote) {
	if v.Epoch != m.set.Epoch || v.View < m.rootView() {
		m.answers.sendMissingCertificate(from, v.Epoch, v.View)
		return
	}
	if v.View+MaxPastViews < m.view {
		m.answers.sendMissingCertificate(from, v.Epoch, v.View)
		return
	}
	if v.Validator == m.self {
		m.recognizeOwnVote(v)
	}
	index, member := m.index[v.Validator]
	if !member || index == m.me || v.View > m.view+MaxFutureViews {
		return
	}
	if from == v.Validator {
		m.heard[index] = m.view
	}
	m.recordFirstLog(v.Validator, types.Life{})
	r := m.openRound(v.View)
	if r == nil {
		return
	}
	if repeated := m.countVote(r, v, index, from); repeated && from == v.Validator {
		m.answers.sendMissingCertificate(from, v.Epoch, v.View)
	}
}

// countVote files a vote, and makes a certificate when it completes a quorum. It
// reports whether the vote was known already.
func (m *collector) countVote(r *round, v *types.Vote, index int, from types.Address) (repeated bool) {
	ballot := r.ballotOf(v.Kind)
	count, earlier := ballot.addVote(v, index, len(m.set.Members))
	if earlier != nil {
		if sameVote(earlier, v) {
			return true
		}
		m.accuseMember(ballot, index, earlier, v)
		return false
	}
	m.catchBoth(r, v, index)
	if count >= quorumOf(m.set) && *r.certificateOf(v.Kind) == nil {
		m.learnCertificate(ballot.collectCertificate(v), from)
	}
	return false
}

// catchBoth finds who both nullified and finalized a view, which C1 forbids.
func (m *collector) catchBoth(r *round, v *types.Vote, index int) {
	other := types.Finalize
	switch v.Kind {
	case types.Notarize:
		return
	case types.Finalize:
		other = types.Nullify
	}
	if votes := r.ballotOf(other).votes; votes != nil && votes[index] != nil {
		m.accuseMember(r.ballotOf(v.Kind), index, votes[index], v)
	}
}

func (m *collector) accuseMember(b *ballot, index int, first, second *types.Vote) {
	if index != m.me && b.noteEquivocation(index, len(m.set.Members)) {
		m.addReport(Evidence{Offender: second.Validator, First: first, Second: second})
	}
}

// castVote signs, persists and sends a vote of this validator in a round, and
// counts it. Kind, Height, Block and Bitmap are given.
func (m *collector) castVote(r *round, v *types.Vote) {
	v.Epoch, v.View, v.Validator = m.set.Epoch, r.view, m.self
	v.Signature = m.cfg.Signer.Sign(v.Digest(m.cfg.ChainID))
	r.own[slotOf(v.Kind)] = v
	r.sent = m.now
	m.persistRecord(voteRecord(v))
	m.broadcastMessage(v)
	m.countVote(r, v, m.me, m.self)
}

// receiveCertificate takes a certificate of any view that is not final.
func (m *collector) receiveCertificate(from types.Address, c *types.Certificate) {
	if m.contradictsChain(c) {
		m.reportConflict(c)
		return
	}
	if c.Kind == types.Notarize && c.Block == m.root.Hash && m.root.Notarization == nil {
		m.root.Notarization = c
		m.persistRecord(certificateRecord(c))
		return
	}
	if c.Epoch != m.set.Epoch || c.View < m.rootView() {
		m.answers.sendMissingCertificate(from, c.Epoch, c.View)
		return
	}
	m.learnCertificate(c, from)
}

// learnCertificate takes a certificate of the current epoch, from a peer, from a block or
// from our own counting.
func (m *collector) learnCertificate(c *types.Certificate, from types.Address) {
	if c.View < m.rootView() || c.View == m.rootView() && c.Block != m.root.Hash {
		return
	}
	r := m.openRound(c.View)
	if r == nil {
		return
	}
	m.recognizeOwn(c)
	m.mergeVotes(r, c)
	held := r.certificateOf(c.Kind)
	if *held != nil {
		if (*held).Block != c.Block {
			m.reportConflict(c)
		}
		return
	}
	*held = c
	m.persistRecord(certificateRecord(c))
	m.followCertificate(r, c, from)
}

// followCertificate does what a certificate that is new calls for.
func (m *collector) followCertificate(r *round, c *types.Certificate, from types.Address) {
	if m.top == nil || c.View > m.top.View {
		m.top = c
	}
	switch c.Kind {
	case types.Notarize:
		m.newest = max(m.newest, c.View)
		m.addReport(Notarized{c})
		m.requestBody(c, from)
		if m.me >= 0 && m.isFreeOf(c.View) && r.ownVote(types.Nullify) == nil && r.ownVote(types.Finalize) == nil && c.View > m.rootView() {
			m.castVote(r, &types.Vote{Kind: types.Finalize, Height: c.Height, Block: c.Block})
		}
	case types.Nullify:
		m.addReport(Nullified{c})
	case types.Finalize:
		m.newest = max(m.newest, c.View)
		if c.Block == m.root.Hash && c.View > m.rootView() {
			m.root.Finalization = c // it was proposed again before it was known to be final
		}
		if c.Height > m.rootHeight() && (m.final == nil || c.Height > m.final.Height) {
			m.final, m.finalFrom = c, from
		}
		m.requestBody(c, from)
	}
}

// recognizeOwn judges this validator's own votes in a certificate.
func (m *collector) recognizeOwn(c *types.Certificate) {
	if c == nil {
		return
	}
	for i := range c.Votes {
		if c.Votes[i].Validator == m.self {
			v := c.Vote(i)
			m.recognizeOwnVote(&v)
		}
	}
}

// recognizeOwnVote judges a vote signed by this validator's key. A vote that it did not cast is
// another life's: it stops voting, which its log records (decision C5). Up to the root, or
// to the floor of a lost log, it may have forgotten its votes.
func (m *collector) recognizeOwnVote(v *types.Vote) {
	if m.unproven {
		m.voted = true
		return
	}
	if v.Epoch != m.set.Epoch || v.View <= m.rootView() || m.gone.hasView(v.View) || !m.isFreeOf(v.View) || m.cfg.Life.IsZero() ||
		m.cfg.Lied != nil && m.cfg.Lied() {
		return
	}
	if r := m.rounds[v.View]; r != nil {
		if own := r.ownVote(v.Kind); own != nil && sameVote(own, v) {
			return
		}
	}
	if m.stranger.seen && m.stranger.height == m.rootHeight() || m.stranger.told {
		return
	}
	halts := m.set.MaxFaulty() > 0 // otherwise the network would stop (finding F17)
	if !m.stranger.seen {
		m.addReport(Stranger{Vote: v, Halts: halts})
	}
	if !halts {
		m.stranger.told = true
		return
	}
	m.stranger = stranger{seen: true, height: m.rootHeight()}
	m.me = m.ownPlace()
	m.persistRecord(strangerRecord(m.stranger.height))
}

// mergeVotes files a certificate's votes one by one: the next leader carries all of
// them (decision C3).
func (m *collector) mergeVotes(r *round, c *types.Certificate) {
	if c.View+MaxPastViews < m.view {
		return
	}
	ballot := r.ballotOf(c.Kind)
	for i := range c.Votes {
		index := m.index[c.Votes[i].Validator]
		if ballot.votes != nil && ballot.votes[index] != nil {
			continue
		}
		v := c.Vote(i)
		m.recordFirstLog(v.Validator, types.Life{})
		ballot.addVote(&v, index, len(m.set.Members))
		m.catchBoth(r, &v, index)
	}
}

// learnParentCertificate takes the notarization that a block carries.
func (m *collector) learnParentCertificate(b *types.Block, from types.Address) {
	if b.Parent == nil {
		return
	}
	if b.Parent.Epoch == m.set.Epoch {
		m.learnCertificate(b.Parent, from)
	} else if b.Header.Parent == m.root.Hash && m.root.Notarization == nil {
		m.root.Notarization = b.Parent
		m.persistRecord(certificateRecord(b.Parent))
	}
}

// receiveBlock takes a body that was asked for.
func (m *collector) receiveBlock(from types.Address, b VerifiedBlock) {
	if m.fetcher.findWant(b.hash) == nil || b.block.Parent == nil && b.block.Header.Parent != m.root.Hash {
		return
	}
	m.fetcher.dropWant(b.hash)
	n := m.attachBody(b.block, b.hash, from)
	if n == nil {
		return
	}
	n.notarized = true
	m.learnParentCertificate(b.block, from)
	if _, ready := m.bodies.parentOf(b.block, &m.root); ready {
		m.requestExecution(n)
	} else if b.block.Parent != nil {
		m.requestBody(b.block.Parent, from)
	}
}
