package simplex

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// views is what is known of the views of the current set above the root's. Views behind a
// border are numbered on from the root's view, in which the current set begins.
type views struct {
	rounds  map[types.View]*round // at most MaxOpenViews
	view    types.View            // the current one
	entered types.Time            // when it began
	newest  types.View            // the highest with a notarization or finalization
	heard   []types.View          // the view in which each member was heard last, by index
	top     *types.Certificate    // the certificate of the highest view that has one
}

// begin starts anew, for a set of so many members, above the root's view.
func (m *views) begin(root types.View, members int) {
	m.rounds, m.view, m.top = map[types.View]*round{}, root, nil
	m.heard = make([]types.View, members)
	for i := range m.heard {
		m.heard[i] = root
	}
}

// View is the current view.
func (m *views) View() types.View { return m.view }

// open returns the round of a view above the root's, or nil when there are too
// many.
func (m *views) open(v types.View) *round {
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

func (m *views) nullified(v types.View) bool {
	r := m.rounds[v]
	return r != nil && r.nullification != nil
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
