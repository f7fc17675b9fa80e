package ledger

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of a proposer's memory of suspected items (decision C2).
const (
	maxSuspects = 1024 // items of its blocks that found no quorum
	maxDisputed = 256  // items that it leaves out for good, the newest
	// maxStrikes is how often a block with one item alone misses its quorum before the item
	// is disputed. A lost frame or a slow voter also makes it miss.
	maxStrikes = 3
)

// disputes is what a proposer suspects after its blocks missed their quorum: some item may
// end otherwise on other machines. The proposer makes a block without all suspects, then one
// with half of a group of them alone. So it finds the item in a few blocks, and the blocks
// between them are final.
//
// Spec: decision C2.
type disputes struct {
	groups   [][]types.Hash // suspects, the next to be tried first
	trying   []types.Hash   // those that the block under way may have, and nothing else
	strikes  map[types.Hash]int
	disputed []types.Hash // left out for good
	failures int          // own blocks in a row that found no quorum
}

// beginBlock decides what the block that begins may have.
func (d *disputes) beginBlock() {
	d.trying = nil
	if len(d.groups) == 0 || d.failures > 0 {
		return
	}
	group := d.groups[0]
	half := (len(group) + 1) / 2
	d.trying = group[:half:half]
	if d.groups = d.groups[1:]; half < len(group) {
		d.groups = slices.Insert(d.groups, 0, group[half:])
	}
}

// leavesOut reports whether the block under way is made without an item.
func (d *disputes) leavesOut(item types.Hash) bool {
	if len(d.trying) > 0 {
		return !slices.Contains(d.trying, item)
	}
	return slices.Contains(d.disputed, item) ||
		slices.ContainsFunc(d.groups, func(group []types.Hash) bool { return slices.Contains(group, item) })
}

// noteFailure notes that an own block with these items found no quorum; stalled says that no other
// block did since. It returns an item that is disputed from now on.
func (d *disputes) noteFailure(items []types.Hash, stalled bool) (found types.Hash, is bool) {
	d.failures++
	tried := slices.DeleteFunc(slices.Clone(d.trying), func(h types.Hash) bool { return !slices.Contains(items, h) })
	switch {
	case len(tried) == 1:
		return d.countStrike(tried[0])
	case len(tried) > 1:
		d.groups = slices.Insert(d.groups, 0, tried)
	case len(items) > 0 && (stalled || d.failures > 1) && d.countSuspects()+len(items) <= maxSuspects:
		d.groups = append(d.groups, slices.Clone(items))
	}
	return found, false
}

// countStrike counts a block with one item alone.
func (d *disputes) countStrike(item types.Hash) (types.Hash, bool) {
	if d.strikes == nil {
		d.strikes = map[types.Hash]int{}
	}
	if d.strikes[item]++; d.strikes[item] < maxStrikes {
		d.groups = append(d.groups, []types.Hash{item})
		return types.Hash{}, false
	}
	delete(d.strikes, item)
	if d.disputed = append(d.disputed, item); len(d.disputed) > maxDisputed {
		d.disputed = d.disputed[1:]
	}
	return item, true
}

// noteQuorum notes that an own block found a quorum.
func (d *disputes) noteQuorum() { d.failures = 0 }

// forgetItems forgets items that are in a block with a quorum.
func (d *disputes) forgetItems(items []types.Hash) {
	if len(d.groups) == 0 && len(d.disputed) == 0 {
		return
	}
	done := func(h types.Hash) bool { return slices.Contains(items, h) }
	for i, group := range d.groups {
		d.groups[i] = slices.DeleteFunc(slices.Clone(group), done)
	}
	d.groups = slices.DeleteFunc(d.groups, func(group []types.Hash) bool { return len(group) == 0 })
	d.disputed = slices.DeleteFunc(d.disputed, done)
	for _, item := range items {
		delete(d.strikes, item)
	}
}

func (d *disputes) countSuspects() (n int) {
	for _, group := range d.groups {
		n += len(group)
	}
	return n
}

// Refused notes that a block of this proposer with these items found no quorum; stalled says
// that no other block did since. The item that it returns, if there is one, is disputed:
// others execute it otherwise, and this proposer leaves it out from now on, uncharged.
//
// Spec: decision C2.
func (t *Tries) Refused(items []types.Hash, stalled bool) (disputed types.Hash, is bool) {
	return t.disputes.noteFailure(items, stalled)
}

// Accepted notes that a block of this proposer found a quorum.
func (t *Tries) Accepted() { t.disputes.noteQuorum() }

// Ended forgets items that a final block has.
func (t *Tries) Ended(items []types.Hash) { t.disputes.forgetItems(items) }
