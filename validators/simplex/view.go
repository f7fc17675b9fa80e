package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// open returns the round of a view above the root's, or nil when there are too
// many.
func (m *Machine) open(v types.View) *round {
	if r := m.rounds[v]; r != nil {
		return r
	}
	if len(m.rounds) >= MaxOpenViews {
		return nil
	}
	r := &round{view: v}
	m.rounds[v] = r
	return r
}

func (m *Machine) nullified(v types.View) bool {
	r := m.rounds[v]
	return r != nil && r.nullification != nil
}

func (m *Machine) leaderIndex(v types.View) int { return int(uint64(v) % uint64(len(m.set.Members))) }

// advance enters the view after the highest one that has a certificate.
func (m *Machine) advance() bool {
	c := m.top
	if c == nil || c.View < m.view || m.ended() {
		return false
	}
	m.enter(c.View+1, c)
	return true
}

// enter begins a view, forwarding the certificate that allows it (decision C4).
func (m *Machine) enter(v types.View, by *types.Certificate) {
	if v > m.view+1 {
		m.hearAll(v)
	}
	m.view, m.entered = v, m.now
	m.pace.begin(uint64(v - 1 - min(v-1, max(m.newest, m.rootView()))))
	m.fetcher.last = certRequest{}
	if by != nil {
		m.broadcast(by)
	}
	m.report(Entered{Epoch: m.set.Epoch, View: v, Leader: m.set.Leader(v)})
	m.open(v)
	if v > MaxPastViews {
		m.retire(v - MaxPastViews)
	}
}

// hearAll counts everyone as heard: who skips views has not listened.
func (m *Machine) hearAll(in types.View) {
	for i := range m.heard {
		m.heard[i] = in
	}
}

// retire drops the votes of a view that is past, and its proposal's body where
// nobody can need it: it has no notarization and not this validator's vote.
func (m *Machine) retire(v types.View) {
	r := m.rounds[v]
	if r == nil {
		return
	}
	r.forgetVotes()
	if n := m.bodies.nodes[r.hash]; n != nil && r.proposal != nil && !n.notarized && r.ownVote(types.Notarize) == nil {
		m.detach(n)
	}
	r.proposal = nil
}

// timeOut votes nullify where decision C4 says so, and starts the timeouts.
func (m *Machine) timeOut() bool {
	m.arm()
	r := m.rounds[m.view]
	if r == nil || m.ended() || m.me < 0 || r.ownVote(types.Nullify) != nil || r.ownVote(types.Finalize) != nil {
		return false
	}
	cause, detail := m.cause(r)
	if cause == NoCause {
		return false
	}
	m.report(GaveUp{Epoch: m.set.Epoch, View: r.view, Leader: m.set.Leader(r.view), Cause: cause, Detail: detail})
	m.vote(r, &types.Vote{Kind: types.Nullify})
	return true
}

func (m *Machine) overdue(r *round) bool {
	return m.now >= m.pace.viewDeadline() || r.proposal == nil && m.now >= m.pace.leaderDeadline()
}

// arm starts the timeouts of the view: at once, or with Config.Auto or Hold when
// there is something to do.
func (m *Machine) arm() {
	if !m.pace.armed && !m.ended() && m.active() {
		m.pace.arm(m.now)
	}
}

// active reports whether there is something to do in this view: work, somebody
// else who began, or for a resend interval a block that did not become final.
func (m *Machine) active() bool {
	return m.inDemand() || m.othersActive() ||
		m.unfinished() && m.now >= m.entered.Add(m.pace.resendInterval())
}

// inDemand reports whether another block is to be made.
func (m *Machine) inDemand() bool {
	return m.tip().Height < m.goal || !m.paused && (!m.pace.Auto || m.hasWork)
}

// tip is the header of the block notarized last or, where that is not held, of
// the root.
func (m *Machine) tip() *types.Header {
	if n := m.newestNode(); n != nil {
		return &n.block.Header
	}
	return &m.root.Block.Header
}

func (m *Machine) othersActive() bool {
	r := m.rounds[m.view]
	if r == nil {
		return false
	}
	own := r.own != [3]*types.Vote{}
	return own || r.proposal != nil || r.ballot(types.Notarize).votes != nil || r.ballot(types.Nullify).votes != nil
}

// disarmIdle stops timeouts that only work had started.
func (m *Machine) disarmIdle() {
	if r := m.rounds[m.view]; m.pace.armed && r != nil && !r.buildRequested && !m.active() {
		m.pace.armed = false
	}
}

// unfinished reports whether a notarized block above the root waits for
// finality, or a body for its fetching.
func (m *Machine) unfinished() bool {
	return m.final != nil || len(m.fetcher.wants) > 0 || m.newest > m.rootView()
}

// Deadline is when Step wants a Tick, or types.Never.
func (m *Machine) Deadline() types.Time {
	if !m.started {
		return types.Never
	}
	at := min(m.fetcher.retryAt(), m.bodies.retryAt())
	if m.ended() {
		return at
	}
	if !m.pace.armed {
		if m.unfinished() {
			at = min(at, m.entered.Add(m.pace.resendInterval()))
		}
		return at
	}
	at = min(at, m.pace.resendAt)
	r := m.rounds[m.view]
	if r == nil {
		return at
	}
	if m.me >= 0 && r.ownVote(types.Nullify) == nil && r.ownVote(types.Finalize) == nil {
		at = min(at, m.pace.viewDeadline())
		if r.proposal == nil {
			at = min(at, m.pace.leaderDeadline())
		}
	}
	if m.leading(r) && m.now < m.buildAt() {
		at = min(at, m.buildAt())
	}
	return at
}

// resend sends again what others may have missed: own votes of this view, own
// finalize votes of views that are not final, and, when the view is late, the
// best certificate.
func (m *Machine) resend() {
	if !m.pace.armed || m.now < m.pace.resendAt {
		return
	}
	m.pace.resendAt = m.now.Add(m.pace.resendInterval())
	m.fetcher.last = certRequest{}
	m.resendRound(m.rounds[m.view])
	for back := types.View(1); back <= resendBack && back < m.view; back++ {
		if v := m.view - back; v > m.rootView() {
			m.resendFinalize(m.rounds[v])
		}
	}
	if m.pace.late(m.now) {
		if best := m.bestCertificate(); best != nil {
			m.broadcast(best)
		}
	}
}

func (m *Machine) resendRound(r *round) {
	if r == nil || !m.dueAgain(r) {
		return
	}
	if r.proposal != nil && m.leaderIndex(m.view) == m.me {
		m.broadcast(r.proposal)
	}
	for _, v := range r.own {
		if v != nil {
			m.broadcast(v)
		}
	}
	r.sent = m.now
}

// dueAgain reports whether a round's messages were last sent an interval ago,
// or in an earlier run.
func (m *Machine) dueAgain(r *round) bool {
	return r.sent == 0 || m.now >= r.sent.Add(m.pace.resendInterval())
}

func (m *Machine) resendFinalize(r *round) {
	if r == nil || r.finalization != nil || r.ownVote(types.Finalize) == nil || !m.dueAgain(r) {
		return
	}
	m.broadcast(r.ownVote(types.Finalize))
	r.sent = m.now
}

// bestCertificate is what shows others that this view was reached.
func (m *Machine) bestCertificate() *types.Certificate {
	if m.view > 0 {
		if r := m.rounds[m.view-1]; r != nil && r.best() != nil {
			return r.best()
		}
	}
	return m.root.Finalization
}
