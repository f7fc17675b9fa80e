package simplex

import (
	"math"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// views is the machine's knowledge of the views of the current set above the root's.
// Views after a border are numbered on from the root's view, in which the current set
// begins.
type views struct {
	rounds  map[types.View]*round // at most MaxOpenViews
	gone    viewSet               // nullified views whose rounds made room for later ones
	view    types.View            // the current one
	entered types.Time            // when it began
	newest  types.View            // the highest with a notarization or finalization
	heard   []types.View          // the view in which each member was heard last, by index
	clocks  clocks                // of the members
	top     *types.Certificate    // the certificate of the highest view that has one
}

// beginAbove starts again, for a set with the given number of members, above the root's
// view.
func (m *views) beginAbove(root types.View, members int) {
	m.rounds, m.view, m.top, m.gone = map[types.View]*round{}, root, nil, viewSet{}
	m.heard, m.clocks = make([]types.View, members), newClocks(members)
	for i := range m.heard {
		m.heard[i] = root
	}
}

// View is the current view.
func (m *views) View() types.View { return m.view }

// openRound returns the round of a view above the root's, or nil if it is gone or no other can
// make room.
func (m *views) openRound(v types.View) *round {
	if r := m.rounds[v]; r != nil {
		return r
	}
	if m.gone.hasView(v) || len(m.rounds) >= MaxOpenViews && !m.makeRoom(v) {
		return nil
	}
	r := &round{view: v}
	m.rounds[v] = r
	return r
}

// makeRoom drops the lowest round that is nullified and long past at a view. Only that it was
// nullified is remembered: a validator votes in no view that is gone, whatever it voted there.
func (m *views) makeRoom(at types.View) bool {
	lowest := types.View(math.MaxUint64)
	for v, r := range m.rounds { // order: the lowest
		if r.nullification != nil && v < lowest && v != m.newest {
			lowest = v
		}
	}
	if at < MaxPastViews || lowest >= at-MaxPastViews {
		return false
	}
	delete(m.rounds, lowest)
	m.gone.addView(lowest)
	return true
}

func (m *views) isNullified(v types.View) bool {
	r := m.rounds[v]
	return r != nil && r.nullification != nil || m.gone.hasView(v)
}

// viewSet is a set of views, one bit a view; the first is a multiple of 64.
type viewSet struct {
	first types.View
	bits  []uint64
}

// addView takes a view. Views are added in rising order, but for a few.
func (s *viewSet) addView(v types.View) {
	word := v - v%64
	if len(s.bits) == 0 {
		s.first = word
	}
	if word < s.first {
		s.bits, s.first = append(make([]uint64, (s.first-word)/64), s.bits...), word
	}
	for s.endView() <= v {
		s.bits = append(s.bits, 0)
	}
	s.bits[(v-s.first)/64] |= 1 << ((v - s.first) % 64)
}

func (s *viewSet) hasView(v types.View) bool {
	return v >= s.first && v < s.endView() && s.bits[(v-s.first)/64]>>((v-s.first)%64)&1 == 1
}

// endView is the first view beyond the bits.
func (s *viewSet) endView() types.View { return s.first + types.View(64*len(s.bits)) }

// firstOpen is the first view from..to without a known nullification. It is rounded down to
// the steps in which an answer gives certificates, so that the certificates of one answer
// start no new request.
func (m *views) firstOpen(from, to types.View) types.View {
	v := from
	for v < to && m.isNullified(v) {
		v++
	}
	return max(from, v-v%certificateStep)
}

// hearAll counts everyone as heard: who skips views has not listened.
func (m *views) hearAll(in types.View) {
	for i := range m.heard {
		m.heard[i] = in
	}
}

func (m *views) sortedRounds() []*round {
	rounds := make([]*round, 0, len(m.rounds))
	for _, r := range m.rounds {
		rounds = append(rounds, r)
	}
	slices.SortFunc(rounds, func(a, b *round) int {
		if a.view < b.view {
			return -1
		}
		return 1
	})
	return rounds
}
