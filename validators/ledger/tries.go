package ledger

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of a proposer's memory (decision C18).
const (
	maxTries   = 1024 // items that were cut off, or are doubted; and codes, and parties that were late
	maxMissed  = 8    // turns missed by an item before it is forgotten
	doubtEvery = 8    // a proposer tries a doubted item once in this number of its blocks
	// doubtBlocks is how long a handler is doubted after its last late attempt.
	doubtBlocks = 256
	// crashTries is in how many of a proposer's blocks a host crashes over an item before
	// the proposer lists it. It applies in a set without another witness. The sender must not be
	// charged because memory ran out once.
	crashTries = 3
	// starvedPart is which part of a share its host has had of the processor at most, if the
	// machine and not the program was slow: at load 20 on two cores a host has a tenth.
	starvedPart = 8
	// maxStarved is how many of its longest shares an item may lose to a slow machine. Work
	// that the validator does for a program is not in its host's time.
	maxStarved = 8
)

// ranCode is a handler of a code: what is doubted.
type ranCode struct {
	code    types.Hash
	handler string
}

// turn is how an item is tried in a block.
type turn uint8

const (
	turnOwn     turn = iota // within what the block has left
	turnLent                // with a separate share, since it was cut off before
	turnDoubted             // the same, since its code is doubted
	turnWaits               // not in this block
)

// Tries is a proposer's memory of items that did not end in one of its blocks. It is used
// by one goroutine.
//
// Spec: decision C18.
type Tries struct {
	items   map[types.Hash]*try
	order   []types.Hash // of items, the oldest first
	codes   memory[ranCode]
	parties memory[types.Address] // senders and actors that were late
	height  types.Height          // of the block under way
	listing []listed              // late transactions, the oldest first
	builds  uint64                // blocks begun

	next    types.Hash  // the item that is lent a share in the block under way
	met     bool        // it came
	slot    phase       // the phase that may try a doubted item in the block under way
	open    bool        // it may
	waiting [phases]int // doubted items that came in the block under way
	waited  [phases]int // in the one before
}

// try is the record of one item.
type try struct {
	phase   phase
	lends   int          // separate shares that it had
	starved int          // of the longest of them that the machine lost
	code    ranCode      // that is doubted, and that it runs; zero: it was only cut off
	ended   bool         // it ended, in a block that may have come too late
	blamed  types.Height // below it this proposer has said that it was late, and does not try it
	missed  int
	// crashes is in how many blocks the host crashed over it since it last ended.
	crashes int
}

// NewTries returns an empty memory.
func NewTries() *Tries { return &Tries{items: map[types.Hash]*try{}} }

// begin notes that a block begins, and draws which item has a separate share in it.
func (t *Tries) begin(height types.Height) {
	if t == nil {
		return
	}
	if t.next != (types.Hash{}) && !t.met {
		t.miss(t.next)
	}
	t.height, t.next, t.met = height, types.Hash{}, false
	t.builds++
	t.waited, t.waiting = t.waiting, [phases]int{}
	t.open = false
	if t.builds%doubtEvery == 0 {
		first := phase(t.builds / doubtEvery % uint64(phases))
		for i := range phases {
			if p := (first + i) % phases; t.waited[p] > 0 {
				t.slot, t.open = p, true
				return // one separate share per block
			}
		}
	}
	for _, item := range t.order {
		if one := t.items[item]; !t.aside(one) && !one.ended && t.height >= one.blamed {
			t.next = item
			return
		}
	}
}

// aside reports whether an item waits because its code is doubted.
func (t *Tries) aside(one *try) bool {
	return one.code != ranCode{} && t.codes.holds(one.code, t.height)
}

// miss puts an item that did not come after all others, and forgets it in the end.
func (t *Tries) miss(item types.Hash) {
	one := t.items[item]
	if one == nil {
		return
	}
	if one.missed++; one.missed == maxMissed {
		t.forget(item)
		return
	}
	t.order = append(slices.DeleteFunc(t.order, func(h types.Hash) bool { return h == item }), item)
}

// expects reports whether an item of a phase has a separate share in the block under way
// and has not come.
func (t *Tries) expects(p phase) bool {
	if t == nil {
		return false
	}
	return t.lendsIn(p) || t.open && t.slot == p
}

// lendsIn reports whether an item of a phase that was cut off before is to come.
func (t *Tries) lendsIn(p phase) bool {
	return t != nil && !t.met && t.items[t.next] != nil && t.items[t.next].phase == p
}

// turn is which turn an item of a party has.
func (t *Tries) turn(item types.Hash, party types.Address, p phase) turn {
	if t == nil || t.items[item] == nil {
		return turnOwn
	}
	one := t.items[item]
	switch {
	case t.height < one.blamed:
		return turnWaits
	case t.aside(one):
		t.waiting[p]++
		switch {
		case !t.open || t.slot != p:
			return turnWaits
		case p == phaseTransactions: // the best of all has the turn
			return turnDoubted
		case t.builds%(2*doubtEvery) == 0 && t.parties.holds(party, t.height): // the order of the lane is not the proposer's
			return turnWaits
		}
		t.open = false
		return turnDoubted
	case item == t.next || one.ended && t.next == (types.Hash{}):
		t.next, t.met = item, true
		return turnLent
	}
	return turnWaits
}

// prefers reports whether a doubted item of one party goes before one of another: it was
// never late.
func (t *Tries) prefers(party, to types.Address) bool {
	return t.parties.holds(to, t.height) && !t.parties.holds(party, t.height)
}

func (t *Tries) lends(item types.Hash) int {
	if t == nil || t.items[item] == nil {
		return 0
	}
	return t.items[item].lends
}

// doubts reports whether a handler of a code is doubted.
func (t *Tries) doubts(code ranCode) bool { return t != nil && t.codes.holds(code, t.height) }

// cut notes that an item was cut off by the end of its time.
func (t *Tries) cut(item types.Hash, p phase, how turn) {
	if t == nil {
		return
	}
	one := t.remember(item, p)
	one.ended, one.missed = false, 0
	if how != turnOwn {
		one.lends++
	}
}

// starve notes that an item lost its longest share to a slow machine, and reports whether it
// may lose another.
func (t *Tries) starve(item types.Hash, p phase) bool {
	if t == nil {
		return false
	}
	one := t.remember(item, p)
	one.starved++
	return one.starved <= maxStarved
}

// putAside notes that an item came to code that is doubted.
func (t *Tries) putAside(item types.Hash, p phase, code ranCode) {
	if t == nil {
		return
	}
	t.remember(item, p).code = code
	t.waiting[p]++
}

// late notes that an item was late, over which code, and who is its party.
func (t *Tries) late(item types.Hash, p phase, code ranCode, party types.Address) {
	if t == nil {
		return
	}
	t.codes.put(code, t.height+doubtBlocks)
	t.parties.put(party, t.height+doubtBlocks)
	one := t.remember(item, p)
	one.code, one.blamed = code, t.height+doubtBlocks
}

// crashed notes that the host crashed over an item, and reports whether it did so in enough
// blocks to list the item. Its code is doubted at once.
func (t *Tries) crashed(item types.Hash, p phase, code ranCode) (enough bool) {
	if t == nil {
		return true
	}
	one := t.remember(item, p)
	one.code, one.ended, one.missed = code, false, 0
	if one.crashes++; one.crashes >= crashTries {
		return true
	}
	if code != (ranCode{}) {
		t.codes.put(code, t.height+doubtBlocks)
		t.waiting[p]++
	}
	return false
}

// ended notes that an item ended. Its block may be lost: what it needed is remembered
// until it comes no more.
func (t *Tries) ended(item types.Hash) {
	if t != nil && t.items[item] != nil {
		t.items[item].ended, t.items[item].crashes = true, 0
	}
}

func (t *Tries) remember(item types.Hash, p phase) *try {
	if t.items[item] == nil {
		if len(t.order) == maxTries {
			t.forget(t.order[0])
		}
		t.items[item], t.order = &try{}, append(t.order, item)
	}
	t.items[item].phase = p
	return t.items[item]
}

// forget takes an item out of memory.
func (t *Tries) forget(item types.Hash) {
	delete(t.items, item)
	t.order = slices.DeleteFunc(t.order, func(h types.Hash) bool { return h == item })
}

// memory holds keys up to a height each, at most maxTries of them: the one put longest
// ago makes room.
type memory[K comparable] struct {
	until map[K]types.Height
	order []K // the one put longest ago first
}

func (m *memory[K]) holds(key K, now types.Height) bool { return now < m.until[key] }

func (m *memory[K]) put(key K, until types.Height) {
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
