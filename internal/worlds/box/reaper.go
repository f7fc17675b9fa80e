package box

import (
	"context"
	"log/slog"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

// reaper stops the validators and the runners that have left, on a separate goroutine.
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
				r.retire()
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

// retire stops former validators, once a block of the set without them is final:
// until then they may have to help the others to the last one.
func (r *reaper) retire() {
	best := r.nodes.Best().Validator().Head()
	if best.Block.Header.Border() {
		return
	}
	for _, node := range r.nodes.List() {
		switch status := history.Membership(best.State, node.Address); {
		case status != history.StatusLeft:
			node.joining.Store(false)
			node.spared.Store(false)
		case node.Started() && !node.joining.Load() && !node.spared.Load():
			if err := r.roster.StopNode(node.Name); err != nil {
				r.log.Error("a validator that has left does not stop", "node", node.Name, "error", err)
			}
			r.left(node.Name)
		}
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
