package ledger

import (
	"time"

	"github.com/cowboyinc/devnet/internal/types"
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
	reserved time.Duration // for the phases to come
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

// fair reports whether something that began when the phase had some time left,
// and was given up, had a fair share: half of all that the proposer has. Who had
// less is never to blame.
func (p *pacer) fair(began time.Duration) bool { return began >= p.Share/2 }

// Limits of what a proposer gives up.
const (
	maxTries     = 1024 // of what it remembers
	maxLateTries = 3    // how often a fire, delivery or question may take all of a fair share before it has failed
	maxLateSends = 8    // the same of a transaction, which comes behind all others meanwhile
)

// Tries is what a proposer remembers of what took all of a fair share of its
// time and did not end. That has other chances, since the machine may have been
// busy; then the environment has failed over it. It is used by one goroutine.
type Tries struct {
	given map[types.Hash]int
	order []types.Hash // oldest first
}

// NewTries returns an empty memory.
func NewTries() *Tries { return &Tries{given: map[types.Hash]int{}} }

// failed notes that something was given up, and reports whether it had all of so
// many chances.
func (t *Tries) failed(what types.Hash, chances int) bool {
	if t == nil {
		return false
	}
	if t.given[what] == 0 {
		if len(t.order) >= maxTries {
			delete(t.given, t.order[0])
			t.order = t.order[1:]
		}
		t.order = append(t.order, what)
	}
	t.given[what]++
	return t.given[what] >= chances
}
