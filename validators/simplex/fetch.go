package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// want is a body that is notarized or final and not held.
type want struct {
	certificate *types.Certificate
	retryAt     types.Time
	turn        int // whom to ask next, counted from this validator's place
}

// certRequest is the certificates of a range of views, or a block's notarization.
type certRequest struct {
	from, to types.View
	block    types.Hash
}

// fetcher is what the machine lacks and has asked its peers for.
type fetcher struct {
	wants    []want      // the bodies asked for, at most MaxWanted
	last     certRequest // what was last asked for in this resend interval
	turn     int         // whom to ask for certificates next, counted from this validator's place
	behindAt types.Time  // no earlier is Behind reported again
}

// find returns the want of a body, or nil.
func (f *fetcher) find(hash types.Hash) *want {
	for i := range f.wants {
		if f.wants[i].certificate.Block == hash {
			return &f.wants[i]
		}
	}
	return nil
}

// takes reports whether a body may be wanted that is not yet.
func (f *fetcher) takes(hash types.Hash) bool { return f.find(hash) == nil && len(f.wants) < MaxWanted }

// unanswered reports whether a body was asked for all around a set of so many in
// vain: peers keep MaxRecentBlocks, and none across a restart.
func (f *fetcher) unanswered(hash types.Hash, members int) bool {
	w := f.find(hash)
	return w != nil && w.turn > members
}

// add has a body asked for at a time: what came was not valid.
func (f *fetcher) add(c *types.Certificate, at types.Time) {
	if f.takes(c.Block) {
		f.wants = append(f.wants, want{certificate: c, retryAt: at})
	}
}

// drop wants a body no longer.
func (f *fetcher) drop(hash types.Hash) {
	for i := range f.wants {
		if f.wants[i].certificate.Block == hash {
			f.wants = append(f.wants[:i], f.wants[i+1:]...)
			return
		}
	}
}

// dropUpTo wants no bodies up to a height.
func (f *fetcher) dropUpTo(height types.Height) {
	kept := f.wants[:0]
	for _, w := range f.wants {
		if w.certificate.Height > height {
			kept = append(kept, w)
		}
	}
	f.wants = kept
}

// retryAt is when a body is to be asked for again at the earliest.
func (f *fetcher) retryAt() types.Time {
	at := types.Never
	for i := range f.wants {
		at = min(at, f.wants[i].retryAt)
	}
	return at
}

// repeats notes a request for certificates, and reports whether it is the one
// before once more.
func (f *fetcher) repeats(r certRequest) bool {
	if f.last == r && (r.from != 0 || r.to != 0) {
		return true
	}
	f.last = r
	return false
}

// requestBody marks a body as notarized: it is executed where it is held, and
// asked for where it is not. A gap too wide is reported instead.
func (m *Machine) requestBody(c *types.Certificate, from types.Address) {
	if c.Block == m.root.Hash || c.Height <= m.rootHeight() {
		return
	}
	if n := m.bodies.nodes[c.Block]; n != nil {
		n.notarized = true
		m.execute(n)
		return
	}
	if m.far(c) {
		m.behind(c, from)
		return
	}
	if !m.fetcher.takes(c.Block) {
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

func (m *Machine) behind(c *types.Certificate, from types.Address) {
	if m.started && m.now >= m.fetcher.behindAt {
		m.fetcher.behindAt = m.now.Add(m.pace.resendInterval())
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
	return r != nil && r.notarization != nil && m.bodies.nodes[r.notarization.Block] == nil && m.far(r.notarization)
}

// retryWants asks another peer for each body that did not come.
func (m *Machine) retryWants() {
	for i := range m.fetcher.wants {
		if w := &m.fetcher.wants[i]; m.now >= w.retryAt {
			w.retryAt = m.now.Add(m.pace.resendInterval())
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

// requestCertificates asks for the certificates of a range of views, or for a
// block's notarization, once per resend interval and range.
func (m *Machine) requestCertificates(from, to types.View, block types.Hash, peer types.Address) {
	if m.fetcher.repeats(certRequest{from, to, block}) {
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

// receiveBlock takes a body that was asked for.
func (m *Machine) receiveBlock(from types.Address, b VerifiedBlock) {
	if m.fetcher.find(b.hash) == nil || b.block.Parent == nil && b.block.Header.Parent != m.root.Hash {
		return
	}
	m.fetcher.drop(b.hash)
	n := m.attach(b.block, b.hash, from)
	if n == nil {
		return
	}
	n.notarized = true
	m.learnCarried(b.block, from)
	if _, ready := m.bodies.parentOf(b.block, &m.root); ready {
		m.execute(n)
	} else if b.block.Parent != nil {
		m.requestBody(b.block.Parent, from)
	}
}

// answerBlock sends a body that is held. Whoever asks for another may ask for one
// that was final long ago, and know nothing of that: where it alone missed the
// finalization, and its vote is needed for the next, it would ask for ever. So it
// is sent the root's, by which it fetches the range.
func (m *Machine) answerBlock(to types.Address, request *BlockRequest) {
	if !m.spend(to) {
		return
	}
	if block := m.bodies.find(request.Hash); block != nil {
		m.sendTo(to, &BlockAnswer{Block: block})
	} else if m.root.Finalization != nil {
		m.sendTo(to, m.root.Finalization)
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
		m.sendMissingCertificate(to, request.Epoch, request.From)
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
	if n := m.bodies.nodes[hash]; n != nil {
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
