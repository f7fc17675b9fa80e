package mempool

import (
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Add takes a transaction whose form, signature and balance were checked. now is
// the height of the head and account the nonce of the sender's account there. It
// returns the transactions that it displaced: the one whose nonce it takes, and
// those dropped to make room. A refusal is an *Error, and changes nothing.
func (p *Pool[T]) Add(now types.Height, e Entry[T], account types.Nonce) (displaced []Entry[T], err error) {
	if err := p.checkAdmissible(&e, account); err != nil {
		return nil, err
	}
	h := &pooledEntry[T]{Entry: e, bid: e.statedTip(), came: now, arrival: p.arrival}
	gone, refusal := p.makeRoom(h)
	if refusal != nil {
		for i := len(gone) - 1; i >= 0; i-- {
			p.insertEntry(gone[i])
		}
		return nil, refusal
	}
	p.arrival++
	p.insertEntry(h)
	p.noteArrival(h)
	for _, g := range gone {
		displaced = append(displaced, g.Entry)
		p.forgetTurns(g.Sender)
	}
	return displaced, nil
}

// checkAdmissible looks at the transaction for itself.
func (p *Pool[T]) checkAdmissible(e *Entry[T], account types.Nonce) error {
	if p.byHash[e.Hash] != nil {
		return newError(CodeAlreadyKnown, "transaction %s is in the pool already", e.Hash)
	}
	if e.Nonce < account {
		return newError(CodeNonceTooLow, "nonce %d is used up; the account's next is %d", e.Nonce, account)
	}
	if uint64(e.Nonce-account) > p.limits.NonceAhead {
		return newError(CodeNonceGap, "nonce %d is more than %d ahead of the account's %d; send those before it first",
			e.Nonce, p.limits.NonceAhead, account)
	}
	if old := p.transactionAt(e.Sender, e.Nonce); old != nil {
		return checkOutbids(e, old)
	}
	return nil
}

// transactionAt returns the transaction that holds a nonce, or nil.
func (p *Pool[T]) transactionAt(sender types.Address, nonce types.Nonce) *pooledEntry[T] {
	q := p.senders[sender]
	if q == nil {
		return nil
	}
	if at, found := q.positionOf(nonce); found {
		return q.txs[at]
	}
	return nil
}

// checkOutbids judges a replacement: both fees per cycle at least ReplacePercent
// above the old ones and by 1 wei at least, rounded up, and neither per cell
// below.
func checkOutbids[T any](e *Entry[T], old *pooledEntry[T]) error {
	fee, priority := raiseFee(old.MaxFeePerCycle), raiseFee(old.MaxPriorityFeePerCycle)
	switch {
	case e.MaxFeePerCycle.Less(fee):
		return newError(CodeUnderpriced, "nonce %d is taken: to replace it max_fee_per_cycle must be at least %s wei", e.Nonce, fee)
	case e.MaxPriorityFeePerCycle.Less(priority):
		return newError(CodeUnderpriced, "nonce %d is taken: to replace it max_priority_fee_per_cycle must be at least %s wei", e.Nonce, priority)
	case e.MaxFeePerCell.Less(old.MaxFeePerCell):
		return newError(CodeUnderpriced, "nonce %d is taken: to replace it max_fee_per_cell must be at least %s wei", e.Nonce, old.MaxFeePerCell)
	case e.MaxPriorityFeePerCell.Less(old.MaxPriorityFeePerCell):
		return newError(CodeUnderpriced, "nonce %d is taken: to replace it max_priority_fee_per_cell must be at least %s wei",
			e.Nonce, old.MaxPriorityFeePerCell)
	}
	return nil
}

// raiseFee returns fee with ReplacePercent added, rounded up, at least 1 wei more and
// at most 2^256 - 1.
func raiseFee(fee types.Wei) types.Wei {
	step := fee.Div(100 / ReplacePercent)
	if rest := fee.Sub(step.Mul(100 / ReplacePercent)); !rest.IsZero() || step.IsZero() {
		step = step.Add(types.WeiOf(1))
	}
	if sum, ok := fee.AddOk(step); ok {
		return sum
	}
	return types.MaxWei
}

// makeRoom takes out the one whose nonce h takes, and as many of the others as h
// needs and may displace. If it may not displace enough, it returns an error, and
// the caller puts the displaced ones back.
func (p *Pool[T]) makeRoom(h *pooledEntry[T]) (gone []*pooledEntry[T], refusal error) {
	give := func(x *pooledEntry[T]) {
		p.removeEntry(x)
		gone = append(gone, x)
	}
	if old := p.transactionAt(h.Sender, h.Nonce); old != nil {
		give(old)
	}
	for p.senderOver(h) {
		q := p.senders[h.Sender]
		if q == nil || q.lastOf().Nonce < h.Nonce || len(gone) == MaxDisplaced {
			return gone, newError(CodeSenderFull, "sender %s has its share of the pool: at most %d transactions and %d bytes",
				h.Sender, p.limits.SenderCount, p.limits.SenderBytes)
		}
		give(q.lastOf())
	}
	for len(p.byHash) >= p.limits.Count || p.bytes > p.limits.Bytes-h.Size {
		if len(p.tails) == 0 || len(gone) == MaxDisplaced || !p.canDisplace(h, p.tails[0].lastOf()) {
			return gone, newError(CodePoolFull, "the pool is full (%d transactions, %d bytes): bid more than the cheapest, or wait",
				p.limits.Count, p.limits.Bytes)
		}
		give(p.tails[0].lastOf())
	}
	return gone, nil
}

func (p *Pool[T]) senderOver(h *pooledEntry[T]) bool {
	q := p.senders[h.Sender]
	if q == nil {
		return h.Size > p.limits.SenderBytes
	}
	return len(q.txs) >= p.limits.SenderCount || q.bytes > p.limits.SenderBytes-h.Size
}

// canDisplace reports whether h may push x out of a full pool: it bids more, and x
// is not one that h must come after.
func (p *Pool[T]) canDisplace(h, x *pooledEntry[T]) bool {
	return x.bid.Less(h.bid) && (x.Sender != h.Sender || x.Nonce > h.Nonce)
}

// noteArrival notes an arrival, and forgets those that left once they are the most.
func (p *Pool[T]) noteArrival(h *pooledEntry[T]) {
	p.byAge = append(p.byAge, h)
	if len(p.byAge) < 2*len(p.byHash)+64 {
		return
	}
	kept := make([]*pooledEntry[T], 0, len(p.byHash))
	for _, x := range p.byAge {
		if !x.left {
			kept = append(kept, x)
		}
	}
	p.byAge = kept
}
