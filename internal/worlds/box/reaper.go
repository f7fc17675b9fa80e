package box

import (
	"context"
	"log/slog"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// reaper stops the runners that have left, on a separate goroutine.
type reaper struct {
	nodes    *nodeList
	runners  *runnerList
	roster   *roster
	finality *finality
	log      *slog.Logger
	left     func(name string) // called for each node that was stopped because it has left

	wake    chan struct{} // has room for one: there are new blocks
	ended   chan struct{} // closed when the goroutine is
	dismiss func()        // ends it; nil before it began
}

// start begins to stop nodes once they have left.
func (r *reaper) start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.wake, r.ended = make(chan struct{}, 1), make(chan struct{})
	unsubscribe := r.finality.subscribe(func(types.Height) {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	})
	r.dismiss = func() {
		unsubscribe()
		cancel()
	}
	go func() {
		defer close(r.ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-r.wake:
				r.retireRunners()
			}
		}
	}()
}

// stop ends it, and waits until it has.
func (r *reaper) stop() {
	if r.dismiss != nil {
		r.dismiss()
		<-r.ended
	}
}

// retireRunners stops the runners that left the registry and have no open job any more.
func (r *reaper) retireRunners() {
	state := r.nodes.state()
	for _, one := range r.runners.RunnerList() {
		if !one.Started() || !state.Retired(one.Address) {
			continue
		}
		err := r.roster.changeRunner(one.Name, func(now *Runner) error {
			if now != one { // another came in its place
				return nil
			}
			leave([]*Runner{one})
			r.left(one.Name)
			return one.stop()
		})
		if err != nil {
			r.log.Error("a runner that has left does not stop", "node", one.Name, "error", err)
		}
	}
}
