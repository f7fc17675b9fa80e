package validators

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// maxTickets bounds who waits for an answer: more than the events from outside that
// wait for intake and for execution together find no room there anyway.
const maxRequests = 2 * roles.MaxOffered

// requestID identifies a waiting request; 0 means no request. An event carries it
// instead of a callback, so that events are plain data.
type requestID uint64

// admitted answers a submission: the transaction was taken, or why not.
type admitted struct {
	hash types.Hash
	err  error
}

// Questions to the execution role.
type (
	askNonce struct { // a types.Nonce answers
		request requestID
		account types.Address
		final   types.Nonce
	}
	askWaiting struct { // a *ledger.Checked answers, or its nil
		request requestID
		hash    types.Hash
	}
	askCaughtOn struct{ request requestID } // nil answers, when all events before this one were heard
)

func (askNonce) forExecution()    {}
func (askWaiting) forExecution()  {}
func (askCaughtOn) forExecution() {}

// requests are the callers from outside that wait for the answer of a role. It is safe
// for concurrent use. Requests that are open when the validator stops are not
// answered.
type requests struct {
	mu      sync.Mutex
	last    requestID
	waiting map[requestID]func(answer any)
	closed  bool
}

// enterRequest registers a request, which is answered once, on a loop of the validator. It
// returns 0 if too many wait already, or no answers will come any more.
func (d *requests) enterRequest(answered func(answer any)) requestID {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || len(d.waiting) >= maxRequests {
		return 0
	}
	if d.waiting == nil {
		d.waiting = map[requestID]func(any){}
	}
	d.last++
	d.waiting[d.last] = answered
	return d.last
}

// answerRequest answers a request, once, and closes it.
func (d *requests) answerRequest(t requestID, answer any) {
	d.mu.Lock()
	answered := d.waiting[t]
	delete(d.waiting, t)
	d.mu.Unlock()
	if answered != nil {
		answered(answer)
	}
}

// refuseAll sends away all who wait.
func (d *requests) refuseAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting, d.closed = nil, true
}

// Submit hands in an encoded transaction. answer is called once, on a loop of
// the validator, with its hash or with why it was not taken.
func (v *Validator) Submit(raw []byte, answer func(types.Hash, error)) {
	t := v.requests.enterRequest(func(a any) {
		admitted := a.(admitted)
		answer(admitted.hash, admitted.err)
	})
	if t == 0 {
		answer(types.Hash{}, ErrBusy)
	} else if !v.intake.Offer(submission{raw, t}) {
		v.requests.answerRequest(t, admitted{err: ErrBusy})
	}
}

// NextNonce asks for the nonce of an account's next transaction, after those that
// wait in the mempool; final is the nonce in the final state. answer is called once,
// on a loop of the validator, and not when that stops.
func (v *Validator) NextNonce(account types.Address, final types.Nonce, answer func(types.Nonce)) {
	if t := v.requests.enterRequest(func(a any) { answer(a.(types.Nonce)) }); t != 0 {
		v.execution.Post(askNonce{t, account, final})
	}
}

// WaitingNow is a transaction that waits in the mempool, or nil. Unlike Waiting it takes no step: only a world may ask it that lets no role
// step meanwhile, as the simulator between two steps.
func (v *Validator) WaitingNow(hash types.Hash) *ledger.Checked {
	if v.findPooled == nil {
		return nil
	}
	return v.findPooled(hash)
}

// Waiting asks for a transaction that waits in the mempool. answer is called once, with
// it or with nil, on a loop of the validator, and not when that stops.
func (v *Validator) Waiting(hash types.Hash, answer func(*ledger.Checked)) {
	if t := v.requests.enterRequest(func(a any) { answer(a.(*ledger.Checked)) }); t != 0 {
		v.execution.Post(askWaiting{t, hash})
	}
}
