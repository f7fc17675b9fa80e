package validators

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// maxTickets bounds who waits for an answer: more than the events from outside that
// wait for intake and for execution together find no room there anyway.
const maxTickets = 2 * roles.MaxOffered

// ticket names who waits for an answer; 0 is nobody. An event bears it in place of
// what is to be done with the answer, so that events are plain data.
type ticket uint64

// admitted answers a submission: the transaction was taken, or why not.
type admitted struct {
	hash types.Hash
	err  error
}

// Questions to the execution role.
type (
	askNonce struct { // a types.Nonce answers
		ticket  ticket
		account types.Address
		final   types.Nonce
	}
	askWaiting struct { // a *ledger.Checked answers, or its nil
		ticket ticket
		hash   types.Hash
	}
	askCaughtOn struct{ ticket ticket } // nil answers, when all events before this one were heard
)

func (askNonce) forExecution()    {}
func (askWaiting) forExecution()  {}
func (askCaughtOn) forExecution() {}

// desk is where those outside wait who have asked something of a role. It is safe
// for concurrent use. Whoever still waits when the validator stops is not answered.
type desk struct {
	mu      sync.Mutex
	last    ticket
	waiting map[ticket]func(answer any)
	closed  bool
}

// enter has somebody wait, who is answered once, on a loop of the validator. It
// returns 0 where too many wait already, or nobody will be answered any more.
func (d *desk) enter(answered func(answer any)) ticket {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || len(d.waiting) >= maxTickets {
		return 0
	}
	if d.waiting == nil {
		d.waiting = map[ticket]func(any){}
	}
	d.last++
	d.waiting[d.last] = answered
	return d.last
}

// answer tells who waits with a ticket, once: nobody waits any more then.
func (d *desk) answer(t ticket, answer any) {
	d.mu.Lock()
	answered := d.waiting[t]
	delete(d.waiting, t)
	d.mu.Unlock()
	if answered != nil {
		answered(answer)
	}
}

// close sends away all who wait.
func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting, d.closed = nil, true
}

// Submit hands in an encoded transaction. answer is called once, on a loop of
// the validator, with its hash or with why it was not taken.
func (v *Validator) Submit(raw []byte, answer func(types.Hash, error)) {
	t := v.desk.enter(func(a any) {
		admitted := a.(admitted)
		answer(admitted.hash, admitted.err)
	})
	if t == 0 {
		answer(types.Hash{}, ErrBusy)
	} else if !v.intake.Offer(submission{raw, t}) {
		v.desk.answer(t, admitted{err: ErrBusy})
	}
}

// NextNonce asks for the nonce of an account's next transaction, behind those that
// wait in the mempool; final is that in the final state. answer is called once, on a
// loop of the validator, and not when that stops.
func (v *Validator) NextNonce(account types.Address, final types.Nonce, answer func(types.Nonce)) {
	if t := v.desk.enter(func(a any) { answer(a.(types.Nonce)) }); t != 0 {
		v.execution.Post(askNonce{t, account, final})
	}
}

// Waiting asks for a transaction that waits in the mempool. answer is called once, with
// it or with nil, on a loop of the validator, and not when that stops.
func (v *Validator) Waiting(hash types.Hash, answer func(*ledger.Checked)) {
	if t := v.desk.enter(func(a any) { answer(a.(*ledger.Checked)) }); t != 0 {
		v.execution.Post(askWaiting{t, hash})
	}
}
