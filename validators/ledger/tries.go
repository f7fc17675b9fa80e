package ledger

import (
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of a proposer's memory (decision C18).
const (
	maxTries  = 1024 // items that did not end, and parties that were late
	maxMissed = 8    // turns missed by an item before it is forgotten
	// largeBlocks is how long a party's items are large after one of them was late.
	largeBlocks = 256
	// lateTries is in how many of a proposer's blocks an item is late before the proposer
	// lists it: a clock that errs once charges nobody.
	lateTries = 2
	// crashTries is in how many of a proposer's blocks a host crashes over an item before
	// the proposer lists it. It applies in a set without another witness. The sender must not be
	// charged because memory ran out once.
	crashTries = 3
	// maxStarved is how many first attempts, and then how many shares, an item may lose to a slow machine.
	maxStarved = 8
	// restTimes is how long a proposer tries no large item after one, in its times for each
	// member of the set. All proposers together spend a ninth of the time on them, and so do
	// those who vote.
	restTimes = 8
)

// turn is how an item is tried in a block.
type turn uint8

const (
	turnFirst turn = iota // in a fifth of a share; in a whole one if no large item was tried lately
	turnLarge             // in a whole share
	turnWaits             // not in this block
)

// Tries is a proposer's memory of the items that did not end in one of its blocks. Most are
// large: one of them is tried in a block, and none for a while after it. It is used by one goroutine.
//
// Spec: decision C18.
type Tries struct {
	items   map[types.Hash]*try
	order   []types.Hash // of items, the oldest first
	parties memory[types.Address]
	height  types.Height        // of the block under way
	listing []listedTransaction // late transactions, the oldest first

	next    types.Hash    // the large item whose turn is in the block under way
	met     bool          // it came
	isSpare bool          // no large item waits for the turn: the first that needs it has it
	rests   time.Duration // until then no large item is tried, by the proposer's clock

	disputes disputes // items that others may execute otherwise
}

// try is the record of one item.
type try struct {
	phase   phase
	party   types.Address
	small   bool         // no attempt showed that it is large
	starved int          // first attempts while it is small, and then shares, that it lost to a slow machine
	ended   bool         // it ended, in a block that may have come too late
	blamed  types.Height // below it this proposer has said that it was late, and does not try it
	missed  int
	// failures is in how many blocks it was late, or crashed its host, since it last ended.
	failures int
}

// NewTries returns an empty memory.
func NewTries() *Tries { return &Tries{items: map[types.Hash]*try{}} }

// beginBlock notes that a block begins at a time of the proposer's clock, and draws which large
// item has its turn. Those of parties that were never late come first.
func (t *Tries) beginBlock(height types.Height, now time.Duration) {
	if t == nil {
		return
	}
	if t.next != (types.Hash{}) && !t.met {
		t.missItem(t.next)
	}
	t.height, t.next, t.met, t.isSpare = height, types.Hash{}, false, false
	t.disputes.beginBlock()
	if now < t.rests {
		return
	}
	t.isSpare = true
	for _, item := range t.order {
		one := t.items[item]
		if one.ended || one.small || t.height < one.blamed {
			continue
		}
		if wasLate := t.parties.holdsKey(one.party, t.height); t.isSpare || !wasLate {
			t.next, t.isSpare = item, false
			if !wasLate {
				return
			}
		}
	}
}

// missItem puts an item that did not come after all others, and forgets it in the end.
func (t *Tries) missItem(item types.Hash) {
	one := t.items[item]
	if one == nil {
		return
	}
	if one.missed++; one.missed == maxMissed {
		t.forgetItem(item)
		return
	}
	t.putLast(item)
}

func (t *Tries) putLast(item types.Hash) {
	t.order = append(slices.DeleteFunc(t.order, func(h types.Hash) bool { return h == item }), item)
}

// expectsLarge reports whether a large item of a phase is to come in the block under way.
func (t *Tries) expectsLarge(p phase) bool {
	return t != nil && !t.met && t.items[t.next] != nil && t.items[t.next].phase == p
}

// takeTurn is which turn an item of a party has. That of a party that was late is large from
// the start.
func (t *Tries) takeTurn(item types.Hash, party types.Address, p phase) turn {
	if t == nil {
		return turnFirst
	}
	if t.disputes.leavesOut(item) {
		return turnWaits
	}
	one := t.items[item]
	if (one == nil || one.small) && !t.parties.holdsKey(party, t.height) {
		return turnFirst
	}
	if one == nil {
		one = t.findOrAddTry(item, party, p)
	}
	one.ended, one.small = false, false
	switch {
	case t.height < one.blamed:
	case item == t.next && !t.met:
		t.met = true
		return turnLarge
	case t.isSpare:
		t.next, t.met, t.isSpare = item, true, false
		return turnLarge
	}
	return turnWaits
}

// spendTime notes that an item took some time of a block, which ends the turn of large items for
// a while if it is more than a first attempt has. members is the size of the set.
func (t *Tries) spendTime(took, first, now time.Duration, members int) {
	if t == nil || took <= first {
		return
	}
	t.isSpare = false
	t.rests = now + took*restTimes*time.Duration(members)
}

// noteCutOff notes that an item was cut off by the end of its time.
func (t *Tries) noteCutOff(item types.Hash, party types.Address, p phase) {
	if t == nil {
		return
	}
	one := t.findOrAddTry(item, party, p)
	one.ended, one.small, one.missed = false, false, 0
	t.putLast(item)
}

// starveFirst notes that the machine was too slow for a first attempt of an item, which has
// another in the next block. After maxStarved of them the item is large.
func (t *Tries) starveFirst(item types.Hash, party types.Address, p phase) {
	if t == nil {
		return
	}
	one := t.items[item]
	if one == nil {
		one = t.findOrAddTry(item, party, p)
		one.small = true
	}
	if one.starved++; one.starved == maxStarved {
		one.small, one.starved = false, 0
	}
}

// noteStarvation notes that an item lost a whole share to a slow machine, and reports whether it may
// lose another.
func (t *Tries) noteStarvation(item types.Hash) bool {
	if t == nil || t.items[item] == nil {
		return false
	}
	t.items[item].starved++
	return t.items[item].starved <= maxStarved
}

// starvedTimes is how many shares an item lost to a slow machine.
func (t *Tries) starvedTimes(item types.Hash) int {
	if t == nil || t.items[item] == nil {
		return 0
	}
	return t.items[item].starved
}

// blameParty notes that an item of a party was late.
func (t *Tries) blameParty(party types.Address) {
	if t != nil {
		t.parties.putKey(party, t.height+largeBlocks)
	}
}

// noteFailure notes that an item was late, or that the host crashed over it. It reports
// whether that happened in as many blocks as it takes to list the item.
func (t *Tries) noteFailure(item types.Hash, party types.Address, p phase, needed int) (isListed bool) {
	if t == nil {
		return true
	}
	one := t.findOrAddTry(item, party, p)
	one.ended, one.small, one.missed = false, false, 0
	if one.failures++; one.failures < needed {
		return false
	}
	one.blamed = t.height + largeBlocks
	return true
}

// endItem notes that an item ended. Its block may be lost: what it needed is remembered
// until it comes no more.
func (t *Tries) endItem(item types.Hash) {
	if t == nil || t.items[item] == nil {
		return
	}
	if t.items[item].small {
		t.forgetItem(item)
		return
	}
	t.items[item].ended, t.items[item].failures = true, 0
}

func (t *Tries) findOrAddTry(item types.Hash, party types.Address, p phase) *try {
	if t.items[item] == nil {
		if len(t.order) == maxTries {
			t.forgetItem(t.order[0])
		}
		t.items[item], t.order = &try{}, append(t.order, item)
	}
	t.items[item].phase, t.items[item].party = p, party
	return t.items[item]
}

// forgetItem takes an item out of memory.
func (t *Tries) forgetItem(item types.Hash) {
	delete(t.items, item)
	t.order = slices.DeleteFunc(t.order, func(h types.Hash) bool { return h == item })
}

// memory holds keys up to a height each, at most maxTries of them: the one put longest
// ago makes room.
type memory[K comparable] struct {
	until map[K]types.Height
	order []K // the one put longest ago first
}

func (m *memory[K]) holdsKey(key K, now types.Height) bool { return now < m.until[key] }

func (m *memory[K]) putKey(key K, until types.Height) {
	if m.until == nil {
		m.until = map[K]types.Height{}
	}
	if _, held := m.until[key]; held {
		m.order = slices.DeleteFunc(m.order, func(k K) bool { return k == key })
	} else if len(m.order) == maxTries {
		delete(m.until, m.order[0])
		m.order = m.order[1:]
	}
	m.until[key], m.order = until, append(m.order, key)
}
