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
	asking   bool                  // it does not know yet whether an older life of its key answers others
	waits    bool                  // an older life of its key answers too many others
	voted    bool                  // a vote of an earlier life was seen while asking
	unproven bool                  // its log began empty, and others have not said yet that it forgot no vote
	log      types.Life            // the life in which an unproven log began; zero if it is not unproven
	stranger stranger              // a vote of its key that it did not cast
	sitsOut  types.Millis          // it sits out until a block stamped later than this is final; 0: it takes part
	upcoming *types.ValidatorSet   // the set after the border that the root precedes
	floor    floor                 // while it sits out
	// firstLogs has the first log that was ever heard of each key, in this log as well. It is
	// zero for a key of which a vote was heard before.
	firstLogs map[types.Address]types.Life
}

// floor bounds the views in which a validator may have voted before its log was lost.
type floor struct {
	known bool
	epoch types.Epoch
	view  types.View // the highest of them
}

// stranger is the last vote of this validator's key that it did not cast.
type stranger struct {
	seen   bool         // it takes no part
	height types.Height // of the root when it was seen
	told   bool         // it was reported, and does not halt this validator: none may be missing
}

// keepFirstLog keeps the first log of a key, and reports whether it is that.
func (m *membership) keepFirstLog(of types.Address, log types.Life) bool {
	if _, kept := m.firstLogs[of]; kept {
		return false
	}
	if m.firstLogs == nil {
		m.firstLogs = map[types.Address]types.Life{}
	}
	m.firstLogs[of] = log
	return true
}

// isFreeOf reports whether this validator can have cast no vote in a view that it forgot.
func (m *membership) isFreeOf(v types.View) bool {
	return m.sitsOut == 0 || m.floor.known && m.floor.epoch == m.set.Epoch && v > m.floor.view
}

// installSet makes set the current one.
func (m *membership) installSet(set *types.ValidatorSet) {
	m.set, m.upcoming = set, nil
	m.sets = Sets{*set}
	if m.previous != nil {
		m.sets = append(m.sets, *m.previous)
	}
	m.index = make(map[types.Address]int, len(set.Members))
	for i := range set.Members {
		m.index[set.Members[i].Address] = i
	}
	m.me = m.ownPlace()
}

// ownPlace is this validator's index in the set as far as it takes part. A validator that sits
// out takes part from a view on that others vouch for (recovery.comeBack).
func (m *membership) ownPlace() int {
	if m.sitsOut != 0 || m.isAbstaining() {
		return -1
	}
	return m.set.Index(m.self)
}

// isAbstaining reports whether it takes no part for a reason that no view ends.
func (m *membership) isAbstaining() bool { return m.unfit || m.asking || m.stranger.seen }

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
