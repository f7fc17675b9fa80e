package mempool

import (
	"container/heap"
	"iter"

	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Fees are the base fees of the block to be proposed, in wei.
type Fees struct {
	Cycle types.Wei
	Cell  types.Wei
}

// Pending yields the transactions that a block on some parent can hold, in the
// order to propose them: the highest effective tip per cycle first, then per
// cell, then the least weight, then senders in turn, then the earliest to
// come, and each sender's by nonce. nonce gives an account's nonce after the parent. A
// sender's turn ends at a gap, and at a transaction that does not reach a base fee. The
// pool must not change meanwhile.
//
// Its cost is a step per sender to begin and a heap operation per transaction
// taken, so a block that takes little costs little.
func (p *Pool[T]) Pending(fees Fees, nonce func(types.Address) types.Nonce, weightOf func(T) int) iter.Seq[Entry[T]] {
	return func(yield func(Entry[T]) bool) {
		heads := make(turns[T], 0, len(p.tails))
		for _, q := range p.tails {
			t := turn[T]{queue: q, next: nonce(q.sender), served: p.served[q.sender], weightOf: weightOf}
			t.at, _ = q.positionOf(t.next)
			if t.loadNext(fees) {
				heads = append(heads, t)
			}
		}
		heap.Init(&heads)
		for len(heads) > 0 {
			top := &heads[0]
			if !yield(top.head.Entry) {
				return
			}
			top.taken++
			if top.at, top.next = top.at+1, top.next+1; top.loadNext(fees) {
				heap.Fix(&heads, 0)
			} else {
				heap.Pop(&heads)
			}
		}
	}
}

// turn is a sender's place in the order.
type turn[T any] struct {
	queue    *queue[T]
	at       int
	next     types.Nonce
	head     *pooledEntry[T]
	tipCycle types.Wei
	tipCell  types.Wei
	weight   int
	taken    int    // transactions of the sender that were yielded
	served   uint64 // Pool.served of the sender
	weightOf func(T) int
}

// loadNext looks at the sender's next transaction; false ends its turn.
func (t *turn[T]) loadNext(fees Fees) (ok bool) {
	if t.at >= len(t.queue.txs) || t.queue.txs[t.at].Nonce != t.next {
		return false
	}
	t.head = t.queue.txs[t.at]
	if t.tipCycle, ok = feemarket.Tip(t.head.MaxFeePerCycle, t.head.MaxPriorityFeePerCycle, fees.Cycle); !ok {
		return false
	}
	t.tipCell, ok = feemarket.Tip(t.head.MaxFeePerCell, t.head.MaxPriorityFeePerCell, fees.Cell)
	if ok {
		t.weight = t.weightOf(t.head.Value)
	}
	return ok
}

type turns[T any] []turn[T]

func (t turns[T]) Len() int      { return len(t) }
func (t turns[T]) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t turns[T]) Less(i, j int) bool {
	if c := t[i].tipCycle.Cmp(t[j].tipCycle); c != 0 {
		return c > 0
	}
	if c := t[i].tipCell.Cmp(t[j].tipCell); c != 0 {
		return c > 0
	}
	if a, b := t[i].weight, t[j].weight; a != b {
		return a < b
	}
	if a, b := t[i].taken, t[j].taken; a != b {
		return a < b
	}
	if a, b := t[i].served, t[j].served; a != b {
		return a < b
	}
	return t[i].head.arrival < t[j].head.arrival
}
func (t *turns[T]) Push(x any) { *t = append(*t, x.(turn[T])) }
func (t *turns[T]) Pop() any {
	last := (*t)[len(*t)-1]
	(*t)[len(*t)-1] = turn[T]{}
	*t = (*t)[:len(*t)-1]
	return last
}
