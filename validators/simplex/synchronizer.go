package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// synchronizer enters views by certificates, gives them up when their time is over, and
// sends again what others may have missed.
type synchronizer struct{ *collector }

// advanceView enters the view after the highest one that has a certificate.
func (m *synchronizer) advanceView() bool {
	c := m.top
	if c == nil || c.View < m.view || m.hasReachedBorder() {
		return false
	}
	m.enterView(c.View+1, c)
	return true
}

// enterView begins a view, forwarding the certificate that allows it (decision C4).
func (m *synchronizer) enterView(v types.View, by *types.Certificate) {
	if v > m.view+1 {
		m.hearAll(v)
	}
	m.view, m.entered = v, m.now
	m.pace.beginView(m.inVain(v), len(m.set.Members))
	m.fetcher.last = certRequest{}
	if by != nil {
		m.broadcastMessage(by)
	}
	m.addReport(Entered{Epoch: m.set.Epoch, View: v, Leader: m.set.Leader(v)})
	m.openRound(v)
	if v > MaxPastViews {
		m.retireView(v - MaxPastViews)
	}
}

// inVain counts the views before v since the last that is known to be final, up to the
// number that makes a difference. The view directly before v counts only if this validator
// nullified it, or it has no notarization. Otherwise the votes that make it final are under
// way. A view that is notarized and not final had votes that came too late for some, so
// that timeouts were too short (decision C4).
func (m *synchronizer) inVain(v types.View) (count int) {
	limit := len(m.set.Members) + maxDoublings
	u := v - 1
	if r := m.rounds[u]; r != nil && r.notarization != nil && r.ownVote(types.Nullify) == nil {
		u--
	}
	for ; u > m.rootView() && count < limit; u-- {
		if r := m.rounds[u]; r != nil && r.finalization != nil {
			break
		}
		count++
	}
	return count
}

// retireView drops the votes of a past view, and its proposal's body if no member can
// need it: it has no notarization and not this validator's vote.
func (m *synchronizer) retireView(v types.View) {
	r := m.rounds[v]
	if r == nil {
		return
	}
	r.forgetVotes()
	if n := m.bodies.nodes[r.hash]; n != nil && r.proposal != nil && !n.notarized && r.ownVote(types.Notarize) == nil {
		m.detachBody(n)
	}
	r.proposal = nil
}

// timeOut votes nullify by decision C4, and starts the timeouts.
func (m *synchronizer) timeOut() bool {
	m.armTimeouts()
	r := m.rounds[m.view]
	if r == nil || m.hasReachedBorder() || m.me < 0 || r.ownVote(types.Nullify) != nil || r.ownVote(types.Finalize) != nil {
		return false
	}
	cause, detail := m.nullifyCause(r)
	if cause == NoCause {
		return false
	}
	m.addReport(GaveUp{Epoch: m.set.Epoch, View: r.view, Leader: m.set.Leader(r.view), Cause: cause, Detail: detail})
	m.castVote(r, &types.Vote{Kind: types.Nullify})
	return true
}

func (m *synchronizer) isOverdue(r *round) bool {
	return m.now >= m.pace.viewDeadline() || r.proposal == nil && m.now >= m.pace.leaderDeadline()
}

// armTimeouts starts the timeouts of the view: at once, or with Timing.Auto or Hold when
// there is something to do.
func (m *synchronizer) armTimeouts() {
	if !m.pace.armed && !m.hasReachedBorder() && m.hasSomethingToDo() {
		m.pace.startTimeouts(m.now)
	}
}

// hasSomethingToDo reports whether there is something to do in this view: work, another
// member that began, or for a resend interval a block that did not become final.
func (m *synchronizer) hasSomethingToDo() bool {
	return m.inDemand() || m.othersActive() ||
		m.hasUnfinished() && m.now >= m.entered.Add(m.pace.resendInterval())
}

// inDemand reports whether another block is to be made.
func (m *synchronizer) inDemand() bool {
	return m.tipHeader().Height < m.goal || !m.paused && (!m.pace.Auto || m.hasWork)
}

func (m *synchronizer) othersActive() bool {
	r := m.rounds[m.view]
	if r == nil {
		return false
	}
	own := r.own != [3]*types.Vote{}
	return own || r.proposal != nil || r.ballotOf(types.Notarize).votes != nil || r.ballotOf(types.Nullify).votes != nil
}

// disarmIdle stops timeouts that only work had started.
func (m *synchronizer) disarmIdle() {
	if r := m.rounds[m.view]; m.pace.armed && r != nil && !r.buildRequested && !m.hasSomethingToDo() {
		m.pace.armed = false
	}
}

// hasUnfinished reports whether a notarized block above the root waits for
// finality, or a body for its fetching.
func (m *synchronizer) hasUnfinished() bool {
	return m.final != nil || len(m.fetcher.wants) > 0 || m.newest > m.rootView()
}

// resendOwnMessages sends again what others may have missed: own votes of this view, own
// finalize votes of views that are not final, and, when the view is late, the
// best certificate.
func (m *synchronizer) resendOwnMessages() {
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
	if m.pace.isLate(m.now) {
		if best := m.bestCertificate(); best != nil {
			m.broadcastMessage(best)
		}
	}
}

func (m *synchronizer) resendRound(r *round) {
	if r == nil || !m.dueAgain(r) {
		return
	}
	if r.proposal != nil && m.leaderIndex(m.view) == m.me {
		m.broadcastMessage(r.proposal)
	}
	for _, v := range r.own {
		if v != nil {
			m.broadcastMessage(v)
		}
	}
	r.sent = m.now
}

// dueAgain reports whether a round's messages were last sent an interval ago,
// or in an earlier run.
func (m *synchronizer) dueAgain(r *round) bool {
	return r.sent == 0 || m.now >= r.sent.Add(m.pace.resendInterval())
}

func (m *synchronizer) resendFinalize(r *round) {
	if r == nil || r.finalization != nil || r.ownVote(types.Finalize) == nil || !m.dueAgain(r) {
		return
	}
	m.broadcastMessage(r.ownVote(types.Finalize))
	r.sent = m.now
}
