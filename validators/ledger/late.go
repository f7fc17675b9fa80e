package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of late transactions (decision C18).
const (
	// lateBlocksKept is how long the list of a validator counts: a proposer among 100 has
	// ten blocks in it.
	lateBlocksKept = 1024
	// maxForgotten bounds the old lists that one block takes out of state: more than one
	// adds, so that they become fewer.
	maxForgotten = 2 * types.MaxLate
	// maxListing bounds the late transactions that a proposer remembers to list.
	maxListing = 64
)

// slot is what a transaction takes: a nonce of its sender. Whatever transaction of a slot
// was late, the signer signed it.
type slot struct {
	sender types.Address
	nonce  types.Nonce
}

func (c *Checked) slotOf() slot { return slot{c.Sender, c.Tx.Nonce} }

func slotOf(l *types.LateTransaction) slot { return slot{l.Sender, l.Nonce} }

// lists is what state remembers of a slot: who listed it, and since when.
type lists struct {
	_     struct{}        `cbor:",toarray"`
	By    []types.Address // sorted: members of the set, and no more
	Since types.Height
}

func (s slot) keyOfSlot() []byte {
	return binary.BigEndian.AppendUint64(append([]byte("x/late/"), s.sender[:]...), uint64(s.nonce))
}

// keyLateSince leads from a height to the slots that were listed first at it.
func keyLateSince(since types.Height, of slot) []byte {
	key := binary.BigEndian.AppendUint64([]byte("x/lated/"), uint64(since))
	return binary.BigEndian.AppendUint64(append(key, of.sender[:]...), uint64(of.nonce))
}

func listsOf(state actors.Reader, s slot) (l lists) {
	data := state.Get(s.keyOfSlot())
	if data == nil {
		return lists{}
	}
	if err := codec.Unmarshal(data, types.MaxBlockBytes, &l); err != nil {
		panic(fmt.Sprintf("ledger: who listed nonce %d of %s does not decode: %v", s.nonce, s.sender, err))
	}
	return l
}

// lateness is what a block lists of late transactions, in the making.
type lateness struct {
	made  []types.LateTransaction
	ended map[slot]bool // those of which this block's list completes the count: true once their transaction is in the block
}

// addLister adds the proposer to those who listed a slot. enough is that more did than can be
// faulty: the block holds the transaction, which ends.
func (r *run) addLister(s slot) (l lists, enough bool) {
	l = listsOf(r.state, s)
	if l.By == nil || r.header.Height > l.Since+lateBlocksKept {
		l = lists{Since: r.header.Height}
	}
	l.By, enough = r.parent.set.Blame(l.By, r.header.Proposer)
	return l, enough
}

// writeListers writes that the proposer listed a slot, which is not enough yet.
func (r *run) writeListers(s slot, l lists) {
	if l.Since == r.header.Height {
		r.forgetListers(s)
	}
	r.state.Set(s.keyOfSlot(), codec.Marshal(&l))
	r.state.Set(keyLateSince(l.Since, s), []byte{1})
}

// forgetListers forgets who listed a slot.
func (r *run) forgetListers(s slot) {
	if l := listsOf(r.state, s); l.By != nil {
		r.state.Set(s.keyOfSlot(), nil)
		r.state.Set(keyLateSince(l.Since, s), nil)
	}
}

// forgetLists takes lists out of state that count no more.
func (r *run) forgetLists() error {
	if r.header.Height <= lateBlocksKept {
		return nil
	}
	var old [][]byte
	first, end := []byte("x/lated/"), binary.BigEndian.AppendUint64([]byte("x/lated/"), uint64(r.header.Height-lateBlocksKept))
	r.state.Scan(first, end, func(key, _ []byte) bool {
		old = append(old, append([]byte{}, key...))
		return len(old) < maxForgotten
	})
	for _, key := range old {
		at := key[len(first)+8:]
		s := slot{sender: types.Address(at[:len(types.Address{})]), nonce: types.Nonce(binary.BigEndian.Uint64(at[len(types.Address{}):]))}
		r.forgetListers(s)
	}
	return nil
}

// followLists applies the late transactions that another validator's block lists. A
// listed transaction that ends is a transaction of the block.
func (r *run) followLists(claimed *types.Passed) *Invalid {
	r.late.ended = map[slot]bool{}
	if claimed == nil {
		return nil
	}
	seen := map[slot]bool{}
	for i := range claimed.Late {
		entry := &claimed.Late[i]
		s := slotOf(entry)
		if seen[s] {
			return newInvalid(CodeBadPassed, "C18", "the block lists nonce %d of %s as late twice", s.nonce, s.sender)
		}
		seen[s] = true
		l, enough := r.addLister(s)
		if enough {
			r.late.ended[s] = false
		} else {
			r.writeListers(s, l)
		}
		r.late.made = append(r.late.made, *entry)
	}
	return nil
}

// checkLists judges that each slot whose count a block completes has its transaction there.
func (r *run) checkLists() *Invalid {
	for s, there := range r.late.ended { // order: any of them is refused
		if !there {
			return newInvalid(CodeBadPassed, "C18", "the block lists nonce %d of %s as late, which is enough, and does not hold the transaction",
				s.nonce, s.sender)
		}
	}
	return nil
}

// isLate reports whether a transaction ends as host_failed in this block.
func (r *run) isLate(c *Checked) bool {
	there, ends := r.late.ended[c.slotOf()]
	return ends && !there && c.report == nil
}

// includeLate adds a transaction that f + 1 validators listed as late to the block, as its
// next. Nothing is executed, its nonce is used, and its whole limit is charged at base fee
// and tip, and burned. Its error is an *Invalid, and the transaction then has no effect.
//
// Spec: decision C18.
func (r *run) includeLate(c *Checked) error {
	charge, refusal := precheckFee(r.state, r.params, r.baseFees(), c)
	if refusal == nil {
		refusal = r.whyMisfit(c)
	}
	if refusal != nil {
		return refusal
	}
	account := actors.AccountOf(r.state, c.Sender)
	account.Nonce++
	account.Balance = account.Balance.Sub(charge.Total)
	r.state.SetAccount(c.Sender, account)
	r.forgetListers(c.slotOf())
	cost, _ := charge.Settle(c.Tx.CyclesLimit, c.Tx.CellsLimit)
	r.countBurn(cost)
	r.burned.Cycle = r.burned.Cycle.Add(cost.Tip)
	r.countUse(c, c.Tx.CyclesLimit, c.Tx.CellsLimit)
	var to types.Address
	if c.Tx.To != nil {
		to = *c.Tx.To
	}
	receipt := c.newReceipt(to, cost)
	receipt.Tip = types.Wei{}
	r.recordHostFailure(receipt, c.Tx.CyclesLimit, c.Tx.CellsLimit)
	r.late.ended[c.slotOf()] = true
	return nil
}

// listedTransaction is a late transaction that its proposer lists until its list is in the chain.
type listedTransaction struct {
	tx    *Checked
	cpu   uint64       // microseconds
	until types.Height // below it the proposer lists it
}

// listLate lists the transactions that were late at this proposer, as many as fit.
func (r *run) listLate() {
	if r.pace.rememberedTries() == nil {
		return
	}
	kept := r.pace.Tries.listing[:0]
	for _, one := range r.pace.Tries.listing {
		if r.header.Height >= one.until || actors.AccountOf(r.state, one.tx.Sender).Nonce > one.tx.Tx.Nonce {
			continue
		}
		kept = append(kept, one)
		r.listOne(&one)
	}
	r.pace.Tries.listing = kept
}

// listOne lists a late transaction where that changes something, and ends it where that is
// enough.
func (r *run) listOne(one *listedTransaction) {
	s := one.tx.slotOf()
	l, enough := r.addLister(s)
	before := listsOf(r.state, s)
	if _, twice := r.late.ended[s]; twice || len(r.late.made) == types.MaxLate || !enough && len(l.By) == len(before.By) {
		return
	}
	if enough {
		r.late.ended[s] = false
		if r.includeLate(one.tx) != nil {
			delete(r.late.ended, s)
			return
		}
	} else {
		r.writeListers(s, l)
	}
	r.late.made = append(r.late.made, types.LateTransaction{Sender: s.sender, Nonce: s.nonce, CPU: one.cpu})
}

// wasLate lists a transaction that was late here, and reports whether it is: a missing host
// is not the transaction's fault.
func (r *run) wasLate(c *Checked, err error) bool {
	var environment *EnvironmentError
	var host *program.HostError
	errors.As(err, &host)
	if r.pace.rememberedTries() == nil || !errors.As(err, &environment) || !environment.Late &&
		(host == nil || host.Failure != program.Crashed) {
		return false
	}
	t := r.pace.Tries
	t.listing = slices.DeleteFunc(t.listing, func(one listedTransaction) bool { return one.tx.Hash == c.Hash })
	if len(t.listing) == maxListing {
		t.listing = t.listing[1:]
	}
	one := listedTransaction{tx: c, until: r.header.Height + lateBlocksKept}
	if host != nil {
		one.cpu = uint64(host.CPU.Microseconds())
	}
	t.listing = append(t.listing, one)
	r.listOne(&one)
	return true
}
