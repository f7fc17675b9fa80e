package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// want is a body that is notarized or final and not held.
type want struct {
	certificate *types.Certificate
	retryAt     types.Time
	turn        int // whom to ask next, counted from this validator's place
}

// lack is the certificates that were last asked for in this resend interval.
type lack struct {
	from, to types.View
	block    types.Hash
}

// need marks a body as notarized: it is executed where it is held, and asked
// for where it is not. A gap too wide is reported instead.
func (m *Machine) need(c *types.Certificate, from types.Address) {
	if c.Block == m.root.Hash || c.Height <= m.rootHeight() {
		return
	}
	if n := m.nodes[c.Block]; n != nil {
		n.notarized = true
		m.execute(n)
		return
	}
	if m.far(c) {
		m.behind(c, from)
		return
	}
	if m.wanted(c.Block) || len(m.wants) >= MaxWanted {
		return
	}
	w := want{certificate: c, retryAt: m.now.Add(m.resendInterval())}
	if !m.started {
		w.retryAt = m.now
	} else if from != m.self {
		m.sendTo(from, &BlockRequest{Hash: c.Block})
	} else {
		m.askNext(&w)
	}
	m.wants = append(m.wants, w)
}

func (m *Machine) behind(c *types.Certificate, from types.Address) {
	if m.started && m.now >= m.behindAt {
		m.behindAt = m.now.Add(m.resendInterval())
		m.report(Behind{Certificate: c, From: from})
	}
}

// far reports whether a block is more than MaxFetchBlocks above the root. Each
// block has a height and a view of its own, and heights may be skipped
// (decision C8): the lesser distance counts.
func (m *Machine) far(c *types.Certificate) bool {
	return c.Height > m.rootHeight()+MaxFetchBlocks && c.View > m.rootView()+MaxFetchBlocks
}

// tooFarBehind reports whether the chain is known to go on beyond what is
// fetched block by block.
func (m *Machine) tooFarBehind() bool {
	if m.final != nil && m.far(m.final) {
		return true
	}
	r := m.rounds[m.newest]
	return r != nil && r.notarization != nil && m.nodes[r.notarization.Block] == nil && m.far(r.notarization)
}

func (m *Machine) wanted(hash types.Hash) bool {
	for i := range m.wants {
		if m.wants[i].certificate.Block == hash {
			return true
		}
	}
	return false
}

// unanswered reports whether a body was asked for all around the set in vain:
// peers keep MaxRecentBlocks, and none across a restart.
func (m *Machine) unanswered(hash types.Hash) bool {
	for i := range m.wants {
		if w := &m.wants[i]; w.certificate.Block == hash {
			return w.turn > len(m.set.Members)
		}
	}
	return false
}

func (m *Machine) unwant(hash types.Hash) {
	for i := range m.wants {
		if m.wants[i].certificate.Block == hash {
			m.wants = append(m.wants[:i], m.wants[i+1:]...)
			return
		}
	}
}

// wantLater asks for a body again when an interval has passed: what came was
// not valid.
func (m *Machine) wantLater(c *types.Certificate) {
	if m.wanted(c.Block) || len(m.wants) >= MaxWanted {
		return
	}
	m.wants = append(m.wants, want{certificate: c, retryAt: m.now.Add(m.resendInterval())})
}

// retryWants asks another peer for each body that did not come.
func (m *Machine) retryWants() {
	for i := range m.wants {
		if w := &m.wants[i]; m.now >= w.retryAt {
			w.retryAt = m.now.Add(m.resendInterval())
			m.askNext(w)
		}
	}
}

func (m *Machine) askNext(w *want) {
	if to, ok := m.nextPeer(&w.turn); ok {
		m.sendTo(to, &BlockRequest{Hash: w.certificate.Block})
	}
}

// nextPeer goes around the set.
func (m *Machine) nextPeer(turn *int) (types.Address, bool) {
	for range m.set.Members {
		*turn++
		to := m.set.Members[(m.me+1+*turn)%len(m.set.Members)].Address
		if to != m.self {
			return to, true
		}
	}
	return types.Address{}, false
}

// seek asks for the certificates of a range of views, or for a block's
// notarization, once per resend interval and range.
func (m *Machine) seek(from, to types.View, block types.Hash, peer types.Address) {
	if m.lack.from == from && m.lack.to == to && m.lack.block == block && (from != 0 || to != 0) {
		return
	}
	m.lack.from, m.lack.to, m.lack.block = from, to, block
	m.turn++
	if m.turn%2 == 0 || peer == m.self {
		next, ok := m.nextPeer(&m.turn)
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

// receiveBlock takes a body that was asked for.
func (m *Machine) receiveBlock(from types.Address, b VerifiedBlock) {
	if !m.wanted(b.hash) || b.block.Parent == nil && b.block.Header.Parent != m.root.Hash {
		return
	}
	m.unwant(b.hash)
	n := m.attach(b.block, b.hash, from)
	if n == nil {
		return
	}
	n.notarized = true
	m.learnCarried(b.block, from)
	if _, ready := m.parentOf(b.block); ready {
		m.execute(n)
	} else if b.block.Parent != nil {
		m.need(b.block.Parent, from)
	}
}

// answerBlock sends a body that is held.
func (m *Machine) answerBlock(to types.Address, request *BlockRequest) {
	if !m.spend(to) {
		return
	}
	if n := m.nodes[request.Hash]; n != nil {
		m.sendTo(to, &BlockAnswer{Block: n.block})
		return
	}
	for _, n := range m.recent {
		if n.hash == request.Hash {
			m.sendTo(to, &BlockAnswer{Block: n.block})
			return
		}
	}
}

// answerCertificates sends what is held of a range of views.
func (m *Machine) answerCertificates(to types.Address, request *CertificateRequest) {
	if !m.spend(to) {
		return
	}
	if !request.Block.IsZero() {
		if c := m.notarizationHeld(request.Block); c != nil {
			m.sendTo(to, c)
		}
		return
	}
	if request.Epoch != m.set.Epoch {
		m.help(to, request.Epoch, request.From)
		return
	}
	sent := 0
	for v := max(request.From, m.rootView()); v <= request.To && v < m.view && sent < MaxCertificatesPerAnswer; v++ {
		r := m.rounds[v]
		if r == nil {
			continue
		}
		for _, c := range []*types.Certificate{r.notarization, r.nullification} {
			if c != nil {
				m.sendTo(to, c)
				sent++
			}
		}
	}
}

func (m *Machine) notarizationHeld(hash types.Hash) *types.Certificate {
	if hash == m.edge.Hash {
		return m.edge.Notarization
	}
	if hash == m.root.Hash {
		if r := m.rounds[m.rootView()]; r != nil && r.notarization != nil && r.notarization.Block == hash {
			return r.notarization
		}
		return m.root.Notarization
	}
	if n := m.nodes[hash]; n != nil {
		return m.certificateFor(n)
	}
	return nil
}

// spend counts a request of a peer against its limit.
func (m *Machine) spend(of types.Address) bool {
	p := m.budget(of)
	if p == nil || p.requests >= MaxRequests {
		return false
	}
	p.requests++
	return true
}
