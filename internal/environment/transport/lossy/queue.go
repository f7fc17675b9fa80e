package lossy

import (
	"container/heap"
	"net"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// waiter is a packet under way.
type waiter struct {
	at     time.Time
	number uint64 // orders packets of one time: first in, first out
	packet []byte
	to     net.Addr
	counts *fault.Counts
}

// waiting is a heap of packets by time, then number.
type waiting []waiter

func (w *waiting) pushWaiter(one waiter) { heap.Push((*byTime)(w), one) }
func (w *waiting) popWaiter() waiter     { return heap.Pop((*byTime)(w)).(waiter) }

type byTime []waiter

func (w byTime) Len() int { return len(w) }
func (w byTime) Less(i, j int) bool {
	return w[i].at.Before(w[j].at) || w[i].at.Equal(w[j].at) && w[i].number < w[j].number
}
func (w byTime) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w *byTime) Push(x any)   { *w = append(*w, x.(waiter)) }
func (w *byTime) Pop() any {
	last := len(*w) - 1
	one := (*w)[last]
	(*w)[last] = waiter{}
	*w = (*w)[:last]
	return one
}
