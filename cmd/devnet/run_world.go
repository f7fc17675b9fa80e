package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/batch"
	live "github.com/cowboyinc/devnet/internal/worlds/box/stage"
	simulated "github.com/cowboyinc/devnet/internal/worlds/sim/stage"
)

// backendDocker is a backend that is not there yet.
const backendDocker = "docker"

// batchFlag makes devnet run read a batch from its standard input. It is for
// devnet itself.
const batchFlag = "batch-on-stdin"

// checkWorld refuses a world that is not there.
func checkWorld(w batch.World) error {
	switch w.Backend {
	case batch.Sim, batch.Live:
	case backendDocker:
		return usage("There are: sim, live.", "--backend docker comes with the containers, and is not there yet")
	default:
		return usage("There are: sim, live.", "--backend: there is no %q", w.Backend)
	}
	if _, err := w.Pace(); err != nil {
		return usage("Leave it out for the script's own.", "--block-time is %v", err)
	}
	return nil
}

// worldFlags name the world where it is not that of devnet run without flags.
func worldFlags(w batch.World) (words []string) {
	if w.BlockTime != "" {
		words = append(words, "--block-time", w.BlockTime)
	}
	if w.Backend != batch.Sim {
		words = append(words, "--backend", w.Backend)
	}
	return words
}

// openSimulated is a variable so that a test can plant a world that is not the
// function of its seed.
var openSimulated scenario.Open = simulated.Open

// runner makes runs as devnet run does.
var runner = &batch.Runner{
	Open: func(ctx context.Context, w batch.World) scenario.Open {
		if w.Backend == batch.Live {
			return live.Opener(ctx)
		}
		return openSimulated
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

// workBatch is a batch's process.
func workBatch(c *cli.Context) error {
	err := runner.Work(c.Context, os.Stdin, c.App.Writer)
	if unreadable := (*batch.UnreadableError)(nil); errors.As(err, &unreadable) {
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

// jobs are all runs of the plan: each scenario with each seed.
func (p *plan) jobs() (all []batch.Job) {
	for _, file := range p.files {
		if !p.many {
			all = append(all, batch.Job{File: file, Seed: p.seed})
			continue
		}
		for i := range p.seeds {
			all = append(all, batch.Job{File: file, Seed: &p.seeds[i]})
		}
	}
	return all
}

// run makes all runs: one alone here, several in processes of their own.
func (p *plan) run(c *cli.Context) ([]batch.Verdict, error) {
	jobs := p.jobs()
	if len(jobs) == 1 {
		v, err := p.alone(c, jobs[0])
		return []batch.Verdict{v}, err
	}
	show := newShow(c, len(jobs), p.json)
	defer show.close()
	verdicts, err := runner.Run(c.Context, p.World, jobs, show.add)
	if err != nil && c.Context.Err() == nil {
		return nil, noStart("", "%v", err)
	}
	return verdicts, err
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
		return report(os.Stderr, p.conclude(c, []batch.Verdict{v}))
	})
	if err == nil && v.Failed() && !p.json {
		v.Complain(c.App.Writer)
	}
	return v, err
}
