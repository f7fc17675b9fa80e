package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// membership is which set decides now, and this validator's place in it.
type membership struct {
	self     types.Address
	previous *types.ValidatorSet // the set before the last border; nil when not known
	set      *types.ValidatorSet
	sets     Sets                  // set, and previous if it is known
	index    map[types.Address]int // each member's place in set
	me       int                   // this validator's index in set, -1 for a follower, or while it abstains
	unfit    bool                  // it cannot execute as the network does, and takes no part (decision C20)
	sitsOut  types.Millis          // it sits out until a block stamped later than this is final; 0: it takes part
	upcoming *types.ValidatorSet   // the set after the border that the root precedes
	floor    floor                 // while it sits out
}

// floor bounds the views in which a validator may have voted before its log was lost.
type floor struct {
	known bool
	epoch types.Epoch
	view  types.View // the highest of them
}

// free reports whether this validator can have cast no vote in a view that it forgot.
func (m *membership) free(v types.View) bool {
	return m.sitsOut == 0 || m.floor.known && m.floor.epoch == m.set.Epoch && v > m.floor.view
}

// install makes set the current one.
func (m *membership) install(set *types.ValidatorSet) {
	m.set, m.upcoming = set, nil
	m.sets = Sets{*set}
	if m.previous != nil {
		m.sets = append(m.sets, *m.previous)
	}
	m.index = make(map[types.Address]int, len(set.Members))
	for i := range set.Members {
		m.index[set.Members[i].Address] = i
	}
	m.me = m.place()
}

// place is this validator's index in the set as far as it takes part. A validator that sits
// out takes part from a view on that others vouch for (recovery.comeBack).
func (m *membership) place() int {
	if m.sitsOut != 0 || m.unfit {
		return -1
	}
	return m.set.Index(m.self)
}

// Sets are those that messages can be checked against now. The result is never
// changed afterwards.
func (m *membership) Sets() Sets { return m.sets }

func (m *membership) leaderIndex(v types.View) int {
	return int(uint64(v) % uint64(len(m.set.Members)))
}

// nextPeer goes around the set.
func (m *membership) nextPeer(turn *int) (types.Address, bool) {
	for range m.set.Members {
		*turn++
		to := m.set.Members[(m.me+1+*turn)%len(m.set.Members)].Address
		if to != m.self {
			return to, true
		}
	}
	return types.Address{}, false
}
