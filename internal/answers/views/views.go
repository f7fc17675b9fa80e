// Package views holds the reports of a network's validators on its latest views: the
// leader of each, the votes seen, the outcome, and the validators that gave it up, with
// causes. Worlds tell a Table; scripts, the HTTP API and the page read it.
package views

import (
	"cmp"
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Limits of a table.
const (
	// Kept is the maximum number of known views: the latest to begin.
	Kept = 4096
	// maxGaveUp bounds the words on why one view was given up, also where validators
	// restart within it and give it up again.
	maxGaveUp = 512
	// maxMembers bounds the validators that are told apart. Votes are verified, so that
	// only those of a set get in.
	maxMembers = 1 << 12
)

// Table is the latest views of a network. The zero value is ready. It is safe for
// concurrent use; a report costs a lock and a look at the votes of a certificate.
type Table struct {
	mu      sync.Mutex
	now     types.Time // time of the last report
	rows    []*row     // in the order they began, from first on, around
	first   int
	at      map[key]*row
	latest  types.View
	failed  uint64 // views that were nullified
	members []types.Address
	index   map[types.Address]int // positions in members
}

type key struct {
	epoch types.Epoch
	view  types.View
}

// row is one view, as it is told.
type row struct {
	View
	failure uint64                  // how many views were nullified with it; 0: it was not
	votes   [types.Finalize + 1]set // by the kind of vote
}

// View is one view, by the validators' reports. Times of 0 did not come.
type View struct {
	Epoch                       types.Epoch
	View                        types.View
	Leader                      types.Address // zero: unknown
	Began                       types.Time
	Height                      types.Height // of the block that was notarized or final; 0: of none
	Notarized, Final, Nullified types.Time
	GaveUp                      []Surrender
	Votes                       [types.Finalize + 1][]int // by the kind of vote: positions among the members
}

// Surrender is a validator's word on why it gave a view up.
type Surrender struct {
	Node   string
	Cause  simplex.Cause
	Detail string
}

// Tell takes a report of a validator's consensus, and returns whether it was about a
// view.
func (t *Table) Tell(at types.Time, node string, report simplex.Report) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = max(t.now, at)
	switch r := report.(type) {
	case simplex.Entered:
		t.findOrAddView(at, r.Epoch, r.View).Leader = r.Leader
	case simplex.GaveUp:
		v := t.findOrAddView(at, r.Epoch, r.View)
		v.Leader = r.Leader
		v.addSurrender(Surrender{node, r.Cause, r.Detail})
	case simplex.Notarized:
		v := t.findOrAddView(at, r.Certificate.Epoch, r.Certificate.View)
		v.Height, v.Notarized = r.Certificate.Height, cmp.Or(v.Notarized, at)
		t.addVotes(v, r.Certificate)
	case simplex.Nullified:
		v := t.findOrAddView(at, r.Certificate.Epoch, r.Certificate.View)
		if v.Nullified == 0 && t.at[key{v.Epoch, v.View.View}] == v {
			t.failed++
			v.failure = t.failed
		}
		v.Nullified = cmp.Or(v.Nullified, at)
		t.addVotes(v, r.Certificate)
	case simplex.Finalized:
		t.onFinalized(at, &r)
	default:
		return false
	}
	return true
}

func (t *Table) onFinalized(at types.Time, r *simplex.Finalized) {
	for _, b := range r.Blocks {
		v := t.findOrAddView(at, b.Header.SetEpoch, b.Header.View)
		v.Leader, v.Height, v.Final = b.Header.Proposer, b.Header.Height, cmp.Or(v.Final, at)
		for _, carried := range []*types.Certificate{b.Parent, b.Finalization} {
			if carried != nil {
				t.addVotes(t.at[key{carried.Epoch, carried.View}], carried)
			}
		}
	}
	for _, c := range []*types.Certificate{r.Notarization, r.Finalization} {
		if c != nil {
			t.addVotes(t.at[key{c.Epoch, c.View}], c)
		}
	}
}

// addVotes adds the votes of a certificate to its view, which is nil if unknown.
func (t *Table) addVotes(v *row, c *types.Certificate) {
	if v == nil || int(c.Kind) >= len(v.votes) {
		return
	}
	for i := range c.Votes {
		if n, known := t.memberIndex(c.Votes[i].Validator); known {
			v.votes[c.Kind].addMember(n)
		}
	}
}

func (t *Table) memberIndex(a types.Address) (n int, known bool) {
	if n, known = t.index[a]; known || len(t.members) == maxMembers {
		return n, known
	}
	if t.index == nil {
		t.index = map[types.Address]int{}
	}
	n = len(t.members)
	t.members, t.index[a] = append(t.members, a), n
	return n, true
}

func (v *row) addSurrender(s Surrender) {
	if len(v.GaveUp) < maxGaveUp && !slices.Contains(v.GaveUp, s) {
		v.GaveUp = append(v.GaveUp, s)
	}
}

// findOrAddView returns the view with an epoch and number, begun at a time if it is new.
// Reports on a view older than all kept ones are dropped.
func (t *Table) findOrAddView(at types.Time, e types.Epoch, number types.View) *row {
	k := key{e, number}
	if v := t.at[k]; v != nil {
		return v
	}
	v := &row{View: View{Epoch: e, View: number, Began: at}}
	if t.at == nil {
		t.at = map[key]*row{}
	}
	if len(t.rows) < Kept {
		t.rows = append(t.rows, v)
	} else {
		oldest := t.rows[t.first]
		if e < oldest.Epoch || e == oldest.Epoch && number < oldest.View.View {
			return v
		}
		delete(t.at, key{oldest.Epoch, oldest.View.View})
		t.rows[t.first] = v
		t.first = (t.first + 1) % Kept
	}
	t.at[k] = v
	t.latest = max(t.latest, number)
	return v
}

// Pass advances the time to now, if no report did.
func (t *Table) Pass(now types.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = max(t.now, now)
}

// Forget forgets all views: the network is at an earlier state again.
func (t *Table) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows, t.first, t.at, t.latest, t.failed = nil, 0, nil, 0, 0
}

// set is a set of small numbers.
type set []uint64

func (s *set) addMember(n int) {
	for len(*s) <= n/64 {
		*s = append(*s, 0)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

func (s set) listMembers() (all []int) {
	for i, word := range s {
		for bit := range 64 {
			if word&(1<<bit) != 0 {
				all = append(all, 64*i+bit)
			}
		}
	}
	return all
}
