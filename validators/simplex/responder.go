package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// responder gives peers what they ask for, or evidently lack, within what each may have.
type responder struct{ *state }

// answerBlock sends a body that is held. A request for another body may concern a
// block that was final long ago. A validator that missed only that finalization,
// and whose vote is needed for the next, would ask without end. So it is sent the
// root's, by which it fetches the range.
func (m *responder) answerBlock(to types.Address, request *BlockRequest) {
	if !m.spendRequest(to) {
		return
	}
	if block := m.bodies.findBody(request.Hash); block != nil {
		m.sendTo(to, &BlockAnswer{Block: block})
	} else if m.root.Finalization != nil {
		m.sendTo(to, m.root.Finalization)
	}
}

// answerCertificates sends what is held of a range of views. Where a block is final in
// the range or after it, the root's finalization is part of that.
func (m *responder) answerCertificates(to types.Address, request *CertificateRequest) {
	if !m.spendRequest(to) {
		return
	}
	if !request.Block.IsZero() {
		if c := m.findNotarization(request.Block); c != nil {
			m.sendTo(to, c)
		}
		return
	}
	if request.Epoch != m.set.Epoch {
		m.sendMissingCertificate(to, request.Epoch, request.From)
		return
	}
	if m.root.Finalization != nil && request.From <= m.rootView() && m.root.Finalization.Epoch == m.set.Epoch {
		m.sendTo(to, m.root.Finalization)
	}
	sent := 0
	for v := max(request.From, m.rootView()); v <= request.To && v < m.view && sent < MaxCertificatesPerAnswer; v++ {
		r := m.rounds[v]
		if r == nil {
			continue
		}
		of := r.notarization
		if of == nil {
			of = r.finalization
		}
		for _, c := range []*types.Certificate{of, r.nullification} {
			if c != nil {
				m.sendTo(to, c)
				sent++
			}
		}
	}
}

// answerView says which view this validator is in. A validator that sits out does not know.
func (m *responder) answerView(to types.Address, request *ViewRequest) {
	if m.sitsOut != 0 || m.me < 0 || !m.spendRequest(to) {
		return
	}
	answer := &ViewAnswer{Nonce: request.Nonce, Epoch: m.set.Epoch}
	if c := m.bestCertificate(); c != nil && c.Epoch == m.set.Epoch {
		answer.Certificate = c
	}
	m.sendTo(to, answer)
}

func (m *responder) findNotarization(hash types.Hash) *types.Certificate {
	if hash == m.edge.Hash {
		return m.edge.Notarization
	}
	if hash == m.root.Hash {
		if r := m.rounds[m.rootView()]; r != nil && r.notarization != nil && r.notarization.Block == hash {
			return r.notarization
		}
		return m.root.Notarization
	}
	if n := m.bodies.nodes[hash]; n != nil {
		return m.certificateFor(n)
	}
	return nil
}

// sendMissingCertificate sends a peer at an earlier view the certificate that it
// lacks, once per resend interval.
func (m *responder) sendMissingCertificate(to types.Address, epoch types.Epoch, v types.View) {
	p := m.budgetOf(to)
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

// spendRequest counts a request of a peer against its limit.
func (m *responder) spendRequest(of types.Address) bool {
	p := m.budgetOf(of)
	if p == nil || p.requests >= MaxRequests {
		return false
	}
	p.requests++
	return true
}

// budgetOf returns the peer's account of the current interval, or nil for a peer that
// is not in the set.
func (m *responder) budgetOf(of types.Address) *peer {
	p := m.peers[of]
	if p != nil && m.now >= p.since.Add(m.pace.resendInterval()) {
		*p = peer{since: m.now}
	}
	return p
}
