package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// driftsOut is how many allowed drifts (decision C7) a final block must be
// stamped after the start of a validator whose log is lost, before it votes
// again: one for how far ahead of a voter's clock a stamp may be, one for how far
// that clock may be ahead of this one.
const driftsOut = 2

// beginRecovery records in an empty or lost log that a validator has begun, and on which root. So a
// log that is empty or shorter later was lost.
//
// If the log of an earlier process run is lost, all or its end, the validator sits out. It
// follows the chain and votes for nothing until a block is final that was made after this
// start. The views that it voted in before lie no higher: it entered the highest of them,
// v, by a certificate of v-1. At least one honest validator among the makers of that
// certificate voted for the later block too, and its views only rise; and a view that was
// nullified has no finalization, nor had one with an older block. A crash does not end it:
// what begin wrote stays in the log.
//
// If no validator may be missing (f = 0), the network would stop, so it continues
// to vote (finding F17).
//
// An empty log may be a lost one. So others are asked first (settle).
func (m *recovery) beginRecovery() {
	m.claim.since = m.now
	switch {
	case m.cfg.Lost:
		m.beginLog(true)
	case m.begun || m.unproven:
	case m.asking:
		m.unproven, m.log = true, m.cfg.Life
		m.persistRecord(unprovenRecord(m.root.Hash, m.cfg.Life))
	default:
		m.beginLog(false)
	}
}

// beginLog begins the log: as that of a validator that has forgotten votes, if lost is true.
func (m *recovery) beginLog(lost bool) {
	m.begun, m.unproven, m.log = true, false, types.Life{}
	m.stranger, m.floor, m.vouchers = stranger{}, floor{}, vouchers{}
	if lost && m.set.MaxFaulty() > 0 {
		m.sitsOut = m.now.Add(driftsOut * m.pace.Drift()).Millis()
		m.me = m.ownPlace()
		m.addReport(SitsOut{Until: m.sitsOut})
	}
	m.persistRecord(beginRecord(m.sitsOut, m.root.Hash))
}

// comeBack ends a sitting out when a block made after it began is final. Before that, if
// others vouch for a view, it lets this validator vote from that view on. It reports
// whether this validator votes.
func (m *recovery) comeBack() bool {
	if m.stranger.seen && m.rootHeight() >= m.stranger.height+StrangerBlocks {
		m.beginLog(true)
		return true
	}
	if m.sitsOut == 0 {
		return false
	}
	if m.root.Block.Header.Timestamp > m.sitsOut {
		m.sitsOut, m.floor, m.vouchers = 0, floor{}, vouchers{}
	} else if m.me >= 0 || !m.isFreeOf(m.view) || m.set.Index(m.self) < 0 {
		return false
	}
	if m.me >= 0 { // it votes already
		return true
	}
	if m.isAbstaining() {
		return false
	}
	m.me = m.set.Index(m.self)
	m.addReport(ComesBack{})
	return true
}

// vouchSpan is how many views after a certificate that a quorum knows a validator that
// forgot its votes may have voted. It entered its last view, v, by a certificate of
// v-1. An honest voter for that certificate had entered v-1 by one of v-2.
const vouchSpan = 2

// vouchers are the answers to one life's requests for views, of one epoch.
type vouchers struct {
	nonce   uint64 // 0: nothing was asked yet
	epoch   types.Epoch
	answers map[types.Address]types.View // the view of the certificate that each knows; at most one a member
	at      types.Time                   // when those that did not answer are asked next
}

// seekVouchers asks all members that did not answer yet for their views, once per resend
// interval. It does so while this validator sits out and has no floor in the present epoch.
func (m *recovery) seekVouchers() {
	if m.now < m.vouchersDue() {
		return
	}
	v := &m.vouchers
	if v.nonce == 0 {
		v.nonce = max(1, uint64(m.now))
	}
	if v.answers == nil || v.epoch != m.set.Epoch {
		v.epoch, v.answers = m.set.Epoch, map[types.Address]types.View{}
	}
	v.at = m.now.Add(m.pace.resendInterval())
	for i := range m.set.Members {
		to := m.set.Members[i].Address
		if _, answered := v.answers[to]; !answered && to != m.self {
			m.sendTo(to, &ViewRequest{Nonce: v.nonce})
		}
	}
}

// vouchersDue is when members are asked for their views, or types.Never.
func (m *recovery) vouchersDue() types.Time {
	if m.sitsOut == 0 || m.floor.known && m.floor.epoch == m.set.Epoch || m.set.Index(m.self) < 0 {
		return types.Never
	}
	if m.vouchers.answers == nil || m.vouchers.epoch != m.set.Epoch {
		return 0
	}
	return m.vouchers.at
}

// takeViewAnswer takes a member's answer. From n - f of them, given after this start, follows the
// highest view in which this validator can have voted before (decision C5).
func (m *recovery) takeViewAnswer(from types.Address, a *ViewAnswer) {
	v := &m.vouchers
	if a.Nonce != v.nonce || v.answers == nil || a.Epoch != m.set.Epoch || v.epoch != a.Epoch || m.vouchersDue() == types.Never {
		return
	}
	v.answers[from] = m.rootView()
	if a.Certificate != nil {
		v.answers[from] = max(m.rootView(), a.Certificate.View)
		m.receiveCertificate(from, a.Certificate)
	}
	if len(v.answers) < m.set.Quorum() {
		return
	}
	f := floor{known: true, epoch: a.Epoch, view: m.rootView()}
	for _, known := range v.answers { // order: the highest is taken
		f.view = max(f.view, known)
	}
	f.view += vouchSpan
	m.floor = f
	m.persistRecord(vouchRecord(f))
}
