package validators

import (
	"iter"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/mempool"
)

// Limits of sending transactions again.
const (
	resendBlocks = 4   // how long one that came in here may wait first, since links lose frames
	maxResend    = 256 // transactions sent again after one block
)

// maxReplaced is how many replaced transactions a validator remembers: 72 bytes each.
const maxReplaced = 4_096

// pool is the mempool of a validator, with the other data that it must remember. It
// belongs to the execution role.
type pool struct {
	*mempool.Pool[*ledger.Checked]
	reports reports                           // runner transactions
	light   lightCalls                        // calls that were light
	sent    map[types.Hash]types.Height       // the height at which each that came in here was last sent on
	local   []types.Hash                      // those that came in here, in the order they came
	dropped func(hash types.Hash, why string) // Config.Dropped
	now     func() types.Time                 // the node's clock

	// replaced are those whose nonce another one took, oldest first. A block under way may
	// have either of the two: which one it is, is known when the nonce is used.
	replaced []replacedTransaction
}

// replacedTransaction is a transaction whose nonce another one of its sender took.
type replacedTransaction struct {
	hash   types.Hash
	sender types.Address
	nonce  types.Nonce
}

// Why a validator gives a transaction up.
const (
	whyUsed     = "another transaction of its sender used its nonce"
	whyReplaced = "another transaction of its sender took its nonce"
	whyFull     = "the pool is full, and what took its place bids more"
	whyOld      = "no block had room for its bid for as long as a pool keeps one"
)

func (p *pool) gaveUp(hash types.Hash, why string) {
	if p.dropped != nil {
		p.dropped(hash, why)
	}
}

// noteDisplacement takes note of the transactions that made room for another one.
func (p *pool) noteDisplacement(gone []mempool.Entry[*ledger.Checked], by *mempool.Entry[*ledger.Checked]) {
	for i := range gone {
		if old := &gone[i]; old.Sender != by.Sender || old.Nonce != by.Nonce {
			p.gaveUp(old.Hash, whyFull)
			continue
		}
		if len(p.replaced) == maxReplaced {
			p.gaveUp(p.replaced[0].hash, whyReplaced)
			p.replaced = p.replaced[1:]
		}
		p.replaced = append(p.replaced, replacedTransaction{gone[i].Hash, gone[i].Sender, gone[i].Nonce})
	}
}

// dropUsedNonces gives up what waits with a nonce that a final block used, unless it is included.
func (p *pool) dropUsedNonces(accounts []mempool.Account, included map[types.Hash]bool) {
	next := map[types.Address]types.Nonce{}
	for _, a := range accounts {
		next[a.Address] = a.Nonce
	}
	gone := func(hash types.Hash) {
		if !included[hash] {
			p.gaveUp(hash, whyUsed)
		}
	}
	for _, entry := range p.Confirmed(accounts) {
		gone(entry.Hash)
	}
	p.replaced = slices.DeleteFunc(p.replaced, func(r replacedTransaction) bool {
		over := r.nonce < next[r.sender]
		if over {
			gone(r.hash)
		}
		return over
	})
}

func newPool(now func() types.Time, dropped func(types.Hash, string)) *pool {
	return &pool{Pool: mempool.New[*ledger.Checked](mempool.DefaultLimits), sent: map[types.Hash]types.Height{}, dropped: dropped,
		now: now}
}

// findTransaction returns a transaction that waits in the pool, or nil.
func (p *pool) findTransaction(hash types.Hash) *ledger.Checked {
	entry, held := p.Get(hash)
	if !held {
		return p.reports.findReport(hash)
	}
	return entry.Value
}

// admitTransactions takes transactions into the pool, and sends on those that came in here.
func (e *execution) admitTransactions(event admission) {
	state := e.v.head.Load().State
	for _, tx := range event.txs {
		fresh, err := e.holdTransaction(state, tx)
		e.v.requests.answerRequest(event.request, admitted{tx.Hash, err})
		if err != nil {
			e.v.count.refusedTransactions.Add(1)
			e.bringAgain(tx)
			continue
		}
		if event.here && fresh {
			e.pool.sent[tx.Hash] = state.Height()
			e.pool.local = append(e.pool.local, tx.Hash)
			e.v.gossipTransactions([][]byte{tx.Tx.Encode()})
		}
	}
	e.tellWork()
}

// bringAgain tells the gateway that its report was lost, so that it brings the report
// again at the next head.
func (e *execution) bringAgain(tx *ledger.Checked) {
	if !tx.IsReport() || tx.Sender != e.v.node.Signer.Address() || e.v.node.Connections == nil {
		return
	}
	if job, ok := tx.Job(); ok {
		e.v.gateway.Post(unkept{tx.Runner(), job})
	}
}

// holdTransaction puts a transaction where it waits for a block. It reports whether it is new there.
func (e *execution) holdTransaction(state *ledger.State, tx *ledger.Checked) (fresh bool, err error) {
	if tx.IsReport() {
		return e.pool.reports.addReport(reportOn(state.Height(), tx))
	}
	entry := mempool.EntryOf(tx.Tx, tx.Hash, tx.Sender, tx.Size, tx)
	entry.Came = e.pool.now()
	gone, err := e.pool.Add(state.Height(), entry, state.Account(tx.Sender).Nonce)
	e.pool.noteDisplacement(gone, &entry)
	return err == nil, err
}

// dropTransaction forgets a transaction that no block can hold.
func (e *execution) dropTransaction(hash types.Hash, why error) {
	e.pool.reports.dropReport(hash)
	if entry, held := e.pool.Drop(hash); held {
		e.pool.gaveUp(entry.Hash, why.Error())
		e.v.log.Info("a transaction was dropped", "hash", hash, "reason", why)
	}
}

// confirmBlock forgets what a final block used up.
func (e *execution) confirmBlock(result *ledger.Result) {
	// A receipt in another's name does not show who signed: the system key did.
	system := result.State.SystemKey()
	accounts := []mempool.Account{{Address: system, Nonce: result.State.Account(system).Nonce}}
	for i := range result.Receipts {
		receipt := &result.Receipts[i]
		e.pool.light.noteReceipt(receipt)
		if receipt.Origin == types.OriginTransaction {
			accounts = append(accounts, mempool.Account{Address: receipt.Sender, Nonce: result.State.Account(receipt.Sender).Nonce})
		}
	}
	included := map[types.Hash]bool{}
	for i := range result.Receipts {
		included[result.Receipts[i].Hash] = true
	}
	spent := func(tx *ledger.Checked) bool { return included[tx.Hash] || result.State.Spends(tx) }
	for _, aged := range e.pool.reports.confirmBlock(result.Block.Header.Height, spent) {
		e.bringAgain(aged)
	}
	e.pool.dropUsedNonces(accounts, included)
	for _, old := range e.pool.Expire(result.Block.Header.Height, e.pool.now()) {
		e.pool.gaveUp(old.Hash, whyOld)
	}
}

// resendWaiting sends on again what came in here and has waited too long.
func (e *execution) resendWaiting(height types.Height) {
	kept := e.pool.local[:0]
	var again [][]byte
	size := 0
	for _, hash := range e.pool.local {
		tx := e.pool.findTransaction(hash)
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
		e.v.gossipTransactions(again)
	}
}

// gossipTransactions sends transactions to the validators that decide now.
func (v *Validator) gossipTransactions(raw [][]byte) {
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

// pendingFor yields what a block on the given state can hold: runner transactions, to
// which a part of it is kept, results before heartbeats, then the others, best first.
func (e *execution) pendingFor(state *ledger.State) iter.Seq[*ledger.Checked] {
	base := state.NextBaseFees()
	nonce := func(a types.Address) types.Nonce { return state.Account(a).Nonce }
	return func(yield func(*ledger.Checked) bool) {
		if !e.pool.reports.eachReport(yield) {
			return
		}
		for entry := range e.pool.Pending(mempool.Fees{Cycle: base.Cycle, Cell: base.Cell}, nonce, e.pool.light.weightOf) {
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
	for range e.pendingFor(state) {
		return true
	}
	return false
}
