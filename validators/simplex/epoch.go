package simplex

import (
	"github.com/cowboyinc/devnet/internal/base/types"
)

// beginEpoch crosses a border. The block before it named the new set when it was
// executed (Machine.executed checks that set by the header). Consensus starts
// again: its views are numbered from the last block's view on, and certificates of
// the old set prove nothing about them.
func (m *Machine) beginEpoch() bool {
	if m.upcoming == nil {
		return false
	}
	m.previous, m.edge = m.set, m.root
	set := m.upcoming
	m.installSet(set)
	m.keepMembers()
	m.newest = m.rootView()
	m.forgetBlocks(m.bodies.dropAll(&m.root)...)
	m.fetcher.wants = nil
	m.resumeRecords()
	m.enterView(m.resumeView(), m.root.Finalization)
	return true
}

// caughtUp moves the machine to a root that catch-up brought.
func (m *Machine) caughtUp(e CaughtUp) {
	if e.Root.Block == nil || e.Root.Block.Header.Height <= m.rootHeight() || checkSet(&e.Set, &e.Root.Block.Header) != nil {
		return
	}
	m.recognizeOwn(e.Root.Finalization)
	m.recognizeOwn(e.Root.Notarization)
	m.gap = m.pace.BlockTime
	if e.Set.Epoch == m.set.Epoch {
		m.moveRoot(e.Root)
		m.newest = max(m.newest, m.rootView())
		if m.final != nil && m.final.Height <= m.rootHeight() {
			m.final = nil
		}
		if m.view <= m.rootView() {
			m.enterView(m.rootView()+1, e.Root.Finalization)
		}
		m.executeChildren(m.root.Hash)
		return
	}
	set := e.Set
	m.previous, m.root, m.edge = e.Previous, e.Root, Root{}
	if e.Previous != nil && e.Root.Block.Header.Border() {
		m.edge = e.Root
	}
	m.forgetBlocks(m.bodies.dropAll(&m.root)...)
	m.fetcher.wants = nil
	m.installSet(&set)
	m.keepMembers()
	m.newest = m.rootView()
	m.resumeRecords()
	m.enterView(m.resumeView(), nil)
}

// rejoinView begins after New: at the view that the records prove to be reached,
// where what was sent is sent again.
func (m *Machine) rejoinView() {
	view := m.resumeView()
	m.hearAll(view)
	m.view = view
	m.enterView(view, m.bestCertificate())
	for _, r := range m.sortedRounds() {
		if c := r.notarization; c != nil {
			m.requestBody(c, m.self)
		}
	}
	m.executeChildren(m.root.Hash) // of views that are gone, too
	for back := min(resendBack, view-1); back > 0; back-- {
		if r := m.rounds[view-back]; r != nil && view-back > m.rootView() {
			m.resendFinalize(r)
		}
	}
	m.resendRound(m.rounds[view])
}

// resumeView returns the view after the highest with a certificate or, if that is
// later, the highest with an own vote.
func (m *Machine) resumeView() types.View {
	v := m.rootView() + 1
	for _, r := range m.sortedRounds() {
		if r.bestCertificate() != nil {
			v = max(v, r.view+1)
		}
		if r.own != [3]*types.Vote{} || r.proposal != nil {
			v = max(v, r.view)
		}
	}
	return v
}
