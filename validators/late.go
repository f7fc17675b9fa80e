package validators

import (
	"errors"
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// What a validator remembers of transactions over which its host of programs
// failed. They pay nothing, since nobody can prove what they would have used. So
// whoever sends one comes behind all others for a while; and once one of his has
// failed he may send none for some time, twice as long each time (decision C18).
const (
	maxRemembered = 1024        // senders, and as many transactions
	lastBlocks    = 256         // how long a sender is last, and what failed is refused
	leastRefusal  = time.Second // of the first that failed
	maxRefusal    = 256 * leastRefusal
)

// recent is a bounded memory: what comes beyond the bound replaces the oldest.
type recent[K comparable, V any] struct {
	of    map[K]V
	order []K
}

func (r *recent[K, V]) put(key K, value V) {
	if r.of == nil {
		r.of = map[K]V{}
	}
	if _, held := r.of[key]; !held {
		if len(r.order) == maxRemembered {
			delete(r.of, r.order[0])
			r.order = r.order[1:]
		}
		r.order = append(r.order, key)
	}
	r.of[key] = value
}

// lateSender is what is remembered of a sender.
type lateSender struct {
	last    types.Height  // below it his transactions come behind all others
	refusal time.Duration // the last
	until   types.Time    // before it none of his is taken
}

// late is that memory.
type late struct {
	senders      recent[types.Address, lateSender]
	transactions recent[types.Hash, types.Height] // refused below it
}

// waits notes that a transaction was given up, and may have another chance.
func (l *late) waits(sender types.Address, height types.Height) {
	s := l.senders.of[sender]
	s.last = height + lastBlocks
	l.senders.put(sender, s)
}

// failed notes that the host failed over a transaction.
func (l *late) failed(sender types.Address, hash types.Hash, height types.Height, now types.Time) {
	s := l.senders.of[sender]
	if !l.isLast(sender, height) && now >= s.until.Add(maxRefusal) {
		s.refusal = 0 // long ago
	}
	s.last = height + lastBlocks
	s.refusal = min(max(2*s.refusal, leastRefusal), maxRefusal)
	s.until = now.Add(s.refusal)
	l.senders.put(sender, s)
	l.transactions.put(hash, height+lastBlocks)
}

// isLast reports whether a sender's transactions come behind all others.
func (l *late) isLast(sender types.Address, height types.Height) bool {
	return height < l.senders.of[sender].last
}

// refuses says why a transaction is not taken now, or returns nil.
func (l *late) refuses(sender types.Address, hash types.Hash, height types.Height, now types.Time) error {
	if height < l.transactions.of[hash] {
		return ErrLate
	}
	if until := l.senders.of[sender].until; now < until {
		return &HostRefusal{fmt.Sprintf("a transaction of this sender crashed the host of programs or took too long; send another in %v, or "+
			"from another account",
			time.Duration(until-now).Round(time.Second)+time.Second)}
	}
	return nil
}

// HostRefusal refuses a transaction since the host of programs failed over it, or
// over another of its sender, a while ago (decision C18).
type HostRefusal struct{ Message string }

func (e *HostRefusal) Error() string { return "host_failed: " + e.Message }

// ErrLate refuses a transaction over which the host of programs failed before.
var ErrLate = &HostRefusal{"the host of programs failed over this transaction already; its program crashes the host or takes too long"}

// leaveOut forgets a transaction that a block cannot hold, or has it wait behind
// all others where the proposer's time was over before it ended.
func (e *execution) leaveOut(drop *ledger.Dropped) {
	var environment *ledger.EnvironmentError
	if !errors.As(drop.Err, &environment) {
		e.drop(drop.Transaction.Hash, drop.Err)
		return
	}
	if errors.Is(drop.Err, program.ErrNotBegun) {
		return
	}
	height := e.v.head.Load().Block.Header.Height
	if drop.Waits {
		e.late.waits(drop.Transaction.Sender, height)
		return
	}
	e.late.failed(drop.Transaction.Sender, drop.Transaction.Hash, height, e.v.node.Clock.Now())
	e.v.log.Warn("the host of programs failed over a transaction", "hash", drop.Transaction.Hash, "error", drop.Err)
	e.drop(drop.Transaction.Hash, errors.New("host_failed: "+environment.Ended()))
}
