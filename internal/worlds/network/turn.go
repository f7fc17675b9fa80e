package network

import (
	"context"
	"slices"
)

// Turn lets one caller through at a time, also while that waits. Callers come in the order
// in which they asked. It takes the place of a lock, which no simulated wait may hold.
type Turn struct {
	scheduler Scheduler
	queue     guardedValue[queue]
}

// queue is the caller that has the turn, and the callers that wait for it.
type queue struct {
	taken   bool
	closed  bool // it has no holder any more
	waiting []*Signal
}

// NewTurn makes a free turn.
func NewTurn(s Scheduler) *Turn { return &Turn{scheduler: s} }

// Do waits for the turn and has do use it. It fails with the error of that wait, with that
// of do, or with ErrClosed.
func (t *Turn) Do(ctx context.Context, do func() error) error {
	if mine := t.takeOrWait(); mine != nil {
		if err := t.scheduler.Wait(ctx, mine, Forever); err != nil {
			t.giveUp(mine)
			return err
		}
	}
	defer t.passTurn()
	if t.isOver() {
		return ErrClosed
	}
	return do()
}

// Close has do take the last turn. A later caller is refused.
func (t *Turn) Close(do func() error) error {
	return t.Do(context.Background(), func() error {
		t.queue.withValue(func(q *queue) { q.closed = true })
		return do()
	})
}

func (t *Turn) isOver() (closed bool) {
	t.queue.withValue(func(q *queue) { closed = q.closed })
	return closed
}

// takeOrWait takes the turn, or returns the signal that fires when the caller has it.
func (t *Turn) takeOrWait() (mine *Signal) {
	t.queue.withValue(func(q *queue) {
		if !q.taken {
			q.taken = true
			return
		}
		mine = new(Signal)
		q.waiting = append(q.waiting, mine)
	})
	return mine
}

// passTurn gives the turn to the caller that waits longest.
func (t *Turn) passTurn() {
	var next *Signal
	t.queue.withValue(func(q *queue) {
		if q.taken = len(q.waiting) > 0; q.taken {
			next, q.waiting = q.waiting[0], q.waiting[1:]
		}
	})
	if next != nil {
		next.Fire()
	}
}

// giveUp leaves the queue. A turn that came at the same moment goes to the next.
func (t *Turn) giveUp(mine *Signal) {
	came := true
	t.queue.withValue(func(q *queue) {
		if i := slices.Index(q.waiting, mine); i >= 0 {
			q.waiting, came = slices.Delete(q.waiting, i, i+1), false
		}
	})
	if came {
		t.passTurn()
	}
}
