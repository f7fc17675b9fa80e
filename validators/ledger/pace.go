package ledger

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Pace is the time that a proposer has to execute what it proposes: transactions,
// questions to agents, fires and deliveries (decisions C4, C18). The caller
// supplies its clock. A nil Pace has no time limit.
type Pace struct {
	Share   time.Duration        // all of it
	Longest time.Duration        // the longest share that is lent; below Share, Share
	Left    func() time.Duration // what is left of it now; not above 0: nothing
	Tries   *Tries               // what the proposer remembers of blocks before; nil: nothing is remembered
}

// paceParts is the number of parts of the proposer's time. Transactions, fires with
// their bidders, and deliveries each get one part for sure, in every third block of
// two, if they have work: so none can keep another from its turn without end. Each
// has what those before it left.
const paceParts = 4

// phase is a part of a block that takes the proposer's time.
type phase uint64

// The phases. Under the policy gba fires come before transactions (decision T3):
// nothing depends on the order of these constants.
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
	phase    phase         // under way
	reserved time.Duration // what the phases to come are sure of; below 0 it is lent beyond the share
	special  bool          // the item under way is tried as doubted: no code is left alone for being so
}

// begin starts a phase. after are those that are still to come.
func (p *pacer) begin(parent *State, height types.Height, now phase, after ...phase) {
	if p.Pace == nil {
		return
	}
	p.phase, p.reserved = now, 0
	for _, later := range after {
		if later.waits(parent, height) {
			p.reserved += p.Share / paceParts * later.parts(height)
		}
	}
}

// left is the time that the phase under way has left. Sessions ask it, too. Before an item
// that is lent a share, others have half of the block's. If more were cut off, the block
// would come too late for its view.
func (p *pacer) left() time.Duration {
	left := p.Left() - p.reserved
	if p.Tries.lendsIn(p.phase) {
		left -= p.Share / 2
	}
	return left
}

// over reports whether the phase's time is spent.
func (p *pacer) over() bool { return p.Pace != nil && p.left() <= 0 }

// wants reports whether the phase under way continues though its time is spent, since the
// item that is lent a share has not come yet.
func (p *pacer) wants() bool { return p.Pace != nil && p.Tries.expects(p.phase) }

// bound returns the rest of a session's time as a function; nil: no bound.
func (p *pacer) bound() func() time.Duration {
	if p.Pace == nil {
		return nil
	}
	return p.left
}

// turn is which turn an item has in the block under way.
func (p *pacer) turn(item types.Hash, party types.Address) turn {
	if p.Pace == nil {
		return turnOwn
	}
	return p.Tries.turn(item, party, p.phase)
}

// give begins an item's turn. An item that was cut off before, or is doubted, has a
// separate share, whatever others took of the block's. back ends the turn.
//
// Spec: decision C18.
func (p *pacer) give(item types.Hash, t turn) (back func()) {
	if t == turnOwn || p.Pace == nil {
		return func() {}
	}
	reserved := p.reserved
	share, _ := p.lending(item)
	p.reserved, p.special = p.Left()-share, t == turnDoubted
	return func() { p.reserved, p.special = reserved, false }
}

// lending is the separate share that an item has next, and whether none is longer.
func (p *pacer) lending(item types.Hash) (share time.Duration, longest bool) {
	if p.Pace == nil {
		return 0, true
	}
	most := max(p.Longest, p.Share)
	share = p.Share
	for range p.Tries.lends(item) + 1 {
		if share = min(2*share, most); share == most {
			return share, true
		}
	}
	return share, false
}

// tries is what is remembered; nil: nothing.
func (p *pacer) tries() *Tries {
	if p.Pace == nil {
		return nil
	}
	return p.Tries
}

// doubts reports whether a proposer leaves a handler of a code for the end of its block.
func (p *pacer) doubts(code ranCode) bool {
	return p.Pace != nil && !p.special && p.Tries.doubts(code)
}
