package simplex

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// lives knows which life each member has, and tells a newcomer whether an older life of
// its key answers (decision C5). It holds one life and one newcomer of each member.
type lives struct {
	*responder
	known   map[types.Address]*acquaintance
	waiting int // newcomers of known: mostly none
}

// acquaintance is the life that a member has, and a newer one that asks for its place.
type acquaintance struct {
	life, newer types.Life // newer is zero without one
	until       types.Time // when newer has the place of life, if that has not answered
}

// answerLife takes the life of a member. If it knows another one of that key, it asks that
// one for a sign of life. It answers when it has the sign, or has waited long enough.
func (m *lives) answerLife(from types.Address, request *LifeRequest) {
	if request.Life.IsZero() || !m.spendRequest(from) || m.waits {
		return
	}
	m.recordFirstLog(from, request.Log)
	a := m.known[from]
	switch {
	case a == nil:
		m.meetLife(from, request.Life)
		if m.asking { // it has begun just now: what it was sent before is lost
			m.sendTo(from, m.lifeRequest())
		}
		m.tellLife(from, false)
	case a.life == request.Life:
		m.tellLife(from, false)
	case a.newer != request.Life:
		a.newer = request.Life
		fallthrough
	case a.until == types.Never:
		if a.until == types.Never {
			m.waiting++
		}
		a.until = m.now.Add(m.pace.pingTimeout())
		m.sendTo(from, m.lifeRequest())
	}
}

// meetLife takes a life of a key that no other life is known of.
func (m *lives) meetLife(from types.Address, life types.Life) {
	if m.known == nil {
		m.known = map[types.Address]*acquaintance{}
	}
	m.known[from] = &acquaintance{life: life, until: types.Never}
}

// hearLife takes what a member says of its life. The older life that a newcomer waits for
// has answered with it.
func (m *lives) hearLife(from types.Address, life types.Life) {
	a := m.known[from]
	switch {
	case life.IsZero():
	case a == nil:
		m.meetLife(from, life)
	case a.life == life && a.until != types.Never:
		m.tellLife(from, true)
		a.until = types.Never
		m.waiting--
	}
}

// replaceSilent gives newcomers the place of lives that have not answered.
func (m *lives) replaceSilent() {
	if m.waiting == 0 {
		return
	}
	for i := range m.set.Members {
		at := m.set.Members[i].Address
		if a := m.known[at]; a != nil && m.now >= a.until {
			*a = acquaintance{life: a.newer, until: types.Never}
			m.waiting--
			m.tellLife(at, false)
		}
	}
}

// silentDue is when the next newcomer gets the place of a silent life, or types.Never.
func (m *lives) silentDue() types.Time {
	at := types.Never
	if m.waiting == 0 {
		return at
	}
	for _, a := range m.known { // order: the lowest
		at = min(at, a.until)
	}
	return at
}

// tellLife answers the life that a member has, or the newer one, if older is true.
func (m *lives) tellLife(to types.Address, older bool) {
	a := m.known[to]
	life := a.life
	if older {
		life = a.newer
	}
	m.sendTo(to, &LifeAnswer{For: life, Own: m.cfg.Life, First: m.firstLogs[to], Older: older, Python: m.cfg.Python})
}

// keepMembers forgets lives of those that are members no more.
func (m *lives) keepMembers() {
	for at, a := range m.known { // order: each by itself
		if _, member := m.index[at]; !member {
			if a.until != types.Never {
				m.waiting--
			}
			delete(m.known, at)
		}
	}
}

// claim is what others answer a life that asks whether it is its key's only one.
type claim struct {
	since   types.Time
	waited  bool                         // an older life answered f + 1 others at some time
	answers map[types.Address]lifeAnswer // at most one a member
	at      types.Time                   // when members are asked next
}

// lifeAnswer is what one member answered.
type lifeAnswer struct {
	older bool       // an older life answers it
	first types.Life // LifeAnswer.First
}

// settleEmptyLog lets a life take part that is its key's only one, and reports whether it did. As
// soon as f + 1 others say that an older one answers, it waits until that ends. It does not
// wait for the last f answers, nor long for more than those.
//
// An empty log is begun: as a new one, if n - f - 1 others heard of no other log of its key
// before, and else as a lost one. Where an older life has ended, its votes are unknown here.
func (m *recovery) settleEmptyLog() bool {
	if !m.asking || m.set.Index(m.self) < 0 {
		return false
	}
	c := &m.claim
	others, faulty := len(m.set.Members)-1, m.set.MaxFaulty()
	answered, older, strange := len(c.answers), 0, 0
	for _, a := range c.answers { // order: counts
		if a.older {
			older++
		}
		if a.older || m.unproven && (m.log.IsZero() || a.first != m.log) {
			strange++
		}
	}
	if older > faulty {
		if c.waited = true; !m.waits {
			m.waits = true
			m.addReport(Waits{Answers: older})
		}
		return false
	}
	late := m.now >= c.since.Add(claimDelays*m.pace.LinkDelay)
	isNew := answered-strange >= others-faulty
	if !isNew && answered < others && !(late && answered >= others-faulty) {
		return false
	}
	m.asking, m.waits = false, false
	m.addReport(Settled{})
	switch {
	case m.stranger.seen: // it returns as a lost log later
	case c.waited:
		m.beginLog(true)
	case m.unproven:
		m.beginLog(!isNew || m.voted)
	}
	m.me = m.ownPlace()
	return true
}

// seekLives asks members whether an older life answers them: those without an answer, and
// those whose answer was yes.
func (m *recovery) seekLives() {
	if m.now < m.livesDue() {
		return
	}
	c := &m.claim
	c.at = m.now.Add(m.pace.resendInterval())
	for i := range m.set.Members {
		to := m.set.Members[i].Address
		if answer, answered := c.answers[to]; to != m.self && (!answered || answer.older) {
			m.sendTo(to, m.lifeRequest())
		}
	}
}

// livesDue is when members are asked for lives, or types.Never.
func (m *recovery) livesDue() types.Time {
	if !m.asking || m.set.Index(m.self) < 0 {
		return types.Never
	}
	return m.claim.at
}

// takeLife takes a member's answer.
func (m *recovery) takeLife(from types.Address, a *LifeAnswer) {
	if !m.asking || a.For != m.cfg.Life {
		return
	}
	c := &m.claim
	if c.answers == nil {
		c.answers = map[types.Address]lifeAnswer{}
	}
	c.answers[from] = lifeAnswer{older: a.Older, first: a.First}
}

func (m *state) lifeRequest() *LifeRequest {
	return &LifeRequest{Life: m.cfg.Life, Log: m.log, Python: m.cfg.Python}
}

// pingTimeout is how long a life has to answer.
func (p *pacemaker) pingTimeout() time.Duration { return pingDelays * p.LinkDelay }
