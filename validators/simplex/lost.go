package simplex

// driftsOut is how many allowed drifts (decision C7) a final block must be
// stamped after the start of a validator whose log is lost, before it votes
// again: one for how far ahead of a voter's clock a stamp may be, one for how far
// that clock may be ahead of this one.
const driftsOut = 2

// begin writes into a log that is empty or lost that a validator has begun, and on
// which root, so that one that is empty or shorter later was lost.
//
// Where the log of an earlier life is lost, all or its end, the validator sits out: it follows the
// chain and votes for nothing until a block is final that was made after this
// start. The views that it voted in before lie no higher: it entered the highest
// of them, v, by a certificate of v-1. Of those who made that certificate at least
// one honest validator voted for the later block too, and its views only rise; and
// a view that was nullified has no finalization, nor had one with an older block.
// A crash does not end it: what begin wrote stays in the log.
//
// Where no validator may be missing (f = 0) the network would stand still, so
// there it votes on (finding F17).
func (m *recovery) begin() {
	if m.begun && !m.cfg.Lost {
		return
	}
	m.begun = true
	if m.cfg.Lost && m.set.MaxFaulty() > 0 {
		m.sitsOut = m.now.Add(driftsOut * m.pace.drift()).Millis()
		m.me = m.place()
		m.report(SitsOut{Until: m.sitsOut})
	}
	m.persist(beginRecord(m.sitsOut, m.root.Hash))
}

// comeBack ends a sitting out when a block made after it began is final, and
// reports whether it did.
func (m *recovery) comeBack() bool {
	if m.sitsOut == 0 || m.root.Block.Header.Timestamp <= m.sitsOut {
		return false
	}
	m.sitsOut = 0
	m.me = m.place()
	m.report(ComesBack{})
	return true
}
