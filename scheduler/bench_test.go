package scheduler

import (
	"container/heap"
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// heapOf is the baseline: container/heap by height and sequence, in memory, with
// nothing hashed, stored, limited or charged.
type heapOf []types.Timer

func (h heapOf) Len() int      { return len(h) }
func (h heapOf) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h heapOf) Less(i, j int) bool {
	return h[i].Height < h[j].Height || h[i].Height == h[j].Height && h[i].Seq < h[j].Seq
}
func (h *heapOf) Push(x any) { *h = append(*h, x.(types.Timer)) }
func (h *heapOf) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

const benchSpread = 100_000 // heights over which pending timers lie

func actorNumber(n int) types.Address { return types.Address{1, byte(n), byte(n >> 8), byte(n >> 16)} }

// heightOf spreads the timers without order.
func heightOf(n int) types.Height { return 1000 + types.Height(n*7919%benchSpread) }

// states are those that are compared: how they begin with n timers pending.
var states = []struct {
	name string
	kv   func(n int) KV
}{
	{"memory", func(n int) KV { return populate(newMemory(), n) }},
	{"trie", func(n int) KV {
		m := populate(newMemory(), n)
		batch := make([]trie.Change, 0, m.size)
		for _, p := range m.dump() {
			batch = append(batch, trie.Change{Key: p.key, Value: p.value})
		}
		return &onTrie{trie.Build(batch)}
	}},
}

var populated = map[int]*memory{}

func populate(m *memory, n int) *memory {
	if populated[n] == nil {
		p := newWorld().p
		p.MaxTimers = 1 << 40
		for i := range n {
			if _, _, err := blockOf(&p, m, 1).Schedule(actorNumber(i/100), nil, program.TimerRequest{Height: heightOf(i)}); err != nil {
				panic(err)
			}
			m.journal = m.journal[:0]
		}
		populated[n] = m
	}
	return populated[n]
}

// BenchmarkInsert schedules one timer more.
func BenchmarkInsert(b *testing.B) {
	for _, pending := range []int{10_000, 1_000_000} {
		for _, s := range states {
			b.Run(fmt.Sprintf("%s/pending=%d", s.name, pending), func(b *testing.B) {
				kv, p := s.kv(pending), newWorld().p
				p.MaxTimers = 1 << 40
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					i++
					t, _, err := blockOf(&p, kv, 1).Schedule(actorNumber(i), nil, program.TimerRequest{Height: heightOf(i)})
					if err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					blockOf(&p, kv, 1).Cancel(t.Actor, t.ID)
					undo(kv)
					b.StartTimer()
				}
			})
		}
		b.Run(fmt.Sprintf("heap/pending=%d", pending), func(b *testing.B) {
			h := fullHeap(pending)
			i := 0
			for b.Loop() {
				i++
				heap.Push(&h, types.Timer{Height: heightOf(i), Seq: types.Seq(i)})
			}
		})
	}
}

func undo(kv KV) {
	if m, ok := kv.(*memory); ok {
		m.journal = m.journal[:0]
	}
}

func fullHeap(n int) heapOf {
	h := make(heapOf, 0, n+n/4) // so that growing is not what is measured
	for i := range n {
		h = append(h, types.Timer{Height: heightOf(i), Seq: types.Seq(i)})
	}
	heap.Init(&h)
	return h
}

// BenchmarkFire is a timer's whole way: scheduled for the next block, due there,
// judged, removed and fired by a handler that does nothing.
func BenchmarkFire(b *testing.B) {
	for _, pending := range []int{10_000, 1_000_000} {
		for _, s := range states {
			b.Run(fmt.Sprintf("%s/pending=%d", s.name, pending), func(b *testing.B) {
				kv, p := s.kv(pending), newWorld().p
				p.MaxTimers = 1 << 40
				lane := LaneHost{CellsLeft: 1_000_000,
					Fire: func(order Fire) (Fired, error) {
						order.Take()
						return Fired{Result: types.StatusOK}, nil
					}}
				for b.Loop() {
					for i := range 10 {
						blockOf(&p, kv, 1).Schedule(actorNumber(i), nil, program.TimerRequest{Height: 2})
					}
					out, err := blockOf(&p, kv, 2).RunLane(lane)
					if err != nil || len(out.Changes) != 10 {
						b.Fatal(len(out.Changes), err)
					}
					undo(kv)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10, "ns/timer")
			})
		}
		b.Run(fmt.Sprintf("heap/pending=%d", pending), func(b *testing.B) {
			h := fullHeap(pending)
			for b.Loop() {
				for i := range 10 {
					heap.Push(&h, types.Timer{Height: 2, Seq: types.Seq(i)})
				}
				for len(h) > 0 && h[0].Height <= 2 {
					heap.Pop(&h)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10, "ns/timer")
		})
	}
}

// BenchmarkBacklog is a block that examines as many carried timers as it may
// and defers all of them.
func BenchmarkBacklog(b *testing.B) {
	for _, s := range states {
		b.Run(s.name, func(b *testing.B) {
			kv, p := s.kv(100_000), newWorld().p
			p.GCCyclesPerBlock = 0
			blockOf(&p, kv, 1<<30).Maintain() // all of them are carried by then
			b.ReportAllocs()
			for b.Loop() {
				out, err := blockOf(&p, kv, 1<<30).RunLane(LaneHost{})
				if err != nil || len(out.Changes) != 50_000 {
					b.Fatal(len(out.Changes), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/50_000, "ns/timer")
		})
	}
}

// limitless are books in which everybody holds everything.
type limitless struct{}

func (limitless) Balance(types.Address) types.Wei                   { return types.MaxWei }
func (limitless) Deployer(a types.Address) types.Address            { return a }
func (limitless) Move(types.Address, types.Address, types.Wei) bool { return true }

func blockOf(p *params.Params, kv KV, height types.Height) *InBlock {
	return &InBlock{Params: p, KV: kv, Height: height, Books: limitless{}}
}
