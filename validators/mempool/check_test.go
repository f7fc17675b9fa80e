package mempool

import "fmt"

// Check returns the first thing that is never true of a pool, or nil.
func (p *Pool[T]) Check() error {
	count, bytes := 0, 0
	for i, q := range p.tails {
		if q.index != i || p.senders[q.sender] != q || len(q.txs) == 0 {
			return fmt.Errorf("mempool: the queue of %s is misplaced", q.sender)
		}
		if i > 0 && isCheaper(q.lastOf(), p.tails[(i-1)/2].lastOf()) {
			return fmt.Errorf("mempool: the tail of %s is cheaper than the one above it", q.sender)
		}
		if err := p.checkQueue(q); err != nil {
			return err
		}
		count += len(q.txs)
		bytes += q.bytes
	}
	if len(p.senders) != len(p.tails) || count != len(p.byHash) || bytes != p.bytes {
		return fmt.Errorf("mempool: %d transactions of %d bytes in queues, %d of %d in all", count, bytes, len(p.byHash), p.bytes)
	}
	if count > p.limits.Count || bytes > p.limits.Bytes {
		return fmt.Errorf("mempool: %d transactions, %d bytes exceed the limits", count, bytes)
	}
	aged := 0
	for _, h := range p.byAge {
		if !h.left {
			aged++
		}
	}
	if aged != count {
		return fmt.Errorf("mempool: %d of %d transactions would expire", aged, count)
	}
	return nil
}

func (p *Pool[T]) checkQueue(q *queue[T]) error {
	bytes := 0
	for i, h := range q.txs {
		if p.byHash[h.Hash] != h || h.left || h.Sender != q.sender {
			return fmt.Errorf("mempool: transaction %s is in a queue and not in the pool", h.Hash)
		}
		if i > 0 && q.txs[i-1].Nonce >= h.Nonce {
			return fmt.Errorf("mempool: the queue of %s is out of order", q.sender)
		}
		bytes += h.Size
	}
	if bytes != q.bytes || bytes > p.limits.SenderBytes || len(q.txs) > p.limits.SenderCount {
		return fmt.Errorf("mempool: sender %s has %d transactions of %d bytes, counted %d", q.sender, len(q.txs), bytes, q.bytes)
	}
	return nil
}
