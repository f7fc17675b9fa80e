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

// pool is the mempool of a validator, with what it must remember beside it. It
// belongs to the execution role.
type pool struct {
	*mempool.Pool[*ledger.Checked]
	reports reports                           // runner transactions
	sent    map[types.Hash]types.Height       // the height at which each that came in here was last sent on
	local   []types.Hash                      // those that came in here, in the order they came
	dropped func(hash types.Hash, why string) // Config.Dropped
}

func (p *pool) gaveUp(gone []mempool.Entry[*ledger.Checked], why string) {
	for i := range gone {
		if p.dropped != nil {
			p.dropped(gone[i].Hash, why)
		}
	}
}

func newPool(dropped func(types.Hash, string)) *pool {
	return &pool{Pool: mempool.New[*ledger.Checked](mempool.DefaultLimits), sent: map[types.Hash]types.Height{}, dropped: dropped}
}

// transaction returns a transaction that waits in the pool, or nil.
func (p *pool) transaction(hash types.Hash) *ledger.Checked {
	entry, held := p.Get(hash)
	if !held {
		return p.reports.get(hash)
	}
	return entry.Value
}

// admit takes transactions into the pool, and sends on those that came in here.
func (e *execution) admit(event admission) {
	state := e.v.head.Load().State
	for _, tx := range event.txs {
		err := e.hold(state, tx)
		e.v.desk.answer(event.ticket, admitted{tx.Hash, err})
		if err != nil {
			e.v.count.refusedTransactions.Add(1)
			continue
		}
		if event.here {
			e.pool.sent[tx.Hash] = state.Height()
			e.pool.local = append(e.pool.local, tx.Hash)
			e.v.gossip([][]byte{tx.Tx.Encode()})
		}
	}
	e.tellWork()
}

// hold puts a transaction where it waits for a block.
func (e *execution) hold(state *ledger.State, tx *ledger.Checked) error {
	if tx.IsReport() {
		return e.pool.reports.add(state.Height(), tx)
	}
	entry := mempool.EntryOf(tx.Tx, tx.Hash, tx.Sender, tx.Size, tx)
	_, err := e.pool.Add(state.Height(), entry, state.Account(tx.Sender).Nonce)
	return err
}

// drop forgets a transaction that no block can hold.
func (e *execution) drop(hash types.Hash, why error) {
	e.pool.reports.drop(hash)
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
	e.pool.reports.confirm(result.Block.Header.Height, func(tx *ledger.Checked) bool { return included[tx.Hash] || result.State.Spends(tx) })
	e.pool.gaveUp(used, "another transaction of its sender used its nonce")
	e.pool.Expire(result.Block.Header.Height)
}

// resend sends on again what came in here and has waited too long.
func (e *execution) resend(height types.Height) {
	kept := e.pool.local[:0]
	var again [][]byte
	size := 0
	for _, hash := range e.pool.local {
		tx := e.pool.transaction(hash)
		if tx == nil {
			delete(e.pool.sent, hash)
			continue
		}
		kept = append(kept, hash)
		if height < e.pool.sent[hash]+resendBlocks || len(again) >= maxResend || size+tx.Size > maxTransactionsFrame/2 {
			continue
		}
		e.pool.sent[hash] = height
		again = append(again, tx.Tx.Encode())
		size += tx.Size
	}
	e.pool.local = kept
	if len(again) > 0 {
		e.v.gossip(again)
	}
}

// gossip sends transactions to the validators that decide now.
func (v *Validator) gossip(raw [][]byte) {
	if sets := v.sets.Load(); sets != nil { // nil: consensus is being made yet, and they are sent again
		v.sendAll(encodeFrame(&transactions{Raw: raw}), (*sets)[0].Members)
	}
}

// sendAll sends a frame to validators, itself excluded.
func (v *Validator) sendAll(frame []byte, to []types.Validator) {
	self := v.node.Signer.Address()
	for i := range to {
		if to[i].Address != self {
			v.node.Mesh.Send(to[i].Address, frame)
		}
	}
}

// pending yields what a block on the given state can hold: runner transactions, to
// which a part of it is kept, then the others, best first.
func (e *execution) pending(state *ledger.State) iter.Seq[*ledger.Checked] {
	base := state.NextBaseFees()
	nonce := func(a types.Address) types.Nonce { return state.Account(a).Nonce }
	return func(yield func(*ledger.Checked) bool) {
		for _, one := range e.pool.reports.waiting {
			if !yield(one.tx) {
				return
			}
		}
		for entry := range e.pool.Pending(mempool.Fees{Cycle: base.Cycle, Cell: base.Cell}, nonce) {
			if !yield(entry.Value) {
				return
			}
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
