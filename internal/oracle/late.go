package oracle

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// lateFor is for how many blocks the first list of a nonce counts (decision C18).
const lateFor = 1024

// lateSlot is a nonce of an account.
type lateSlot struct {
	sender types.Address
	nonce  types.Nonce
}

// lateBlame is the proposers that listed it as late, and the height of the first.
type lateBlame struct {
	by    blame
	since types.Height
}

// judgeLateTransactions judges what a block lists of late transactions (decision C18).
func (r *passOf) judgeLateTransactions() {
	height := r.o.Block.Header.Height
	txs := map[lateSlot]types.Hash{}
	for i := range r.o.Block.Transactions {
		tx := &r.o.Block.Transactions[i]
		if tx.Signature == nil || r.reportOf(tx) != nil {
			continue
		}
		if signer, ok := r.rules.Recover(tx.SigningDigest(), *tx.Signature); ok {
			txs[lateSlot{signer, tx.Nonce}] = keccak256(codec.Marshal(tx))
		}
	}
	ends := map[types.Hash]bool{}
	seen := map[lateSlot]bool{}
	for i := range r.passed.Late {
		s := lateSlot{r.passed.Late[i].Sender, r.passed.Late[i].Nonce}
		if seen[s] {
			r.wrong("nonce %d of %s is listed as late twice", s.nonce, s.sender)
			continue
		}
		seen[s] = true
		known, listed := r.blamed.slots[s]
		if !listed || height > known.since+lateFor {
			known = lateBlame{blame{}, height}
		}
		r.blamed.slots[s] = known
		if !r.blamesEnough(known.by) {
			continue
		}
		hash, there := txs[s]
		if !there {
			r.wrong("nonce %d of %s was listed as late by %d validators, and the block does not hold its transaction", s.nonce, s.sender,
				len(known.by))
			continue
		}
		ends[hash], r.ended[hash] = true, true
		r.seen.HostFailed++
	}
	for i := range r.o.Receipts {
		receipt := &r.o.Receipts[i]
		if receipt.Origin == types.OriginTransaction && ends[receipt.Hash] && receipt.Status != types.StatusHostFailed {
			r.wrong("transaction %s was listed as late by enough validators, and ended %s", receipt.Hash, receipt.Status)
		}
	}
	for s := range txs { // order: each is deleted by itself
		delete(r.blamed.slots, s)
	}
}
