package node

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/nodetext"
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

	log *slog.Logger

	mu   sync.Mutex
	set  *runnerfile.Runner // as they were read last
	said []string           // what it offered when validators were told last
}

// reloadSettings reads the settings again and has the runner say to its validators what it offers
// since, and what no more. Where a setting is wrong, everything stays as it was.
func (r *reloading) reloadSettings() (added, removed []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, err := runnerfile.Reopen(r.path, r.set)
	if err != nil {
		return nil, nil, err
	}
	r.does.Replace(next.Executor)
	r.set = next
	added, removed = r.sendOfferChanges()
	r.beginWorker()
	return added, removed, nil
}

// takeExecutors takes the executors of a runner that has just started as what it offers.
func (r *reloading) takeExecutors() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = offersOf(r.does)
	r.beginWorker()
}

// beginWorker starts the worker program, if there is one. The caller holds mu.
func (r *reloading) beginWorker() {
	if r.set.Worker != nil {
		r.set.Worker.Begin(r.log, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			added, removed := r.sendOfferChanges()
			r.log.Info("the worker program changed what the runner offers", "added", added, "removed", removed)
		})
	}
}

// sendOfferChanges sends the validators the runner's capabilities that were added and removed since
// the last time. The caller holds mu.
func (r *reloading) sendOfferChanges() (added, removed []string) {
	now := offersOf(r.does)
	added, removed = lackedBy(now, r.said), lackedBy(r.said, now)
	r.said = now
	if shell := r.runner.Shell(); shell != nil && len(added)+len(removed) > 0 {
		shell.Change(added, removed)
	}
	return added, removed
}

// reopenExecutors opens the executors of a runner that starts again, whose former ones are closed.
// At that time no job waits at the executor manual.
func (r *reloading) reopenExecutors() error {
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

// reloadAndPrint reads the settings again, and prints the changes.
func (r *reloading) reloadAndPrint(c *cli.Context) {
	added, removed, err := r.reloadSettings()
	if err != nil {
		fmt.Fprintf(c.App.ErrWriter, "The settings stay as they were: %v\n  Correct %s and send SIGHUP again.\n", err, r.path)
		return
	}
	if len(added)+len(removed) == 0 {
		fmt.Fprintln(c.App.Writer, "The settings are read again: it offers the same as before.")
		return
	}
	fmt.Fprintf(c.App.Writer, "The settings are read again. The runner notifies its validators: %s\n"+
		"Draws follow the registry, which has not changed.\n", nodetext.NameChanges(added, removed))
}
