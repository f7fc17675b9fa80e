package mempool

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// twin is the dumbest correct pool: one list, sorted when asked.
type twin struct {
	limits Limits
	txs    []twinTx
	next   int
	rounds uint64
	served map[types.Address]uint64
}

type twinTx struct {
	Entry[int]
	came    types.Height
	arrival int
}

func (m *twin) bytes() (n int) {
	for _, x := range m.txs {
		n += x.Size
	}
	return n
}

func (m *twin) of(a types.Address) (own []twinTx) {
	for _, x := range m.txs {
		if x.Sender == a {
			own = append(own, x)
		}
	}
	slices.SortFunc(own, func(a, b twinTx) int { return int(a.Nonce) - int(b.Nonce) })
	return own
}

func (m *twin) drop(h types.Hash) {
	m.txs = slices.DeleteFunc(m.txs, func(x twinTx) bool { return x.Hash == h })
}

// atLeast is fee × 110 / 100, rounded up, and more than fee.
func atLeast(fee types.Wei) types.Wei {
	return types.WeiOf(max((must64(fee)*110+99)/100, must64(fee)+1))
}

func must64(w types.Wei) uint64 {
	n, ok := w.Uint64()
	if !ok {
		panic(w)
	}
	return n
}

func stated(e *Entry[int]) uint64 {
	return min(must64(e.MaxFeePerCycle), must64(e.MaxPriorityFeePerCycle))
}

func (m *twin) add(now types.Height, e Entry[int], account types.Nonce) (displaced []types.Hash, code string) {
	before := slices.Clone(m.txs)
	give := func(x twinTx) { m.drop(x.Hash); displaced = append(displaced, x.Hash) }
	fail := func(code string) ([]types.Hash, string) { m.txs = before; return nil, code }
	for _, x := range m.txs {
		if x.Hash == e.Hash {
			return fail(CodeAlreadyKnown)
		}
	}
	if e.Nonce < account {
		return fail(CodeNonceTooLow)
	}
	if uint64(e.Nonce-account) > m.limits.NonceAhead {
		return fail(CodeNonceGap)
	}
	for _, x := range m.of(e.Sender) {
		if x.Nonce != e.Nonce {
			continue
		}
		if e.MaxFeePerCycle.Less(atLeast(x.MaxFeePerCycle)) || e.MaxPriorityFeePerCycle.Less(atLeast(x.MaxPriorityFeePerCycle)) ||
			e.MaxFeePerCell.Less(x.MaxFeePerCell) || e.MaxPriorityFeePerCell.Less(x.MaxPriorityFeePerCell) {
			return fail(CodeUnderpriced)
		}
		give(x)
	}
	for {
		own := m.of(e.Sender)
		size := e.Size
		for _, x := range own {
			size += x.Size
		}
		if len(own) < m.limits.SenderCount && size <= m.limits.SenderBytes {
			break
		}
		if len(own) == 0 || own[len(own)-1].Nonce < e.Nonce || len(displaced) == MaxDisplaced {
			return fail(CodeSenderFull)
		}
		give(own[len(own)-1])
	}
	for len(m.txs)+1 > m.limits.Count || m.bytes()+e.Size > m.limits.Bytes {
		victim, found := m.cheapestTail()
		if !found || len(displaced) == MaxDisplaced || stated(&victim.Entry) >= stated(&e) || victim.Sender == e.Sender &&
			victim.Nonce < e.Nonce {
			return fail(CodePoolFull)
		}
		give(victim)
	}
	m.txs = append(m.txs, twinTx{e, now, m.next})
	m.next++
	return displaced, ""
}

func (m *twin) cheapestTail() (least twinTx, found bool) {
	for _, x := range m.txs {
		if own := m.of(x.Sender); own[len(own)-1].Hash != x.Hash {
			continue
		}
		if a, b := stated(&x.Entry), stated(&least.Entry); !found || a < b || a == b && x.arrival > least.arrival {
			least, found = x, true
		}
	}
	return least, found
}

// pending takes, again and again, the best of the senders' next transactions.
func (m *twin) pending(fees Fees, nonces map[types.Address]types.Nonce) (order []types.Hash) {
	next, taken := map[types.Address]types.Nonce{}, map[types.Address]int{}
	for a, n := range nonces {
		next[a] = n
	}
	tips := func(x twinTx) (cycle, cell uint64) {
		return min(must64(x.MaxPriorityFeePerCycle), must64(x.MaxFeePerCycle)-must64(fees.Cycle)),
			min(must64(x.MaxPriorityFeePerCell), must64(x.MaxFeePerCell)-must64(fees.Cell))
	}
	for {
		var best *twinTx
		for i := range m.txs {
			x := &m.txs[i]
			if x.Nonce != next[x.Sender] || x.MaxFeePerCycle.Less(fees.Cycle) || x.MaxFeePerCell.Less(fees.Cell) {
				continue
			}
			if best == nil {
				best = x
				continue
			}
			c, l := tips(*x)
			bc, bl := tips(*best)
			if c > bc || c == bc && (l > bl || l == bl && m.goesBefore(x, best, taken)) {
				best = x
			}
		}
		if best == nil {
			return order
		}
		order = append(order, best.Hash)
		next[best.Sender]++
		taken[best.Sender]++
	}
}

// thirdOf stands for the weight in these tests.
func thirdOf(value int) int { return value % 3 }

// goesBefore orders transactions of equal tips: the lightest, then senders in turn, then those
// that came first.
func (m *twin) goesBefore(x, y *twinTx, taken map[types.Address]int) bool {
	switch {
	case thirdOf(x.Value) != thirdOf(y.Value):
		return thirdOf(x.Value) < thirdOf(y.Value)
	case taken[x.Sender] != taken[y.Sender]:
		return taken[x.Sender] < taken[y.Sender]
	case m.served[x.Sender] != m.served[y.Sender]:
		return m.served[x.Sender] < m.served[y.Sender]
	}
	return x.arrival < y.arrival
}

func (m *twin) confirm(accounts []Account) {
	m.rounds++
	for _, a := range accounts {
		before := len(m.txs)
		m.txs = slices.DeleteFunc(m.txs, func(x twinTx) bool { return x.Sender == a.Address && x.Nonce < a.Nonce })
		if len(m.txs) < before {
			m.served[a.Address] = m.rounds
		}
	}
}

func (m *twin) expire(now types.Height) {
	m.txs = slices.DeleteFunc(m.txs, func(x twinTx) bool { return uint64(now-x.came) >= m.limits.AgeBlocks })
}

var smallLimits = Limits{Count: 14, Bytes: 1000, SenderCount: 6, SenderBytes: 500, NonceAhead: 8, AgeBlocks: 9}

var senders = []types.Address{{1}, {2}, {3}, {4}}

func entryOf(t *rapid.T, account map[types.Address]types.Nonce) Entry[int] {
	fee := rapid.Uint64Range(0, 12)
	e := Entry[int]{Sender: rapid.SampledFrom(senders).Draw(t, "sender"), Size: rapid.SampledFrom([]int{10, 80, 200, 501}).Draw(t, "size"),
		MaxFeePerCycle: types.WeiOf(fee.Draw(t, "fee")), MaxPriorityFeePerCycle: types.WeiOf(fee.Draw(t, "priority")),
		MaxFeePerCell: types.WeiOf(fee.Draw(t, "cell fee")), MaxPriorityFeePerCell: types.WeiOf(fee.Draw(t, "cell priority"))}
	e.Nonce = account[e.Sender] + types.Nonce(rapid.Uint64Range(0, 10).Draw(t, "ahead"))
	if e.Nonce > 0 && rapid.IntRange(0, 15).Draw(t, "stale") == 0 {
		e.Nonce--
	}
	if far := rapid.IntRange(0, 30).Draw(t, "far"); far < 3 {
		e.Nonce = []types.Nonce{1 << 32, 1 << 63, 1<<64 - 1}[far]
	}
	e.Value = rapid.IntRange(0, 1<<20).Draw(t, "value")
	e.Hash = types.Keccak([]byte(fmt.Sprint(e.Sender, e.Nonce, e.Value, e.MaxFeePerCycle)))
	return e
}

func hashes(entries []Entry[int]) (all []types.Hash) {
	for _, e := range entries {
		all = append(all, e.Hash)
	}
	return all
}

func TestThePoolIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool, m, now := New[int](smallLimits), &twin{limits: smallLimits, served: map[types.Address]uint64{}}, types.Height(0)
		account := map[types.Address]types.Nonce{}
		var last Entry[int]
		add := func(e Entry[int]) {
			displaced, err := pool.Add(now, e, account[e.Sender])
			want, code := m.add(now, e, account[e.Sender])
			var refusal *Error
			if errors.As(err, &refusal) != (code != "") || code != "" && refusal.Code != code || !slices.Equal(hashes(displaced), want) {
				t.Fatalf("add %+v: %v, displaced %v; the twin says %q, %v", e, err, hashes(displaced), code, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add":  func(t *rapid.T) { last = entryOf(t, account); add(last) },
			"add2": func(t *rapid.T) { last = entryOf(t, account); add(last) },
			"fill": func(t *rapid.T) {
				for range 8 {
					add(entryOf(t, account))
				}
			},
			"again": func(*rapid.T) { add(last) },
			"drop": func(t *rapid.T) {
				if len(m.txs) == 0 {
					return
				}
				h := m.txs[rapid.IntRange(0, len(m.txs)-1).Draw(t, "which")].Hash
				pool.Drop(h)
				m.drop(h)
				if _, again := pool.Drop(h); again {
					t.Fatal("dropped twice")
				}
			},
			"block": func(t *rapid.T) {
				now++
				var accounts []Account
				for _, a := range senders {
					account[a] += types.Nonce(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "used"))
					accounts = append(accounts, Account{a, account[a]})
				}
				before := len(m.txs)
				gone := pool.Confirmed(accounts)
				m.confirm(accounts)
				gone = append(gone, pool.Expire(now, 0)...)
				m.expire(now)
				if len(gone) != before-len(m.txs) {
					t.Fatalf("%d gone, with the twin %d", len(gone), before-len(m.txs))
				}
			},
			"": func(t *rapid.T) {
				if err := pool.Check(); err != nil {
					t.Fatal(err)
				}
				for _, a := range senders {
					if len(m.of(a)) == 0 {
						delete(m.served, a)
					}
				}
				if pool.Len() != len(m.txs) || pool.Bytes() != m.bytes() || len(pool.Held()) != len(m.txs) {
					t.Fatalf("%d transactions of %d bytes, with the twin %d of %d", pool.Len(), pool.Bytes(), len(m.txs), m.bytes())
				}
				fees := Fees{Cycle: types.WeiOf(rapid.Uint64Range(0, 6).Draw(t, "base")),
					Cell: types.WeiOf(rapid.Uint64Range(0, 3).Draw(t, "cell base"))}
				var got []types.Hash
				for e := range pool.Pending(fees, func(a types.Address) types.Nonce { return account[a] }, thirdOf) {
					got = append(got, e.Hash)
				}
				if want := m.pending(fees, account); !slices.Equal(got, want) {
					t.Fatalf("pending %v, with the twin %v", got, want)
				}
				for _, a := range senders {
					next := account[a]
					for _, x := range m.of(a) {
						if x.Nonce == next {
							next++
						}
					}
					if got := pool.NextNonce(a, account[a]); got != next {
						t.Fatalf("next nonce %d, with the twin %d", got, next)
					}
				}
			},
		})
	})
}

// Held lists all transactions in the order they came.
func (p *Pool[T]) Held() []Entry[T] {
	all := make([]*pooledEntry[T], 0, len(p.byHash))
	for _, q := range p.tails {
		all = append(all, q.txs...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].arrival < all[j].arrival })
	entries := make([]Entry[T], len(all))
	for i, h := range all {
		entries[i] = h.Entry
	}
	return entries
}

// Bytes is the sum of their sizes.
func (p *Pool[T]) Bytes() int { return p.bytes }
