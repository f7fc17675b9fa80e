package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// requester asks peers for missing bodies and certificates.
type requester struct{ *executor }

// requestBody marks a body as notarized: it is executed if it is held, and
// otherwise asked for. A gap too wide is reported instead.
func (m *requester) requestBody(c *types.Certificate, from types.Address) {
	if c.Block == m.root.Hash || c.Height <= m.rootHeight() {
		return
	}
	if n := m.bodies.nodes[c.Block]; n != nil {
		n.notarized = true
		m.requestExecution(n)
		return
	}
	if m.isTooFar(c) {
		m.reportBehind(c, from)
		return
	}
	if !m.fetcher.canWant(c.Block) {
		return
	}
	w := want{certificate: c, retryAt: m.now.Add(m.pace.resendInterval())}
	if !m.started {
		w.retryAt = m.now
	} else if from != m.self {
		m.sendTo(from, &BlockRequest{Hash: c.Block})
	} else {
		m.askNext(&w)
	}
	m.fetcher.wants = append(m.fetcher.wants, w)
}

func (m *requester) reportBehind(c *types.Certificate, from types.Address) {
	if m.started && m.now >= m.fetcher.behindAt {
		m.fetcher.behindAt = m.now.Add(m.pace.resendInterval())
		m.addReport(Behind{Certificate: c, From: from})
	}
}

// tooFarBehind reports whether the chain is known to extend beyond the blocks that
// are fetched one by one.
func (m *requester) tooFarBehind() bool {
	if m.final != nil && m.isTooFar(m.final) {
		return true
	}
	r := m.rounds[m.newest]
	return r != nil && r.notarization != nil && m.bodies.nodes[r.notarization.Block] == nil && m.isTooFar(r.notarization)
}

// retryWants asks another peer for each body that did not come.
func (m *requester) retryWants() {
	for i := range m.fetcher.wants {
		if w := &m.fetcher.wants[i]; m.now >= w.retryAt {
			w.retryAt = m.now.Add(m.pace.resendInterval())
			m.askNext(w)
		}
	}
}

// seekFinality asks one peer after another for its root's finalization, once per resend
// interval. It does so while a notarized block is above the root and the root does not
// move. A liar may keep its votes from some, and gather a finalization that only it has.
func (m *requester) seekFinality() {
	f := &m.fetcher.finality
	if m.newest <= m.rootView() {
		f.at = 0
		return
	}
	if f.at == 0 || f.above != m.rootView() {
		f.above, f.at = m.rootView(), m.now.Add(m.pace.resendInterval())
		return
	}
	if m.now < f.at {
		return
	}
	f.at = m.now.Add(m.pace.resendInterval())
	if to, ok := m.nextPeer(&f.turn); ok {
		m.sendTo(to, &CertificateRequest{Epoch: m.set.Epoch, From: m.rootView() + 1, To: m.rootView()}) // of an empty range: only finality
	}
}

func (m *requester) askNext(w *want) {
	if to, ok := m.nextPeer(&w.turn); ok {
		m.sendTo(to, &BlockRequest{Hash: w.certificate.Block})
	}
}

// requestCertificates asks for the certificates of a range of views, or for a
// block's notarization, once per resend interval and range.
func (m *requester) requestCertificates(from, to types.View, block types.Hash, peer types.Address) {
	if m.fetcher.repeatsRequest(certRequest{from, to, block}) {
		return
	}
	m.fetcher.turn++
	if m.fetcher.turn%2 == 0 || peer == m.self {
		next, ok := m.nextPeer(&m.fetcher.turn)
		if !ok {
			return
		}
		peer = next
	}
	epoch := m.set.Epoch
	if !block.IsZero() {
		epoch = m.root.Block.Header.SetEpoch
	}
	m.sendTo(peer, &CertificateRequest{Epoch: epoch, From: from, To: to, Block: block})
}
