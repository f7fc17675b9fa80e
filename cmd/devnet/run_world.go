package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/batch"
	live "github.com/cowboyinc/devnet/internal/worlds/box/stage"
	clustered "github.com/cowboyinc/devnet/internal/worlds/cluster/stage"
	simulated "github.com/cowboyinc/devnet/internal/worlds/sim/stage"
)

// batchFlag makes devnet run read a batch from its standard input. It is for
// devnet itself.
const batchFlag = "batch-on-stdin"

// checkWorld refuses an unavailable world.
func checkWorld(w batch.World) error {
	if !slices.Contains(batch.Backends, w.Backend) && w.Backend != backendAll {
		return usage("There are: "+strings.Join(batch.Backends, ", ")+", all.", "--backend: there is no %q", w.Backend)
	}
	if _, err := w.Pace(); err != nil {
		return usage("Leave it out for the script's own.", "--block-time is %v", err)
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
	if w.Backend == batch.Docker && w.Image != defaultImage {
		words = append(words, "--image", w.Image)
	}
	return words
}

// openSimulated is a variable so that a test can plant a world that is not the
// function of its seed.
var openSimulated scenario.Open = simulated.Open

// runner makes runs as devnet run does.
var runner = &batch.Runner{
	Open: func(ctx context.Context, w batch.World) scenario.Open {
		switch w.Backend {
		case batch.Live:
			return live.Opener(ctx)
		case batch.Processes:
			return clustered.Processes(ctx, ownCommand)
		case batch.Docker:
			return clustered.Containers(ctx, w.Image)
		}
		return openSimulated
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
	Replay: replay,
	Process: func(ctx context.Context) (*exec.Cmd, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		command := exec.CommandContext(ctx, self)
		command.Args = []string{os.Args[0], "run", "--" + batchFlag}
		return command, nil
	},
}

// ownCommand is this program with other arguments, not started.
func ownCommand(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0] // starting it tells
	}
	command := exec.Command(self)
	command.Args = append([]string{os.Args[0]}, args...)
	return command
}

// workBatch is a batch's process.
func workBatch(c *cli.Context) error {
	err := runner.Work(c.Context, os.Stdin, c.App.Writer)
	if unreadable, is := errors.AsType[*batch.UnreadableError](err); is {
		return usage("It is how devnet run starts its own processes.", "--%s: %v", batchFlag, unreadable)
	}
	return err
}

// checkScripts reads all scripts and runs none.
func checkScripts(files []string) error {
	for _, file := range files {
		if err := scenario.Check(file); err != nil {
			return &failure{code: exitUsage, what: inFolder(file, err.Error())}
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

// jobs are the runs of the plan, each scenario with each seed: those of its shard.
func (p *plan) jobs() (mine []batch.Job) {
	at := 0
	add := func(j batch.Job) {
		if p.shard.Has(at) {
			mine = append(mine, j)
		}
		at++
	}
	for _, file := range p.files {
		if !p.many {
			add(batch.Job{File: file, Seed: p.seed})
			continue
		}
		for i := range p.seeds {
			add(batch.Job{File: file, Seed: &p.seeds[i]})
		}
	}
	return mine
}

// run makes all runs: a single one here, several in separate processes.
func (p *plan) run(c *cli.Context) ([]batch.Verdict, error) {
	jobs := p.jobs()
	if len(jobs) == 1 {
		v, err := p.alone(c, jobs[0])
		return []batch.Verdict{v}, err
	}
	show := newShow(c, len(jobs), p.json)
	defer show.close()
	verdicts, err := runner.Run(c.Context, p.World, jobs, show.add)
	switch {
	case err == nil:
		return verdicts, nil
	case c.Context.Err() != nil:
		return nil, show.interrupted(len(jobs))
	}
	return nil, noStart("", "%v", err)
}

// alone makes the only run in this process, and prints what the script prints as
// it does.
func (p *plan) alone(c *cli.Context, j batch.Job) (batch.Verdict, error) {
	out := io.Discard
	if !p.json {
		out = c.App.Writer
	}
	v, err := runner.Alone(c.Context, p.World, j, p.trace, out, func(v batch.Verdict) int {
		if !p.json {
			v.Complain(c.App.Writer)
		}
		return report(os.Stderr, p.conclude(c, []batch.Verdict{v}), p.json)
	})
	if err == nil && v.Failed() && !p.json {
		v.Complain(c.App.Writer)
	}
	return v, err
}
