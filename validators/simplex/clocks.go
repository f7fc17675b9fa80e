package simplex

import (
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// clocks has a lag for each member, by its index: this validator's clock, less the stamp of the
// member's newest proposal, when that came. A member without a proposal is unheard (decision C7).
type clocks struct {
	lags  []time.Duration
	heard []time.Duration // the lags of the members that were heard, in rising order
}

// unheard marks a member without a proposal.
const unheard = time.Duration(-1 << 63)

// lateBlocks is how many block times a stamp may lag its proposer's clock. A chain that is late
// makes up for it (ledger.Stamp).
const lateBlocks = 4

func newClocks(members int) clocks {
	c := clocks{make([]time.Duration, members), make([]time.Duration, 0, members)}
	for i := range c.lags {
		c.lags[i] = unheard
	}
	return c
}

// noteStamp takes a proposal's stamp. It keeps the order, because each step of the machine reads it.
func (c *clocks) noteStamp(member int, stamp types.Millis, now types.Time) {
	if before := c.lags[member]; before != unheard {
		at, _ := slices.BinarySearch(c.heard, before)
		c.heard = slices.Delete(c.heard, at, at+1)
	}
	c.lags[member] = now.Sub(stamp.Time())
	at, _ := slices.BinarySearch(c.heard, c.lags[member])
	c.heard = slices.Insert(c.heard, at, c.lags[member])
}

// lagBehind returns the highest lag that all but the given number of members reach, so that as
// many liars do not raise it. It is 0 if no more members were heard.
func (c *clocks) lagBehind(faulty int) time.Duration {
	if len(c.heard) <= faulty {
		return 0
	}
	return c.heard[faulty]
}

// leadAhead is the same of stamps ahead of this clock.
func (c *clocks) leadAhead(faulty int) time.Duration {
	if len(c.heard) <= faulty {
		return 0
	}
	return -c.heard[len(c.heard)-1-faulty]
}

// clockOff returns how far this validator's clock is ahead of the others', by the stamps of all
// but f of their newest proposals. A negative result is a clock that is late. The result is 0 if
// links and a late chain account for the difference. Proposals may have waited for this
// validator, so that a clock is ahead no further than the stamp of its tip allows: voters took
// that stamp by their clocks. The result is for this validator's own proposals:
// they come in time, and are stamped no later than others stamp them. Votes go by the clock as
// it is, so that f liars with stamps ahead draw no voter along.
func (m *state) clockOff() time.Duration {
	if m.tipHeader().Height < m.goal {
		return 0
	}
	sinceTip := m.clock.Sub(m.tipHeader().Timestamp.Time()) + m.pace.Drift()
	if by := min(m.clocks.lagBehind(m.set.MaxFaulty()), sinceTip); by > m.pace.Drift()+lateBlocks*m.pace.BlockTime {
		return by
	}
	if by := m.clocks.leadAhead(m.set.MaxFaulty()); by > m.pace.Drift() {
		return -by
	}
	return 0
}

// clockAhead is what a proposal's stamp takes off the clock. It reports a clock that is off.
func (m *state) clockAhead() time.Duration {
	off := m.clockOff()
	if off != 0 {
		m.addReport(ClockOff{Whose: m.self, By: off})
	}
	return max(off, 0)
}

// tellClock reports whose clock is off where a proposal is stamped too far ahead.
func (m *state) tellClock(leader types.Address, stamp types.Millis) {
	if off := m.clockOff(); off < 0 {
		m.addReport(ClockOff{Whose: m.self, By: off})
		return
	}
	m.addReport(ClockOff{Whose: leader, By: stamp.Time().Sub(m.clock)})
}
