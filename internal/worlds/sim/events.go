package sim

import (
	"math/bits"
	"runtime/debug"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// event is something that happens at a virtual time.
type event struct {
	at       types.Time
	sequence uint64 // orders events of one time: first in, first out
	what     happening
}

// happening is the action of an event: a frame that arrives, an alarm that rings, a
// role that can step again, an event of a connection, or a call.
type happening interface{ happenAt(event) }

// call is what a test does, or a world by itself.
type call func()

func (c call) happenAt(event) { c() }

// happenAt lets the role step again whose work or disk kept it.
func (r run) happenAt(event) { r.loop.queueStep(r.fn) }

// eventHeap is a heap by time, then sequence: each event has four below it, which are
// adjacent, since a crowd's heap does not fit into a fast cache.
type eventHeap []event

const eventsBelow = 4

func (e *event) isBefore(other *event) bool {
	return e.at < other.at || (e.at == other.at && e.sequence < other.sequence)
}

// precedenceBit is 1 if the event is before the other, otherwise 0: what isBefore says, without a branch that
// guesses wrong half of the time. No event is before time 0.
func (e *event) precedenceBit(other *event) uint64 {
	_, borrow := bits.Sub64(e.sequence, other.sequence, 0)
	_, borrow = bits.Sub64(uint64(e.at), uint64(other.at), borrow)
	return borrow
}

// firstOf returns the place of the first of four events.
func firstOf(four *[eventsBelow]event) uint64 {
	low, high := four[1].precedenceBit(&four[0]), 2+four[3].precedenceBit(&four[2])
	return low + (high-low)*four[high%eventsBelow].precedenceBit(&four[low%eventsBelow])
}

func (h *eventHeap) pushEvent(e event) {
	heap := append(*h, e)
	i := len(heap) - 1
	for i > 0 {
		parent := (i - 1) / eventsBelow
		if !e.isBefore(&heap[parent]) {
			break
		}
		heap[i] = heap[parent]
		i = parent
	}
	heap[i] = e
	*h = heap
}

func (h *eventHeap) popEvent() event {
	heap := *h
	first := heap[0]
	last := len(heap) - 1
	e := heap[last]
	heap[last] = event{}
	heap = heap[:last]
	*h = heap
	if last == 0 {
		return first
	}
	i := 0
	for {
		child := eventsBelow*i + 1
		if child >= last {
			break
		}
		if child+eventsBelow <= last {
			child += int(firstOf((*[eventsBelow]event)(heap[child:])))
		} else {
			for other := child + 1; other < last; other++ {
				if heap[other].isBefore(&heap[child]) {
					child = other
				}
			}
		}
		if !heap[child].isBefore(&e) {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = e
	return first
}

func stackTrace() []byte { return debug.Stack() }
