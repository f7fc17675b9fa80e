package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
	"github.com/cowboyinc/devnet/internal/runs/clustered"
	"github.com/cowboyinc/devnet/internal/runs/experiment"
	"github.com/cowboyinc/devnet/internal/runs/live"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

// BatchFlag makes devnet run read a batch from its standard input. It is for
// devnet itself.
const BatchFlag = "batch-on-stdin"

// checkWorld refuses an unavailable world.
func checkWorld(w batch.World) error {
	if !slices.Contains(batch.Backends, w.Backend) && w.Backend != backendAll {
		return failure.NewUsage("There are: "+strings.Join(batch.Backends, ", ")+", all.", "--backend: there is no %q", w.Backend)
	}
	if _, err := w.Pace(); err != nil {
		return failure.NewUsage("Leave it out for the script's own.", "--block-time is %v", err)
	}
	return nil
}

// worldFlags names the world if it is not the default of devnet run.
func worldFlags(w batch.World) (words []string) {
	if w.BlockTime != "" {
		words = append(words, "--block-time", w.BlockTime)
	}
	if w.Backend != batch.Sim {
		words = append(words, "--backend", w.Backend)
	}
	if w.Backend == batch.Docker && w.Image != launch.DefaultImage {
		words = append(words, "--image", w.Image)
	}
	return words
}

// OpenSimulated is a variable so that a test can plant a world that is not the
// function of its seed.
var OpenSimulated scenario.Open = simulated.Open

// runner makes runs as devnet run does.
var runner = &batch.Runner{
	Open: func(ctx context.Context, w batch.World) scenario.Open {
		switch w.Backend {
		case batch.Live:
			return live.Opener(ctx)
		case batch.Processes:
			return clustered.Processes(ctx, self.Command)
		case batch.Docker:
			return clustered.Containers(ctx, w.Image)
		}
		return OpenSimulated
	},
	Least: func(w batch.World) func(int) time.Duration {
		switch w.Backend {
		case batch.Processes:
			return clustered.LeastInProcesses
		case batch.Docker:
			return clustered.LeastInContainers
		}
		return nil
	},
	Replay: replayCommand,
	Python: minorPython,
	Process: func(ctx context.Context) (*exec.Cmd, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		command := exec.CommandContext(ctx, self)
		command.Args = []string{os.Args[0], "run", "--" + BatchFlag}
		return command, nil
	},
}

// minorPython is the minor version of the Python that runs actors here; "" without one.
func minorPython() string {
	hosts := pyhost.New(pyhost.Config{Hosts: 1})
	defer hosts.Close()
	version, err := hosts.Probe()
	if err != nil {
		return ""
	}
	return pyhost.Minor(version)
}

// workBatch is a batch's process.
func workBatch(c *cli.Context) error {
	err := runner.Work(c.Context, os.Stdin, c.App.Writer)
	if unreadable, is := errors.AsType[*batch.UnreadableError](err); is {
		return failure.NewUsage("It is how devnet run starts its own processes.", "--%s: %v", BatchFlag, unreadable)
	}
	return err
}

// checkScripts reads all scripts and runs none.
func checkScripts(files []string) error {
	for _, file := range files {
		if err := scenario.Check(file); err != nil {
			return &failure.Failure{Code: failure.ExitUsage, What: inFolder(file, err.Error())}
		}
	}
	return nil
}

// inFolder names a scenario as the person did: the scripts know their files by
// their names in their folder.
func inFolder(file, text string) string {
	if dir := filepath.Dir(file); dir != "." {
		return text + "\n  in " + dir
	}
	return text
}

// checkSettings refuses settings that the scripts cannot read, before anything runs.
func checkSettings(files []string, grid experiment.Grid) error {
	err := scenario.CheckSettings(files, grid.Settings())
	if wrong, is := errors.AsType[*scenario.Mistake](err); is {
		return failure.NewUsage("", "%s", wrong.What)
	}
	return err
}

// allJobs are the runs of the plan, of all shards: each scenario with each seed at each point.
func (p *plan) allJobs() iter.Seq[batch.Job] {
	return func(yield func(batch.Job) bool) {
		for _, file := range p.files {
			for j := range p.grid.Jobs(file, p.eachSeed) {
				if !yield(j) {
					return
				}
			}
		}
	}
}

// eachSeed yields the seeds of the plan.
func (p *plan) eachSeed(yield func(*uint64) bool) {
	if !p.many {
		yield(p.seed)
		return
	}
	for i := range p.seeds {
		seed := p.first + i
		if !yield(&seed) {
			return
		}
	}
}

// jobsOfShard are the runs of its shard.
func (p *plan) jobsOfShard() iter.Seq[batch.Job] {
	return func(yield func(batch.Job) bool) {
		at := -1
		for j := range p.allJobs() {
			if at++; p.shard.Has(at) && !yield(j) {
				return
			}
		}
	}
}

// mineCount is how many these are.
func (p *plan) mineCount() int {
	all, of := p.countRuns(), max(1, int(p.shard.Of))
	return (all - max(1, int(p.shard.Index)) + of) / of
}

// run makes all runs: a single one here, several in separate processes.
func (p *plan) run(c *cli.Context, t *tally) error {
	count := p.mineCount()
	if count == 1 {
		for j := range p.jobsOfShard() {
			v, err := p.runAlone(c, j, t)
			if err != nil {
				return err
			}
			t.addRun(j, &v)
		}
		return nil
	}
	show := newShow(c, count, p.json)
	defer show.Close()
	if show.Line == nil && !p.json {
		defer printEach(c.Context, func(at time.Time) { fmt.Fprintln(c.App.ErrWriter, show.lineText(int64(count), at.Sub(show.began))) })()
	}
	err := runner.Run(c.Context, batch.Batch{World: p.World, Jobs: p.jobsOfShard(), Count: count, Processes: p.jobs}, show.addVerdict,
		t.addRun)
	switch {
	case err == nil:
		return nil
	case c.Context.Err() != nil:
		return show.interruptedError(count)
	}
	return failure.NewNoStart("", "%v", err)
}

// runAlone makes the only run in this process, and prints what the script prints as
// it does.
func (p *plan) runAlone(c *cli.Context, j batch.Job, t *tally) (batch.Verdict, error) {
	out := io.Discard
	if !p.json {
		out = c.App.Writer
	}
	v, err := runAlone(c.Context, p.json, c.App.ErrWriter, j.File, func(one *batch.Runner) (batch.Verdict, error) {
		return one.Alone(c.Context, p.World, j, p.trace, out, func(v batch.Verdict) int {
			if !p.json {
				printComplaint(c.App.Writer, &v)
			}
			t.addRun(j, &v)
			return command.ReportError(os.Stderr, p.concludeRuns(c, t), p.json)
		})
	})
	if err == nil && v.Failed() && !p.json {
		printComplaint(c.App.Writer, &v)
	}
	return v, err
}
