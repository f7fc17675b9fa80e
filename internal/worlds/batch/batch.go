// Package batch makes runs of scenarios: one in this process, many in separate
// processes, each within limits of memory and of time that hold whatever happens
// inside the process. A run gives a Verdict; a failing one of the simulator is made
// again, to see that one seed is one run.
//
// It does not know worlds or the command line: a Runner gives it the functions that
// open a network, start another process of the program and print the command for
// repeating a run.
package batch

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// Limits of batches.
const (
	// maxBatchRuns bounds the runs of one process: remains of a run in its process
	// reach few others.
	maxBatchRuns = 32
	// batchesPerProcess is how many batches each core gets at least, so that
	// both end at about one time.
	batchesPerProcess = 4
)

// The backends. But for Sim, networks would keep each other's votes waiting, so one runs
// at a time.
const (
	Sim       = "sim"       // one seed is one run
	Live      = "live"      // in this process
	Processes = "processes" // one process per node
	Docker    = "docker"    // one container per node
)

// Backends are all of them.
var Backends = []string{Sim, Live, Processes, Docker}

// World is where runs take place.
type World struct {
	Backend   string `json:"backend"`
	BlockTime string `json:"block_time,omitempty"` // "": the script's own
	Image     string `json:"image,omitempty"`      // of containers
	Record    bool   `json:"record,omitempty"`     // the outcome is noted, to be compared
}

// Pace is what BlockTime asks for, nil for the script's own.
func (w World) Pace() (*scenario.Pace, error) {
	if w.BlockTime == "" {
		return nil, nil
	}
	pace, err := scenario.ParsePace(w.BlockTime)
	return &pace, err
}

// Job is one run to be made.
type Job struct {
	File string  `json:"file"`
	Seed *uint64 `json:"seed"` // nil: the script's own
}

// Runner makes runs. Its functions come from the program that it is part of.
type Runner struct {
	// Open returns what opens the networks of a world.
	Open func(context.Context, World) scenario.Open
	// Replay is the command by which a person makes a run again.
	Replay func(file string, w World, seed uint64) string
	// Process is another process of this program, not started yet, that calls
	// Work with its standard input and output.
	Process func(context.Context) (*exec.Cmd, error)
	// Least returns the shortest block time that networks of a world keep, by the number
	// of their validators; nil, as what it returns may be: any.
	Least func(World) func(validators int) time.Duration
}

func (r *Runner) least(w World) func(int) time.Duration {
	if r.Least == nil {
		return nil
	}
	return r.Least(w)
}

// Run makes runs in separate processes, as many at a time as there are cores, and
// returns their verdicts in the order of jobs. told is called with each as it
// comes, one at a time. An error is that runs were interrupted or that a process
// could not be started.
func (r *Runner) Run(ctx context.Context, w World, jobs []Job, told func(*Verdict)) ([]Verdict, error) {
	processes := runtime.GOMAXPROCS(0)
	if w.Backend != Sim {
		processes = 1
	}
	pool := &pool{runner: r, world: w, ctx: ctx, told: told, verdicts: make([]Verdict, len(jobs))}
	all := make([]placed, len(jobs))
	for i, j := range jobs {
		all[i] = placed{j, i}
	}
	queue := make(chan []placed, len(jobs))
	size := min(maxBatchRuns, max(1, len(jobs)/(processes*batchesPerProcess)))
	for part := range slices.Chunk(all, size) {
		queue <- part
	}
	close(queue)
	var wait sync.WaitGroup
	for range processes {
		wait.Go(func() {
			for part := range queue {
				pool.work(part)
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return pool.verdicts, pool.err
}

// placed is a job and its place among the verdicts.
type placed struct {
	Job
	at int
}

// pool is the batches under way.
type pool struct {
	runner *Runner
	world  World
	ctx    context.Context
	told   func(*Verdict)

	mu       sync.Mutex
	verdicts []Verdict
	probes   int   // failing runs that were made again
	err      error // why batches could not be started
}

// work makes the runs of one batch. A run that takes its process down fails, and
// the runs after it get a new process.
func (p *pool) work(jobs []placed) {
	for len(jobs) > 0 && p.ctx.Err() == nil {
		b := batch{World: p.world}
		for i := range jobs {
			b.Jobs = append(b.Jobs, jobs[i].Job)
		}
		done, end := p.runner.process(p.ctx, b, func(i int, v Verdict) { p.take(jobs[i].at, v) })
		jobs = jobs[done:]
		if len(jobs) == 0 || p.ctx.Err() != nil {
			return
		}
		if end.told {
			continue
		}
		var died *exec.ExitError
		if end.err != nil && !errors.As(end.err, &died) {
			p.mu.Lock()
			p.err = errors.Join(p.err, fmt.Errorf("a batch of runs cannot be started: %w", end.err))
			p.mu.Unlock()
			return
		}
		p.take(jobs[0].at, p.runner.lost(jobs[0].Job, p.world, end))
		jobs = jobs[1:]
	}
}

// take files a verdict, and has a failing run of the simulator made again.
func (p *pool) take(at int, v Verdict) {
	if v.Failed() {
		p.mu.Lock()
		probe := p.probes < maxProbes
		p.probes++
		p.mu.Unlock()
		if probe {
			v.Unstable = p.runner.reproduce(p.ctx, &v)
		} else {
			v.Timeline, v.Trace = nil, nil // the first tell, and a thousand would fill a terminal
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verdicts[at] = v
	p.told(&v)
}

// lost is the verdict on a run whose process ended under it.
func (r *Runner) lost(j Job, w World, end ending) Verdict {
	v := Verdict{File: j.File, World: w, Code: Failed, Error: "the process of this run ended without a verdict"}
	if j.Seed != nil {
		v.Seed = *j.Seed
	}
	if end.err != nil {
		v.Error += ": " + end.err.Error()
	}
	if words := strings.TrimSpace(end.words); words != "" {
		v.Error += "\n" + words
	}
	v.Replay = r.Replay(v.File, v.World, v.Seed)
	return v
}
