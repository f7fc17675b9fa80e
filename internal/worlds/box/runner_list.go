package box

import (
	"slices"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// runnerList is the network's own runners. It is read without a lock; who adds or
// replaces holds the roster's.
type runnerList struct {
	all atomic.Pointer[[]*Runner]
}

// RunnerList is the network's own runners, in the order of their names, those that are
// stopped too.
func (l *runnerList) RunnerList() []*Runner {
	if list := l.all.Load(); list != nil {
		return *list
	}
	return nil
}

// putRunner adds a runner, in place of the one with the same name.
func (l *runnerList) putRunner(r *Runner) {
	list := slices.Clone(l.RunnerList())
	if i := slices.IndexFunc(list, func(one *Runner) bool { return one.Name == r.Name }); i >= 0 {
		list[i] = r
	} else {
		list = append(list, r)
	}
	l.all.Store(&list)
}

// reloadRunner makes a runner read its settings again.
func (l *runnerList) reloadRunner(name string) error {
	r := l.findRunner(name)
	switch {
	case r == nil:
		return refusal.New("unknown_node", "no runner is called %q", name).Hint("GET /runners lists them.").At("runner")
	case !r.Running():
		return refusal.New("node_stopped", "%s is not running", name).Hint("Restart it first.").At("runner")
	}
	return r.Reload()
}

// Answer gives the result of a job to all runners that wait for it, and returns those that
// took it. It calls refused for each of the others.
func (l *runnerList) Answer(job types.Hash, given execution.Given, refused func(runner string, err error)) (took []types.Address) {
	for _, r := range l.RunnerList() {
		if !r.Running() || !slices.Contains(r.Waiting(), job) {
			continue
		}
		if err := r.Answer(job, given); err != nil {
			refused(r.Name, err)
			continue
		}
		took = append(took, r.Address)
	}
	return took
}

func (l *runnerList) findRunner(name string) *Runner {
	for _, r := range l.RunnerList() {
		if r.Name == name {
			return r
		}
	}
	return nil
}
