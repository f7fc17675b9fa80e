package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// receive takes a verified message. Whoever is no member is not listened to.
func (m *Machine) receive(from types.Address, message Verified) {
	if m.peers[from] == nil || from == m.self {
		return
	}
	switch msg := message.(type) {
	case VerifiedVote:
		m.receiveVote(from, msg.vote)
	case VerifiedCertificate:
		m.receiveCertificate(from, msg.certificate)
	case VerifiedProposal:
		m.receiveProposal(from, msg)
	case VerifiedBlock:
		m.receiveBlock(from, msg)
	case *BlockRequest:
		m.answerBlock(from, msg)
	case *CertificateRequest:
		m.answerCertificates(from, msg)
	}
}

func (m *Machine) receiveVote(from types.Address, v *types.Vote) {
	if v.Epoch != m.set.Epoch || v.View < m.rootView() {
		m.sendMissingCertificate(from, v.Epoch, v.View)
		return
	}
	if v.View+MaxPastViews < m.view {
		m.sendMissingCertificate(from, v.Epoch, v.View)
		return
	}
	index, member := m.index[v.Validator]
	if !member || index == m.me || v.View > m.view+MaxFutureViews {
		return
	}
	if from == v.Validator {
		m.heard[index] = m.view
	}
	r := m.open(v.View)
	if r == nil {
		return
	}
	if repeated := m.count(r, v, index, from); repeated && from == v.Validator {
		m.sendMissingCertificate(from, v.Epoch, v.View)
	}
}

// count files a vote, and makes a certificate when it completes a quorum. It
// reports whether the vote was there already.
func (m *Machine) count(r *round, v *types.Vote, index int, from types.Address) (repeated bool) {
	ballot := r.ballot(v.Kind)
	count, earlier := ballot.add(v, index, len(m.set.Members))
	if earlier != nil {
		if sameVote(earlier, v) {
			return true
		}
		m.accuse(ballot, index, earlier, v)
		return false
	}
	m.catchBoth(r, v, index)
	if count >= quorum(m.set) && *r.certificate(v.Kind) == nil {
		m.learn(ballot.collect(v), from)
	}
	return false
}

// catchBoth finds who both nullified and finalized a view, which C1 forbids.
func (m *Machine) catchBoth(r *round, v *types.Vote, index int) {
	other := types.Finalize
	switch v.Kind {
	case types.Notarize:
		return
	case types.Finalize:
		other = types.Nullify
	}
	if votes := r.ballot(other).votes; votes != nil && votes[index] != nil {
		m.accuse(r.ballot(v.Kind), index, votes[index], v)
	}
}

func (m *Machine) accuse(b *ballot, index int, first, second *types.Vote) {
	if index != m.me && b.equivocates(index, len(m.set.Members)) {
		m.report(Evidence{Offender: second.Validator, First: first, Second: second})
	}
}

// vote signs, persists and sends a vote of this validator in a round, and
// counts it. Kind, Height, Block and Bitmap are given.
func (m *Machine) vote(r *round, v *types.Vote) {
	v.Epoch, v.View, v.Validator = m.set.Epoch, r.view, m.self
	v.Signature = m.cfg.Signer.Sign(v.Digest(m.cfg.ChainID))
	r.own[slot(v.Kind)] = v
	r.sent = m.now
	m.persist(voteRecord(v))
	m.broadcast(v)
	m.count(r, v, m.me, m.self)
}

// receiveCertificate takes a certificate of any view that is not final.
func (m *Machine) receiveCertificate(from types.Address, c *types.Certificate) {
	if m.contradicts(c) {
		m.conflict(c)
		return
	}
	if c.Kind == types.Notarize && c.Block == m.root.Hash && m.root.Notarization == nil {
		m.root.Notarization = c
		m.persist(certificateRecord(c))
		return
	}
	if c.Epoch != m.set.Epoch || c.View < m.rootView() {
		m.sendMissingCertificate(from, c.Epoch, c.View)
		return
	}
	m.learn(c, from)
}

// learn takes a certificate of the current epoch, from a peer, from a block or
// from our own counting.
func (m *Machine) learn(c *types.Certificate, from types.Address) {
	if c.View < m.rootView() || c.View == m.rootView() && c.Block != m.root.Hash {
		return
	}
	r := m.open(c.View)
	if r == nil {
		return
	}
	m.merge(r, c)
	held := r.certificate(c.Kind)
	if *held != nil {
		if (*held).Block != c.Block {
			m.conflict(c)
		}
		return
	}
	*held = c
	m.persist(certificateRecord(c))
	m.follow(r, c, from)
}

// contradicts reports whether a finalization cannot be of this chain, as far as
// it is remembered here: it names another block of the root's height or view, or
// of a height of a block that was final lately, or its height and view are not
// both above the root's or both below. It is the proof of a fork, and may be the
// only one that anybody holds.
func (m *Machine) contradicts(c *types.Certificate) bool {
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

// follow does what a certificate that is new calls for.
func (m *Machine) follow(r *round, c *types.Certificate, from types.Address) {
	if m.top == nil || c.View > m.top.View {
		m.top = c
	}
	switch c.Kind {
	case types.Notarize:
		m.newest = max(m.newest, c.View)
		m.report(Notarized{c})
		m.requestBody(c, from)
		if m.me >= 0 && r.ownVote(types.Nullify) == nil && r.ownVote(types.Finalize) == nil && c.View > m.rootView() {
			m.vote(r, &types.Vote{Kind: types.Finalize, Height: c.Height, Block: c.Block})
		}
	case types.Nullify:
		m.report(Nullified{c})
	case types.Finalize:
		m.newest = max(m.newest, c.View)
		if c.Height > m.rootHeight() && (m.final == nil || c.Height > m.final.Height) {
			m.final, m.finalFrom = c, from
		}
		m.requestBody(c, from)
	}
}

// merge files a certificate's votes one by one: the next leader carries all of
// them (decision C3).
func (m *Machine) merge(r *round, c *types.Certificate) {
	if c.View+MaxPastViews < m.view {
		return
	}
	ballot := r.ballot(c.Kind)
	for i := range c.Votes {
		index := m.index[c.Votes[i].Validator]
		if ballot.votes != nil && ballot.votes[index] != nil {
			continue
		}
		v := c.Vote(i)
		ballot.add(&v, index, len(m.set.Members))
		m.catchBoth(r, &v, index)
	}
}

func (m *Machine) conflict(c *types.Certificate) {
	if !m.broken {
		m.broken = true
		m.report(Conflict{c})
	}
}

// sendMissingCertificate gives a peer that is at an earlier view what it needs to
// go on, once per resend interval.
func (m *Machine) sendMissingCertificate(to types.Address, epoch types.Epoch, v types.View) {
	p := m.budget(to)
	if p == nil || p.helped {
		return
	}
	var c *types.Certificate
	switch {
	case epoch < m.set.Epoch:
		c = m.edge.Finalization
	case epoch > m.set.Epoch:
		return
	case v <= m.rootView():
		c = m.root.Finalization
	case v < m.view:
		c = m.bestCertificate()
	}
	if c == nil || c.Epoch != epoch {
		return
	}
	p.helped = true
	m.sendTo(to, c)
}

// budget returns the peer's account of the current interval, or nil for who is
// no member.
func (m *Machine) budget(of types.Address) *peer {
	p := m.peers[of]
	if p != nil && m.now >= p.since.Add(m.pace.resendInterval()) {
		*p = peer{since: m.now}
	}
	return p
}
