package box

import (
	"context"
	"fmt"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
)

// faltering is what a runner's process does wrong, and the faults that had it do so. A
// new process is sound.
type faltering struct {
	mu   sync.Mutex
	mask *byzantine.RunnerMask // of the process that runs, or ran last
	by   map[string]*Fault     // by verb
}

// wrap puts a new process of a runner behind a mask.
func (f *faltering) wrap(chainID uint64, given env.Runner) env.Runner {
	mask, given := byzantine.NewRunnerMask(chainID, given)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mask, f.by = mask, map[string]*Fault{}
	return given
}

// begin notes the fault of an order, in place of the one of its verb before.
func (f *faltering) begin(o *fault.Order, made *Fault) {
	f.end(o.Verb)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.by[o.Verb] = made
}

// end ends the fault of a verb, and returns it; nil where there is none.
func (f *faltering) end(verb string) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	made := f.by[verb]
	if made != nil {
		made.end()
		delete(f.by, verb)
	}
	return made
}

// endAll ends all of them, with their process.
func (f *faltering) endAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, made := range f.by {
		made.end()
	}
	clear(f.by)
}

// falter does an order of a runner that is there. The fault is nil where the verb
// leaves none.
func (n *Network) falter(o *fault.Order) (f *Fault, err error) {
	err = n.changeRunner(o.Node, func(r *Runner) (err error) {
		f, err = r.do(o)
		return err
	})
	return f, err
}

func (r *Runner) do(o *fault.Order) (*Fault, error) {
	switch o.Verb {
	case "drop":
		return r.drop(o)
	case "restart":
		return nil, r.restart()
	case "freeze":
		return r.freeze(o)
	case "thaw":
		if !r.thaw() {
			return nil, fmt.Errorf("%s is not frozen", r.Name)
		}
		return nil, nil
	case "rejoin":
		return r.rejoin(o)
	}
	if !r.Running() {
		return nil, fmt.Errorf("%s does not run: restart it first", r.Name)
	}
	if ends(o) {
		return r.recover(o), nil
	}
	f := r.network.faults.add(o)
	r.begin(o, f)
	switch o.Verb {
	case "blackhole":
		r.mask.Swallow(&f.counts)
	case "saturate":
		r.mask.Saturate(&f.counts)
		r.runner.Shell().Drain(true, "saturated")
	case "slow":
		r.mask.Slow(o.Delay, &f.counts)
	case "flap":
		r.mask.Flap(o.Up, o.Down, o.Times, &f.counts, func() { r.end(o.Verb) })
	case "misbehave":
		return f, r.mask.Behave(o.Kind, &f.counts)
	default:
		return nil, &fault.Unsupported{Verb: o.Verb, Why: "a live network does not have it"}
	}
	return f, nil
}

// ends reports whether an order ends what others of its verb began.
func ends(o *fault.Order) bool {
	switch o.Verb {
	case "blackhole", "saturate":
		return !o.On
	case "slow":
		return o.Delay == 0
	case "misbehave":
		return o.Kind == fault.Honest
	}
	return false
}

// recover ends a fault of a runner, which it returns.
func (r *Runner) recover(o *fault.Order) *Fault {
	switch o.Verb {
	case "blackhole":
		r.mask.Swallow(nil)
	case "saturate":
		r.mask.Saturate(nil)
		r.runner.Shell().Drain(false, "")
	case "slow":
		r.mask.Slow(0, nil)
	case "misbehave":
		r.mask.Honest()
	}
	return r.end(o.Verb)
}

// drop ends a runner's process; its connections close, without a Goodbye.
func (r *Runner) drop(o *fault.Order) (*Fault, error) {
	if !r.Started() {
		return nil, fmt.Errorf("%s does not run", r.Name)
	}
	cut := r.connections()
	r.Kill()
	err := r.stop()
	r.death = r.network.faults.add(o)
	r.death.counts.Ended.Add(1)
	r.death.counts.Cut.Add(int64(cut))
	return r.death, err
}

// rejoin ends a runner's process, and has it come back so many blocks later.
func (r *Runner) rejoin(o *fault.Order) (*Fault, error) {
	f, err := r.drop(o)
	if err != nil {
		return f, err
	}
	n, name, fresh := r.network, r.Name, o.NewIdentity
	at := n.Best().height() + types.Height(o.AfterBlocks)
	n.returning.Go(func() {
		if !n.reaches(at) {
			return
		}
		if err := n.comeBack(name, fresh); err != nil {
			n.log.Error("a runner does not come back", "node", name, "error", err)
		}
	})
	return f, nil
}

// reaches waits until a height is final, and reports false at the network's end.
func (n *Network) reaches(height types.Height) bool {
	news := make(chan struct{}, 1)
	defer n.Subscribe(func(types.Height) {
		select {
		case news <- struct{}{}:
		default:
		}
	})()
	for n.Best().height() < height {
		select {
		case <-news:
		case <-n.ending.Done():
			return false
		}
	}
	return n.ending.Err() == nil
}

// comeBack starts a runner that was dropped, unless somebody did already; a fresh one
// under its next key, which it has registered.
func (n *Network) comeBack(name string, fresh bool) error {
	if fresh {
		if err := n.renew(name); err != nil {
			return err
		}
	}
	return n.changeRunner(name, func(r *Runner) error {
		if r.Started() {
			return nil
		}
		return r.restart()
	})
}

// renew gives a runner that is down its next key, and has it registered.
func (n *Network) renew(name string) error {
	before := n.findRunner(name)
	state := n.Best().Validator().Head().State
	i := 0
	for state.Runner(wallet.RunnerIdentity(n.seed, name, i).Address()) != nil {
		i++
	}
	key := wallet.RunnerIdentity(n.seed, name, i)
	ctx, cancel := context.WithTimeout(n.ending, governPatience)
	defer cancel()
	if err := n.register(ctx, key); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || before.Started() {
		return nil
	}
	after := n.newRunner(name, key)
	after.death = before.death
	n.replaceRunner(after)
	return nil
}
