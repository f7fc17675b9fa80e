package box

import (
	"fmt"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
)

// faltering is the misbehaviour of a runner's process, with the faults that caused it.
// A new process is sound.
type faltering struct {
	mu   sync.Mutex
	mask Faltering         // of the process that runs, or ran last
	by   map[string]*Fault // the faults in force, by verb
}

// wrap puts a new process of a runner behind a mask.
func (f *faltering) wrap(given env.Runner) env.Runner {
	mask, given := byzantine.NewRunnerMask(given)
	f.fresh(mask)
	return given
}

// fresh begins with a new process.
func (f *faltering) fresh(mask Faltering) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mask, f.by = mask, map[string]*Fault{}
}

// begin notes the fault of an order, in place of the one of its verb before.
func (f *faltering) begin(o *fault.Order, made *Fault) {
	f.end(o.Verb)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.by[o.Verb] = made
}

// end ends the fault of a verb, and returns it; nil if there is none.
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

// do does an order of a runner. The fault is nil where the verb leaves none.
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
	case "panic", "hang":
		return r.upset(o)
	}
	if !r.Running() {
		return nil, fmt.Errorf("%s does not run: restart it first", r.Name)
	}
	if o.Mends() {
		return r.recover(o), nil
	}
	f := r.network.faults.add(o)
	r.begin(o, f)
	switch o.Verb {
	case "blackhole":
		r.mask.Swallow(&f.counts)
	case "saturate":
		r.mask.Saturate(&f.counts)
		r.runner.Drain(true, "saturated")
	case "capability":
		r.mask.Offer(*o, &f.counts)
		r.runner.Change(o.Add, o.Remove)
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

// recover ends a fault of a runner, which it returns.
func (r *Runner) recover(o *fault.Order) *Fault {
	switch o.Verb {
	case "blackhole":
		r.mask.Swallow(nil)
	case "saturate":
		r.mask.Saturate(nil)
		r.runner.Drain(false, "")
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

// rejoin ends a runner's process, and restarts it the ordered number of blocks
// later.
func (r *Runner) rejoin(o *fault.Order) (*Fault, error) {
	f, err := r.drop(o)
	if err != nil {
		return f, err
	}
	r.network.registration.comeLater(r.Name, types.Height(o.AfterBlocks), o.NewIdentity)
	return f, nil
}
