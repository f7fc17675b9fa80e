package mempool

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// crowd is n transactions of n/10 senders, shuffled by their hashes.
func crowd(n int) []Entry[int] {
	all := make([]Entry[int], n)
	for i := range all {
		all[i] = tx(types.Address{0: 1, 1: byte(i / 10 >> 8), 2: byte(i / 10)}, types.Nonce(i%10), 1000, 0)
		all[i].MaxPriorityFeePerCycle = types.WeiOf(uint64(all[i].Hash[0])<<8 + uint64(all[i].Hash[1]))
		all[i].MaxFeePerCycle = types.WeiOf(1 << 20)
	}
	slices.SortFunc(all, func(a, b Entry[int]) int { return slices.Compare(a.Hash[:], b.Hash[:]) })
	return all
}

func filled(b *testing.B, all []Entry[int]) *Pool[int] {
	p := New[int](DefaultLimits)
	for _, e := range all {
		if _, err := p.Add(1, e, 0); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

func zeroNonce(types.Address) types.Nonce { return 0 }

// BenchmarkAdd10000 fills an empty pool; the time covers all of them.
func BenchmarkAdd10000(b *testing.B) {
	all := crowd(10_000)
	b.ReportAllocs()
	for b.Loop() {
		filled(b, all)
	}
}

// BenchmarkPending takes a block's transactions out of 10,000, compared with a
// naive sort of all of them by tip each time.
func BenchmarkPending(b *testing.B) {
	all := crowd(10_000)
	p := filled(b, all)
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("pool/take=%d", n), func(b *testing.B) {
			for b.Loop() {
				left := n
				for range p.Pending(base, zeroNonce, thirdOf) {
					if left--; left == 0 {
						break
					}
				}
			}
		})
	}
	b.Run("naive-sort", func(b *testing.B) {
		for b.Loop() {
			sorted := slices.Clone(all)
			slices.SortFunc(sorted, func(x, y Entry[int]) int {
				a, _ := feemarket.Tip(x.MaxFeePerCycle, x.MaxPriorityFeePerCycle, base.Cycle)
				c, _ := feemarket.Tip(y.MaxFeePerCycle, y.MaxPriorityFeePerCycle, base.Cycle)
				return c.Cmp(a)
			})
		}
	})
}

// BenchmarkAddToFull is the newcomer that displaces the cheapest.
func BenchmarkAddToFull(b *testing.B) {
	limits := DefaultLimits
	limits.Count = 10_000
	p := New[int](limits)
	for _, e := range crowd(10_000) {
		p.Add(1, e, 0)
	}
	bid := uint64(1 << 17)
	for b.Loop() {
		bid++
		e := tx(types.Address{2, byte(bid), byte(bid >> 8), byte(bid >> 16), byte(bid >> 24)}, 0, 1<<40, bid)
		if _, err := p.Add(1, e, 0); err != nil {
			b.Fatal(err)
		}
	}
}
