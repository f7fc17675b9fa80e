package mempool

import (
	"container/heap"
	"sort"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Pool holds transactions that are in no final block. It is not safe for
// concurrent use.
type Pool[T any] struct {
	limits  Limits
	byHash  map[types.Hash]*pooledEntry[T]
	senders map[types.Address]*queue[T]
	tails   tailHeap[T]       // all queues, that with the cheapest last transaction on top
	byAge   []*pooledEntry[T] // all by their arrival; those that left are still in it for a while
	arrival uint64
	bytes   int

	rounds uint64                   // calls of Confirmed
	served map[types.Address]uint64 // the round in which a waiting sender last had a turn; none if it had none since it waits
}

// pooledEntry is an entry in the pool.
type pooledEntry[T any] struct {
	Entry[T]
	bid     types.Wei
	arrival uint64
	came    types.Height
	left    bool
}

// queue is a sender's transactions by nonce. It is never empty.
type queue[T any] struct {
	sender types.Address
	txs    []*pooledEntry[T]
	bytes  int
	index  int // its place in tails
}

func (q *queue[T]) lastOf() *pooledEntry[T] { return q.txs[len(q.txs)-1] }

// positionOf returns the index of nonce in the queue, or the index at which it would
// be inserted.
func (q *queue[T]) positionOf(nonce types.Nonce) (at int, found bool) {
	at = sort.Search(len(q.txs), func(i int) bool { return q.txs[i].Nonce >= nonce })
	return at, at < len(q.txs) && q.txs[at].Nonce == nonce
}

// New returns an empty pool.
func New[T any](limits Limits) *Pool[T] {
	return &Pool[T]{limits: limits, byHash: make(map[types.Hash]*pooledEntry[T]), senders: make(map[types.Address]*queue[T]),
		served: make(map[types.Address]uint64)}
}

// Len is how many transactions the pool holds.
func (p *Pool[T]) Len() int { return len(p.byHash) }

// Get returns a transaction by its hash.
func (p *Pool[T]) Get(hash types.Hash) (Entry[T], bool) {
	h := p.byHash[hash]
	if h == nil {
		return Entry[T]{}, false
	}
	return h.Entry, true
}

// NextNonce is the nonce after those of sender's transactions that follow the
// account's nonce without a gap.
func (p *Pool[T]) NextNonce(sender types.Address, account types.Nonce) types.Nonce {
	q := p.senders[sender]
	if q == nil {
		return account
	}
	at, _ := q.positionOf(account)
	for ; at < len(q.txs) && q.txs[at].Nonce == account; at++ {
		account++
	}
	return account
}

// Drop takes out a transaction that no block can hold. Later ones of its sender
// stay, and wait for one that fills the gap.
func (p *Pool[T]) Drop(hash types.Hash) (Entry[T], bool) {
	h := p.byHash[hash]
	if h == nil {
		return Entry[T]{}, false
	}
	p.removeEntry(h)
	p.forgetTurns(h.Sender)
	return h.Entry, true
}

// forgetTurns forgets the turns of a sender that waits no more.
func (p *Pool[T]) forgetTurns(sender types.Address) {
	if p.senders[sender] == nil {
		delete(p.served, sender)
	}
}

// Account is the nonce of an account after a final block.
type Account struct {
	Address types.Address
	Nonce   types.Nonce
}

// Confirmed takes out what final blocks used up: all transactions of the given
// accounts whose nonce is below the account's. It returns them in the order of
// the accounts, then of nonces.
func (p *Pool[T]) Confirmed(accounts []Account) (gone []Entry[T]) {
	p.rounds++
	for _, a := range accounts {
		q := p.senders[a.Address]
		if q != nil && q.txs[0].Nonce < a.Nonce {
			p.served[a.Address] = p.rounds
		}
		for q != nil && q.txs[0].Nonce < a.Nonce {
			h := q.txs[0]
			p.removeEntry(h)
			gone = append(gone, h.Entry)
			q = p.senders[a.Address]
		}
		p.forgetTurns(a.Address)
	}
	return gone
}

// Expire takes out what came AgeBlocks or more before height now and AgeTime or more before a
// time, oldest first. Neither falls from one call of the pool to the next.
func (p *Pool[T]) Expire(now types.Height, at types.Time) (gone []Entry[T]) {
	n := 0
	for ; n < len(p.byAge); n++ {
		h := p.byAge[n]
		if h.left {
			continue
		}
		if uint64(now-h.came) < p.limits.AgeBlocks || now < h.came || at < h.Came.Add(p.limits.AgeTime) {
			break
		}
		p.removeEntry(h)
		p.forgetTurns(h.Sender)
		gone = append(gone, h.Entry)
	}
	p.byAge = p.byAge[n:]
	return gone
}

// insertEntry puts a transaction into its sender's queue.
func (p *Pool[T]) insertEntry(h *pooledEntry[T]) {
	h.left = false
	p.byHash[h.Hash] = h
	p.bytes += h.Size
	q := p.senders[h.Sender]
	if q == nil {
		q = &queue[T]{sender: h.Sender, txs: []*pooledEntry[T]{h}, bytes: h.Size}
		p.senders[h.Sender] = q
		heap.Push(&p.tails, q)
		return
	}
	at, _ := q.positionOf(h.Nonce)
	q.txs = append(q.txs, nil)
	copy(q.txs[at+1:], q.txs[at:])
	q.txs[at] = h
	q.bytes += h.Size
	if at == len(q.txs)-1 {
		heap.Fix(&p.tails, q.index)
	}
}

// removeEntry takes a transaction out of its sender's queue.
func (p *Pool[T]) removeEntry(h *pooledEntry[T]) {
	h.left = true
	delete(p.byHash, h.Hash)
	p.bytes -= h.Size
	q := p.senders[h.Sender]
	at, _ := q.positionOf(h.Nonce)
	q.bytes -= h.Size
	switch last := len(q.txs) - 1; {
	case last == 0:
		heap.Remove(&p.tails, q.index)
		delete(p.senders, h.Sender)
		q.txs = nil
		return
	case at == 0:
		q.txs[0] = nil
		q.txs = q.txs[1:]
		return
	default:
		copy(q.txs[at:], q.txs[at+1:])
		q.txs[last] = nil
		q.txs = q.txs[:last]
		if at == last {
			heap.Fix(&p.tails, q.index)
		}
	}
}

// tailHeap orders the queues by their last transaction: the lowest bid on top,
// of equal ones the latest to come.
type tailHeap[T any] []*queue[T]

func (t tailHeap[T]) Len() int           { return len(t) }
func (t tailHeap[T]) Less(i, j int) bool { return isCheaper(t[i].lastOf(), t[j].lastOf()) }
func (t tailHeap[T]) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}

func (t *tailHeap[T]) Push(x any) {
	q := x.(*queue[T])
	q.index = len(*t)
	*t = append(*t, q)
}

func (t *tailHeap[T]) Pop() any {
	last := len(*t) - 1
	q := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	return q
}

func isCheaper[T any](a, b *pooledEntry[T]) bool {
	if c := a.bid.Cmp(b.bid); c != 0 {
		return c < 0
	}
	return a.arrival > b.arrival
}
