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
	Longest time.Duration        // of an item that a slow machine starves: the leader timeout in force; below Share, Share
	Left    func() time.Duration // what is left of it now; not above 0: nothing
	Begun   time.Duration        // when it began, by the caller's clock
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

// sureParts is how many paceParts a phase is sure of in a block.
func (p phase) sureParts(height types.Height) time.Duration {
	if uint64(height)%uint64(phases) == uint64(p) {
		return 2
	}
	return 1
}

// hasWork reports whether a phase has something to do in a block on this state, as
// far as that is known before the block: what its own transactions make due in it
// is not.
func (p phase) hasWork(parent *State, height types.Height) bool {
	switch p {
	case phaseFires:
		due, pending := parent.NextTimer()
		return pending && due <= height || parent.changesWait
	case phaseDeliveries:
		return parent.messagesWait()
	}
	return true
}

// firstParts is the number of first attempts that fill a proposer's share. An honest item of
// the largest limit needs a whole share at most, most need a thousandth.
const firstParts = 5

// pacer is a Pace in a block under way.
type pacer struct {
	*Pace
	phase    phase         // under way
	reserved time.Duration // what the phases to come are sure of; below 0 it is lent beyond the share
	members  int           // of the set
}

// beginPhase starts a phase. after are those that are still to come.
func (p *pacer) beginPhase(parent *State, height types.Height, now phase, after ...phase) {
	if p.Pace == nil {
		return
	}
	p.phase, p.reserved = now, 0
	for _, later := range after {
		if later.hasWork(parent, height) {
			p.reserved += p.Share / paceParts * later.sureParts(height)
		}
	}
}

// timeLeft is the time that the phase under way has left. Sessions ask it, too. Before an item
// that is lent a share, others have half of the block's. If more were cut off, the block
// would come too late for its view.
func (p *pacer) timeLeft() time.Duration {
	left := p.Left() - p.reserved
	if p.Tries.expectsLarge(p.phase) {
		left -= p.Share / 2
	}
	return left
}

// isOver reports whether the phase's time is spent.
func (p *pacer) isOver() bool { return p.Pace != nil && p.timeLeft() <= 0 }

// continuesForTry reports whether the phase under way continues though its time is spent, since the
// item that is lent a share has not come yet.
func (p *pacer) continuesForTry() bool { return p.Pace != nil && p.Tries.expectsLarge(p.phase) }

// sessionBound returns the rest of a session's time as a function; nil: no bound.
func (p *pacer) sessionBound() func() time.Duration {
	if p.Pace == nil {
		return nil
	}
	return p.timeLeft
}

// takeTurn is which turn an item of a party has in the block under way.
func (p *pacer) takeTurn(item types.Hash, party types.Address) turn {
	if p.Pace == nil {
		return turnFirst
	}
	return p.Tries.takeTurn(item, party, p.phase)
}

// startTurn bounds the time of an item from now on. A large one has a whole share, whatever
// others took of the block's. end ends the turn.
//
// Spec: decision C18.
func (p *pacer) startTurn(item types.Hash, t turn) (end func()) {
	if p.Pace == nil {
		return func() {}
	}
	reserved, before := p.reserved, p.Left()
	patience, left := p.firstPatience(), p.timeLeft()
	switch {
	case t == turnLarge:
		p.reserved = before - p.largePatience(item)
	case left > patience:
		p.reserved += left - patience
	}
	return func() {
		p.reserved = reserved
		after := p.Left()
		p.Tries.spendTime(before-after, p.Share/firstParts, p.Begun+p.Share-after, p.members)
	}
}

// firstPatience is how long a first attempt may take: a whole share while the turn of large
// items is spare, and enough of the block's time is left.
func (p *pacer) firstPatience() time.Duration {
	if p.Tries == nil || p.Tries.isSpare && p.timeLeft() >= p.Share/2 {
		return p.Share
	}
	return p.Share / firstParts
}

// starvedBelow is the CPU time below which the machine is why an attempt did not end: most of a
// whole share, or a fifth of a first attempt's. What used more of that is likely large. Where the
// network's own nodes take the processor, each repeated attempt would take it from them.
func (p *pacer) starvedBelow(whole bool) time.Duration {
	if whole {
		return p.Share * 4 / 5
	}
	return p.Share / firstParts / 5
}

// largePatience is how long a large item may take: a share, which doubles with each that it
// lost to a slow machine.
func (p *pacer) largePatience(item types.Hash) time.Duration {
	patience := p.Share
	for range p.Tries.starvedTimes(item) {
		patience = min(2*patience, max(p.Longest, p.Share))
	}
	return patience
}

// rememberedTries is what is remembered; nil: nothing.
func (p *pacer) rememberedTries() *Tries {
	if p.Pace == nil {
		return nil
	}
	return p.Tries
}
