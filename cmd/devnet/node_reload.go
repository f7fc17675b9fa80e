package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	runnerfile "github.com/cowboyinc/devnet/internal/environment/executor/settings"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/node"
)

// reloading is the settings of a runner that runs, which are read again on demand.
type reloading struct {
	path   string
	does   *executor.Swap
	runner *node.Runner

	mu  sync.Mutex
	set *runnerfile.Runner // as they were read last
}

// reload reads the settings again and has the runner say to its validators what it offers
// since, and what no more. Where a setting is wrong, everything stays as it was.
func (r *reloading) reload() (added, removed []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, err := runnerfile.Reopen(r.path, r.set)
	if err != nil {
		return nil, nil, err
	}
	before := offersOf(r.does)
	r.does.Replace(next.Executor)
	r.set = next
	added, removed = lackedBy(offersOf(r.does), before), lackedBy(before, offersOf(r.does))
	if len(added)+len(removed) > 0 {
		r.runner.Shell().Change(added, removed)
	}
	return added, removed, nil
}

// reopen opens the executors of a runner that starts again, whose former ones are closed.
// No job waits at the executor manual then.
func (r *reloading) reopen() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	former := *r.set
	former.Manual = nil
	next, err := runnerfile.Reopen(r.path, &former)
	if err != nil {
		return err
	}
	r.set, r.does = next, executor.NewSwap(next.Executor)
	return nil
}

// offersOf are the capabilities of an executor, and its entitlements as offers.
func offersOf(x env.Executor) []string {
	all := slices.Clone(x.Capabilities())
	for _, pool := range x.Entitlements() {
		all = append(all, fault.PoolPrefix+pool)
	}
	return all
}

// lackedBy are the names of one list that are not in another.
func lackedBy(names, other []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(other, name) })
}

// tell reads the settings again, and prints the changes.
func (r *reloading) tell(c *cli.Context) {
	added, removed, err := r.reload()
	if err != nil {
		fmt.Fprintf(c.App.ErrWriter, "The settings stay as they were: %v\n  Correct %s and send SIGHUP again.\n", err, r.path)
		return
	}
	if len(added)+len(removed) == 0 {
		fmt.Fprintln(c.App.Writer, "The settings are read again: it offers the same as before.")
		return
	}
	var words []string
	for _, name := range added {
		words = append(words, "+"+name)
	}
	for _, name := range removed {
		words = append(words, "-"+name)
	}
	fmt.Fprintf(c.App.Writer, "The settings are read again. The runner tells its validators: %s\n"+
		"Draws follow the registry, which has not changed.\n", printable(strings.Join(words, " ")))
}
