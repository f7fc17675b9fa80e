package box

import (
	"context"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// scheduler is how operator code waits on this machine: a wait is for a channel, and a task is a
// goroutine.
type scheduler struct {
	failed func(task string, err error)
	ending context.Context // of the network
	quit   context.CancelFunc

	mu     sync.Mutex
	closed bool
	tasks  sync.WaitGroup
}

var _ network.Scheduler = (*scheduler)(nil)

func newScheduler(failed func(task string, err error)) *scheduler {
	s := &scheduler{failed: failed}
	s.ending, s.quit = context.WithCancel(context.Background())
	return s
}

// Now implements network.Scheduler, by the machine's clock.
func (s *scheduler) Now() types.Time { return types.Time(time.Now().UnixNano()) }

// Wait implements network.Scheduler. A signal that has fired already ends the wait at once, also at the end.
func (s *scheduler) Wait(ctx context.Context, on *network.Signal, patience time.Duration) error {
	fired := make(chan struct{})
	if waits := on.SetWake(func() { close(fired) }); !waits {
		return nil
	}
	var late <-chan time.Time
	if patience != network.Forever {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-fired:
		return nil
	case <-late:
		return network.ErrLate
	case <-s.ending.Done():
		return network.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Go implements network.Scheduler. At the network's end it does nothing.
func (s *scheduler) Go(name string, task func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.tasks.Go(func() {
		if err := task(); err != nil {
			s.failed(name, err)
		}
	})
}

// endAllWaits ends all waits, and returns when the tasks are over.
func (s *scheduler) endAllWaits() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.quit()
	s.tasks.Wait()
}
