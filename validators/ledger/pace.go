package ledger

import (
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Pace is the time that a proposer has to execute what it proposes: transactions,
// questions to agents, fires and deliveries (decisions C4, C18). Its clock is the
// caller's. A nil Pace is of somebody who has all the time.
type Pace struct {
	Share time.Duration        // all of it
	Left  func() time.Duration // what is left of it now; not above 0: nothing
	Tries *Tries               // what the proposer gave up before; nil: nothing is remembered
}

// paceParts are those of the proposer's time. Transactions, fires with their
// bidders, and deliveries are each sure of one of them, in every third block of
// two, where there is anything for them to do: so none can keep another from its
// turn for ever. Each has what those before it left.
const paceParts = 4

// phase is a part of a block that takes the proposer's time.
type phase uint64

// The phases. Under the policy gba fires come before transactions (decision T3):
// the order in which they come is no part of what follows.
const (
	phaseTransactions phase = iota
	phaseFires
	phaseDeliveries
	phases
)

// parts is how many paceParts a phase is sure of in a block.
func (p phase) parts(height types.Height) time.Duration {
	if uint64(height)%uint64(phases) == uint64(p) {
		return 2
	}
	return 1
}

// waits reports whether a phase has something to do in a block on this state, as
// far as that is known before the block: what its own transactions make due in it
// is not.
func (p phase) waits(parent *State, height types.Height) bool {
	switch p {
	case phaseFires:
		due, pending := parent.NextTimer()
		return pending && due <= height || parent.changesWait
	case phaseDeliveries:
		return parent.messagesWait()
	}
	return true
}

// pacer is a Pace in a block under way.
type pacer struct {
	*Pace
	reserved time.Duration // what the phases to come are sure of; below 0 it is lent beyond the share
	lent     bool          // something in this block had a share of its own
}

// begin starts a phase. after are those that are still to come.
func (p *pacer) begin(parent *State, height types.Height, after ...phase) {
	if p.Pace == nil {
		return
	}
	p.reserved = 0
	for _, later := range after {
		if later.waits(parent, height) {
			p.reserved += p.Share / paceParts * later.parts(height)
		}
	}
}

// left is what the phase under way has left. Sessions ask it, too.
func (p *pacer) left() time.Duration { return p.Left() - p.reserved }

// over reports whether the phase's time is spent.
func (p *pacer) over() bool { return p.Pace != nil && p.left() <= 0 }

// bound is what a session is bounded by; nil: nothing.
func (p *pacer) bound() func() time.Duration {
	if p.Pace == nil {
		return nil
	}
	return p.left
}

// chances are what is given to something that was given up: shares of its own,
// twice the block's share the first time and twice as long each time more. After
// these it has failed.
type chances struct {
	lends int
	rest  types.Height // for each share lent, before another item of the kind is lent one
}

// Fires, deliveries and questions pay in the end. A transaction does not: what
// hangs may take a quarter of a share a block, of four validators, and no more.
var (
	chancesOfLane  = chances{lends: 2}
	chancesOfSends = chances{lends: 3, rest: 16}
)

// lendable reports whether an item that was given up in an earlier block can have
// a share of its own in this one. One a block can, or it would come too late for
// its view every time.
func (p *pacer) lendable(item types.Hash, height types.Height, c chances) bool {
	return p.knows(item, height) && !p.lent && (c.rest == 0 || height >= p.Tries.rests)
}

// lend begins the turn of an item: what was given up in an earlier block has a
// share of its own, whatever others took of the block's, so that what is merely
// late ends and what hangs is known to. back ends the turn.
//
// Spec: decision C18; builder's choice (F34).
func (p *pacer) lend(item types.Hash, height types.Height, c chances) (lent bool, back func()) {
	if !p.lendable(item, height, c) {
		return false, func() {}
	}
	shares := 2 << p.Tries.of[item].lends
	if c.rest > 0 {
		p.Tries.rests = height + types.Height(shares)*c.rest
	}
	reserved := p.reserved
	p.lent, p.reserved = true, p.Left()-p.Share*time.Duration(shares)
	return true, func() { p.reserved = reserved }
}

// knows reports whether an item was given up in an earlier block.
func (p *pacer) knows(item types.Hash, height types.Height) bool {
	return p.Pace != nil && p.Tries.holds(item, height)
}

// failed reports whether an item had all its chances at this proposer.
func (p *pacer) failed(item types.Hash, height types.Height) bool {
	return p.Pace != nil && p.Tries.failed(item, height)
}

// forget notes that an item ended.
func (p *pacer) forget(item types.Hash) {
	if p.Pace != nil {
		p.Tries.forget(item)
	}
}

// Limits of what a proposer remembers.
const (
	maxTries     = 1024 // items
	blamedBlocks = 256  // how long one is blamed without being tried again
)

// Tries is what a proposer remembers of what did not end before its time was
// over. It is used by one goroutine.
type Tries struct {
	of    map[types.Hash]*try
	order []types.Hash // oldest first
	rests types.Height // the height below which no transaction is lent a share
}

// try is what is known of one item.
type try struct {
	times  int          // how often it was given up
	lends  int          // how often with a share of its own
	failed bool         // the item had all of its chances
	until  types.Height // the height below which it is remembered
}

// NewTries returns an empty memory.
func NewTries() *Tries { return &Tries{of: map[types.Hash]*try{}} }

// holds reports whether an item was given up before.
func (t *Tries) holds(item types.Hash, now types.Height) bool {
	return t != nil && t.of[item] != nil && now < t.of[item].until
}

// failed reports whether an item had all its chances: it is not tried again for a
// while, since that would cost every block of this proposer a share.
func (t *Tries) failed(item types.Hash, now types.Height) bool {
	return t.holds(item, now) && t.of[item].failed
}

// late notes that an item was given up, and reports how often that came to pass,
// and whether it had all of its chances.
func (t *Tries) late(item types.Hash, now types.Height, lent bool, c chances) (times int, failed bool) {
	if t == nil {
		return 1, false
	}
	if !t.holds(item, now) {
		t.forget(item)
		if len(t.order) == maxTries {
			t.forget(t.order[0])
		}
		t.of[item], t.order = &try{}, append(t.order, item)
	}
	one := t.of[item]
	one.until = now + blamedBlocks
	one.times++
	if lent {
		one.lends++
	}
	one.failed = one.lends >= c.lends
	return one.times, one.failed
}

// forget takes an item out of memory: it ended.
func (t *Tries) forget(item types.Hash) {
	if t == nil || t.of[item] == nil {
		return
	}
	delete(t.of, item)
	t.order = slices.DeleteFunc(t.order, func(h types.Hash) bool { return h == item })
}
