package network

import (
	"context"
	"time"
)

// heights tells those who wait for a condition that a higher block is final.
type heights struct{ waiting guardedValue[[]*Signal] }

// wakeWaiting wakes all who wait.
func (h *heights) wakeWaiting() {
	var all []*Signal
	h.waiting.withValue(func(waiting *[]*Signal) { all, *waiting = *waiting, nil })
	for _, s := range all {
		s.Fire()
	}
}

// waitUntil waits until a condition holds, which is asked now and at each higher block. Each of these waits has a deadline.
func (h *heights) waitUntil(ctx context.Context, s Scheduler, patience time.Duration, cond func() bool) error {
	for {
		next := new(Signal)
		h.waiting.withValue(func(waiting *[]*Signal) { *waiting = append(*waiting, next) })
		if cond() {
			next.Fire() // nobody waits for it
			return nil
		}
		if err := s.Wait(ctx, next, patience); err != nil {
			return err
		}
	}
}
