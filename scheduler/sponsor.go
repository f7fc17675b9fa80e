package scheduler

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// allowance is the amount that the signer of one transaction lets timers cost him.
// It is in state from the first timer that names him until the last of them ended;
// fires, agents' calls and bids draw on it together.
//
// Decision T28.
type allowance struct {
	_      struct{} `cbor:",toarray"`
	Payer  types.Address
	Signed types.Wei // what he stated
	Left   types.Wei // what is left of Signed
	Timers uint64    // pending ones that draw on it, at least 1
}

func keyAllowance(transaction types.Hash) []byte { return append([]byte("t/j/"), transaction[:]...) }

func readAllowance(kv KV, transaction types.Hash) (a allowance, ok bool) {
	data := kv.Get(keyAllowance(transaction))
	if data == nil {
		return a, false
	}
	mustRead(data, &a)
	return a, true
}

func (b *InBlock) writeAllowance(transaction types.Hash, a *allowance) {
	b.KV.Set(keyAllowance(transaction), codec.Marshal(a))
}

// allowanceOf returns the allowance of a transaction: the whole of it if no pending
// timer draws on it.
func (b *InBlock) allowanceOf(s *types.Sponsorship) allowance {
	a, known := readAllowance(b.KV, s.Transaction)
	if !known {
		a = allowance{Payer: s.Signer, Signed: s.Most, Left: s.Most}
	}
	return a
}

// addToAllowance counts a new timer that names the signer in his allowance, and takes
// its locked bid from that, which lockBid looked for.
func (b *InBlock) addToAllowance(t *types.Timer, s *types.Sponsorship) {
	if t.Sponsor == nil {
		return
	}
	a := b.allowanceOf(s)
	a.Left, a.Timers = a.Left.Sub(t.Bid), a.Timers+1
	b.writeAllowance(*t.Sponsor, &a)
}

// removeFromAllowance takes a timer that ends out of its allowance, which ends with its last.
func (b *InBlock) removeFromAllowance(e *Entry) {
	if e.Sponsor == nil {
		return
	}
	a, known := readAllowance(b.KV, *e.Sponsor)
	if !known {
		panic("scheduler: timer " + e.ID.String() + " draws on an allowance that state does not have")
	}
	if a.Timers--; a.Timers == 0 {
		b.KV.Set(keyAllowance(*e.Sponsor), nil)
		return
	}
	b.writeAllowance(*e.Sponsor, &a)
}

// spendable is what payer can spend on a timer now: its balance, and of a signer no
// more than the timer's allowance has left. Another than the fee payer, under
// gba, spends nothing that anybody signed for.
func (b *InBlock) spendable(e *Entry, payer types.Address) types.Wei {
	holds := b.Books.Balance(payer)
	if e.Sponsor == nil || payer != e.FeePayer {
		return holds
	}
	a, _ := readAllowance(b.KV, *e.Sponsor)
	return holds.Min(a.Left)
}

// drawAllowance takes from a timer's allowance what payer is charged, which means allows.
func (b *InBlock) drawAllowance(e *Entry, payer types.Address, amount types.Wei) {
	b.adjustAllowance(e, payer, func(a *allowance) { a.Left = a.Left.Sub(amount) })
}

// restoreAllowance gives back what payer was not charged in the end. If the last timer ended
// meanwhile, no timer is left to draw on it.
func (b *InBlock) restoreAllowance(e *Entry, payer types.Address, amount types.Wei) {
	b.adjustAllowance(e, payer, func(a *allowance) { a.Left = a.Left.Add(amount) })
}

func (b *InBlock) adjustAllowance(e *Entry, payer types.Address, by func(*allowance)) {
	if e.Sponsor == nil || payer != e.FeePayer {
		return
	}
	a, known := readAllowance(b.KV, *e.Sponsor)
	if !known {
		return
	}
	before := a.Left
	if by(&a); a.Left != before {
		b.writeAllowance(*e.Sponsor, &a)
	}
}

// paysByWord reports whether a timer's fee payer is its actor, or who signed for
// the allowance that it draws on.
func paysByWord(kv KV, e *Entry) bool {
	if e.Sponsor == nil {
		return e.FeePayer == e.Actor
	}
	a, known := readAllowance(kv, *e.Sponsor)
	return known && a.Payer == e.FeePayer
}

// allowanceSum is the sum that the pending timers of an allowance hold of it, counted
// again.
type allowanceSum struct {
	timers uint64
	bids   types.Wei
}

// checkAllowances says what is wrong with t/j, or nil: by transaction, what its
// pending timers add up to.
func checkAllowances(kv KV, pending map[types.Hash]allowanceSum) error {
	keys := scanKeys(kv, "t/j/")
	if len(keys) != len(pending) {
		return fmt.Errorf("scheduler: state has %d allowances, and timers draw on %d", len(keys), len(pending))
	}
	for _, key := range keys {
		transaction := types.Hash(key[keyPrefixBytes:])
		a, _ := readAllowance(kv, transaction)
		found := pending[transaction]
		if a.Timers != found.timers {
			return fmt.Errorf("scheduler: %d timers draw on the allowance of transaction %s, which counts %d", found.timers, transaction, a.Timers)
		}
		if held, ok := a.Left.AddOk(found.bids); !ok || a.Signed.Less(held) {
			return fmt.Errorf("scheduler: the allowance of transaction %s has %s wei left and %s in bids; %s were signed for",
				transaction, a.Left, found.bids, a.Signed)
		}
	}
	return nil
}
