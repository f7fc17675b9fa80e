package scheduler

import (
	"container/heap"
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// turnHeap is the baseline of selecting: container/heap over priority times
// weight in 128 bits at most, in memory, nothing else.
type turnHeap []struct{ urgency, seq uint64 }

func (h turnHeap) Len() int      { return len(h) }
func (h turnHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h turnHeap) Less(i, j int) bool {
	return h[i].urgency > h[j].urgency || h[i].urgency == h[j].urgency && h[i].seq < h[j].seq
}
func (h *turnHeap) Push(x any) { panic("the baseline is built at once") }
func (h *turnHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// crowded is a state in which n timers of n/100 actors are due at height 2, with
// mixed tips.
func crowded(p *params.Params, kv KV, n int) KV {
	p.Policy, p.MaxTimers = EIP1559, 1<<40
	for i := range n {
		tip := types.WeiOf(uint64(i * 7919 % 1000))
		if _, _, err := blockOf(p, kv, 1).Schedule(actorNumber(i/100), nil,
			program.TimerRequest{Height: 2, MaxFeePerCycle: ptr(types.WeiOf(1 << 40)),
				MaxPriorityFeePerCycle: &tip}); err != nil {
			panic(err)
		}
	}
	return kv
}

// BenchmarkSelect is what CIP-1 §3 steps 4-7 ask for: of n timers due, which go
// first. sort orders those that are priced and weighed; lane is the whole lane
// in a block that has room for none, from the state to the deferrals.
func BenchmarkSelect(b *testing.B) {
	for _, n := range []int{10_000, 50_000} {
		p := newWorld().p
		m := newMemory()
		crowded(&p, m, n)
		m.journal = nil
		b.Run(fmt.Sprintf("sort/due=%d", n), func(b *testing.B) {
			r := &laneRun{InBlock: blockOf(&p, m, 2), policy: eip1559{}}
			r.takeDue()
			run := &eip1559Run{lane: r, window: r.fairnessWindow()}
			if err := run.quotePrices(); err != nil {
				b.Fatal(err)
			}
			ready, _ := r.classifyDue()
			b.ReportAllocs()
			for b.Loop() {
				run.byUrgency(ready)
			}
		})
		b.Run(fmt.Sprintf("lane/due=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if out, err := blockOf(&p, m, 2).RunLane(LaneHost{}); err != nil || len(out.Changes) != n {
					b.Fatal(len(out.Changes), err)
				}
			}
		})
		b.Run(fmt.Sprintf("heap/due=%d", n), func(b *testing.B) {
			h := make(turnHeap, n)
			for b.Loop() {
				h = h[:n]
				for i := range h {
					h[i].urgency, h[i].seq = uint64(i*7919%1000), uint64(i)
				}
				heap.Init(&h)
				for len(h) > 0 {
					heap.Pop(&h)
				}
			}
		})
	}
}
