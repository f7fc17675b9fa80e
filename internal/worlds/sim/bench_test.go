package sim

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// BenchmarkSteps is eight roles that each post to themselves: the loop alone.
func BenchmarkSteps(b *testing.B) {
	left := b.N
	w := toys(b, Config{Seed: 1}, 8, func(string) *toy {
		return &toy{
			started: func(y *toy) { y.inbox.Post(1) },
			event: func(y *toy, event any) {
				if left--; left > 0 {
					y.inbox.Post(event)
				}
			},
		}
	})
	b.ReportAllocs()
	b.ResetTimer()
	letRun(b, w, time.Second)
	b.ReportMetric(float64(w.Steps())/b.Elapsed().Seconds(), "steps/s")
}

// BenchmarkFrames is frames of 200 bytes between eight nodes over links with
// latency and jitter: send, heap, arrival, mailbox, step.
func BenchmarkFrames(b *testing.B) {
	left := b.N
	frame := make([]byte, 200)
	var addresses []types.Address
	for _, n := range names(8) {
		addresses = append(addresses, name(n).Address())
	}
	w := toys(b, Config{Seed: 1, Link: Link{Latency: 20 * time.Millisecond, Jitter: 5 * time.Millisecond}}, 8, func(string) *toy {
		next := 0
		onward := func(y *toy, _ string, _ []byte) {
			if left--; left > 0 {
				next++
				to := addresses[next%8]
				if to == y.Signer.Address() {
					to = addresses[(next+1)%8]
				}
				y.Mesh.Send(to, frame)
			}
		}
		return &toy{started: func(y *toy) { y.alarm.Set(y.Clock.Now().Add(1)) }, ring: func(y *toy) { onward(y, "", nil) }, frame: onward}
	})
	b.ReportAllocs()
	b.ResetTimer()
	letRun(b, w, 1000*time.Hour)
	b.ReportMetric(float64(w.Steps())/b.Elapsed().Seconds(), "steps/s")
}

// BenchmarkBareHeap is the same traffic as BenchmarkFrames over container/heap
// and function calls: no actors, no links, no trace.
func BenchmarkBareHeap(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var h bareHeap
	b.ReportAllocs()
	for i := range 8 {
		heap.Push(&h, bare{at: types.Time(i)})
	}
	for range b.N {
		e := heap.Pop(&h).(bare)
		heap.Push(&h, bare{e.at.Add(20*time.Millisecond + time.Duration(rng.Int64N(5_000_000)))})
	}
}

type bare struct{ at types.Time }
type bareHeap []bare

func (h bareHeap) Len() int           { return len(h) }
func (h bareHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h bareHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *bareHeap) Push(x any)        { *h = append(*h, x.(bare)) }
func (h *bareHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// BenchmarkNew is what a seed costs before anything happens.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for i := range b.N {
		New(Config{Seed: uint64(i)}).Close()
	}
}
