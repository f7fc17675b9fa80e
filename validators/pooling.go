package validators

import (
	"iter"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/mempool"
)

// Limits of sending transactions again.
const (
	resendBlocks = 4   // how long one that came in here may wait first, since links lose frames
	maxResend    = 256 // transactions sent again after one block
)

// Pool is the mempool of a validator, with what it must remember beside it. It
// belongs to the execution role.
type Pool struct {
	*mempool.Pool[*ledger.Checked]
	sent  map[types.Hash]types.Height // of those that came in here: height at which they were last sent on
	local []types.Hash                // the same in the order they came
	// OnDrop is told of transactions that no block can hold any more, and why; it
	// must only hand them on. What one pool lacks room for is not among them:
	// another's may have it. AskPool sets it.
	OnDrop func(hash types.Hash, why string)
}

func (p *Pool) gaveUp(gone []mempool.Entry[*ledger.Checked], why string) {
	for i := range gone {
		if p.OnDrop != nil {
			p.OnDrop(gone[i].Hash, why)
		}
	}
}

func newPool() *Pool {
	return &Pool{Pool: mempool.New[*ledger.Checked](mempool.DefaultLimits), sent: map[types.Hash]types.Height{}}
}

// Transaction returns a transaction that waits in the pool, or nil.
func (p *Pool) Transaction(hash types.Hash) *ledger.Checked {
	entry, held := p.Get(hash)
	if !held {
		return nil
	}
	return entry.Value
}

// AskPool runs question on the execution role's loop. It is not run when the
// validator stops.
func (v *Validator) AskPool(question func(*Pool)) { v.post(v.execution, poolQuestion{question}) }

// poolQuestion is AskPool's.
type poolQuestion struct{ ask func(*Pool) }

// admit takes transactions into the pool, and sends on those that came in here.
func (e *execution) admit(event admission) {
	state := e.v.head.Load().State
	for _, tx := range event.txs {
		if why := e.late.refuses(tx.Sender, tx.Hash, state.Height(), e.v.node.Clock.Now()); why != nil {
			e.v.count.refusedTransactions.Add(1)
			if event.local != nil {
				event.local(tx.Hash, why)
			}
			continue
		}
		entry := mempool.EntryOf(tx.Tx, tx.Hash, tx.Sender, tx.Size, tx)
		_, err := e.pool.Add(state.Height(), entry, state.Account(tx.Sender).Nonce)
		if event.local != nil {
			event.local(tx.Hash, err)
		}
		if err != nil {
			e.v.count.refusedTransactions.Add(1)
			continue
		}
		if event.local != nil {
			e.pool.sent[tx.Hash] = state.Height()
			e.pool.local = append(e.pool.local, tx.Hash)
			e.v.post(e.v.consensus, broadcast{&transactions{Raw: [][]byte{tx.Tx.Encode()}}})
		}
	}
	e.tellWork()
}

// drop forgets a transaction that no block can hold.
func (e *execution) drop(hash types.Hash, why error) {
	if entry, held := e.pool.Drop(hash); held {
		e.pool.gaveUp([]mempool.Entry[*ledger.Checked]{entry}, why.Error())
		e.v.log.Info("a transaction was dropped", "hash", hash, "reason", why)
	}
}

// confirm forgets what a final block used up.
func (e *execution) confirm(result *ledger.Result) {
	var accounts []mempool.Account
	for i := range result.Receipts {
		receipt := &result.Receipts[i]
		if receipt.Origin == types.OriginTransaction {
			accounts = append(accounts, mempool.Account{Address: receipt.Sender, Nonce: result.State.Account(receipt.Sender).Nonce})
		}
	}
	included := map[types.Hash]bool{}
	for i := range result.Receipts {
		included[result.Receipts[i].Hash] = true
	}
	var used []mempool.Entry[*ledger.Checked]
	for _, entry := range e.pool.Confirmed(accounts) {
		if !included[entry.Hash] {
			used = append(used, entry)
		}
	}
	e.pool.gaveUp(used, "another transaction of its sender used its nonce")
	e.pool.Expire(result.Block.Header.Height)
}

// resend sends on again what came in here and has waited too long.
func (e *execution) resend(height types.Height) {
	kept := e.pool.local[:0]
	again := &transactions{}
	size := 0
	for _, hash := range e.pool.local {
		entry, held := e.pool.Get(hash)
		if !held {
			delete(e.pool.sent, hash)
			continue
		}
		kept = append(kept, hash)
		if height < e.pool.sent[hash]+resendBlocks || len(again.Raw) >= maxResend || size+entry.Size > maxTransactionsFrame/2 {
			continue
		}
		e.pool.sent[hash] = height
		again.Raw = append(again.Raw, entry.Value.Tx.Encode())
		size += entry.Size
	}
	e.pool.local = kept
	if len(again.Raw) > 0 {
		e.v.post(e.v.consensus, broadcast{again})
	}
}

// pending yields what a block on the given state can hold, best first; those of
// senders who took the proposer's time for nothing come behind all others.
func (e *execution) pending(state *ledger.State) iter.Seq[*ledger.Checked] {
	base := state.NextBaseFees()
	nonce := func(a types.Address) types.Nonce { return state.Account(a).Nonce }
	each := func(last bool, yield func(*ledger.Checked) bool) (others, more bool) {
		for entry := range e.pool.Pending(mempool.Fees{Cycle: base.Cycle, Cell: base.Cell}, nonce) {
			if e.late.isLast(entry.Sender, state.Height()) != last {
				others = true
			} else if !yield(entry.Value) {
				return others, false
			}
		}
		return others, true
	}
	return func(yield func(*ledger.Checked) bool) {
		if others, more := each(false, yield); others && more {
			each(true, yield)
		}
	}
}

// hasPending reports whether a block on the final state could hold a
// transaction of the pool.
func (e *execution) hasPending() bool {
	state := e.v.head.Load().State
	for range e.pending(state) {
		return true
	}
	return false
}
