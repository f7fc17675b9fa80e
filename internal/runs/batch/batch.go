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
	"iter"
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
	// maxAhead is how many batches each process may be ahead of the verdicts that were
	// told: a slow run keeps the others at work, and not all their verdicts in memory.
	maxAhead = 4
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
	File     string             `json:"file"`
	Seed     *uint64            `json:"seed"` // nil: the script's own
	Settings []scenario.Setting `json:"settings,omitempty"`
	Point    int                `json:"-"` // which of a grid its settings are, from 0 on
}

// newVerdict is that on a job before it ran.
func (j *Job) newVerdict(w World) Verdict {
	v := Verdict{File: j.File, World: w, Settings: allSettings(j.Settings, nil)}
	if j.Seed != nil {
		v.Seed = *j.Seed
	}
	return v
}

// allSettings are the settings that a run was given, in their order, and then those that it
// read besides.
func allSettings(given, read []scenario.Setting) (all []scenario.Setting) {
	for _, g := range given {
		g.Given, g.Unread = true, true
		for _, one := range read {
			if one.Name == g.Name {
				g.Text, g.Unread = one.Text, false
			}
		}
		all = append(all, g)
	}
	for _, one := range read {
		if !slices.ContainsFunc(given, func(g scenario.Setting) bool { return g.Name == one.Name }) {
			all = append(all, one)
		}
	}
	return all
}

// Runner makes runs. Its functions come from the program that it is part of.
type Runner struct {
	// Open returns what opens the networks of a world.
	Open func(context.Context, World) scenario.Open
	// Replay is the command by which a person makes a run again.
	Replay func(j Job, w World, seed uint64) string
	// Python is the minor version of the Python that runs actors; "" without one. It may be nil.
	Python func() string
	// Process is another process of this program, not started yet, that calls
	// Work with its standard input and output.
	Process func(context.Context) (*exec.Cmd, error)
	// Least returns the shortest block time that networks of a world keep, by the number
	// of their validators; nil, as what it returns may be: any.
	Least func(World) func(validators int) time.Duration
	// Watch is given what shows the progress of a run's script, before the run. It may be nil.
	Watch func(*scenario.Pulse)
}

func (r *Runner) leastPatience(w World) func(int) time.Duration {
	if r.Least == nil {
		return nil
	}
	return r.Least(w)
}

// Batch is the runs to be made.
type Batch struct {
	World World
	Jobs  iter.Seq[Job]
	Count int // of the jobs
	// Processes is how many runs are made at a time; 0: as many as there are cores. Only
	// the simulator makes more than one.
	Processes int
}

// processCount is how many runs are made at a time.
func (b *Batch) processCount() int {
	switch {
	case b.World.Backend != Sim:
		return 1
	case b.Processes > 0:
		return b.Processes
	}
	return runtime.GOMAXPROCS(0)
}

// Run makes runs in separate processes. It calls came with each verdict as it comes, and
// told in the order of the jobs, one at a time. It keeps the verdicts that wait for their
// turn, of at most maxAhead batches for each process. An error is that runs were interrupted
// or that a process could not be started.
func (r *Runner) Run(ctx context.Context, b Batch, came func(*Verdict), told func(Job, *Verdict)) error {
	processes := b.processCount()
	size := min(maxBatchRuns, max(1, b.Count/(processes*batchesPerProcess)))
	next, stop := iter.Pull(b.Jobs)
	defer stop()
	p := &pool{runner: r, world: b.World, ctx: ctx, came: came, told: told, next: next, size: size, ahead: size * processes * maxAhead,
		waiting: map[int]judgedJob{}}
	p.moved.L = &p.mu
	defer context.AfterFunc(ctx, p.wakeWaiting)()
	var wait sync.WaitGroup
	for range processes {
		wait.Go(func() {
			for part := p.nextJobs(); len(part) > 0; part = p.nextJobs() {
				p.runJobs(part)
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.err
}

// placedJob is a job and its place among the jobs.
type placedJob struct {
	Job
	at int
}

// judgedJob is a job with its verdict.
type judgedJob struct {
	Job
	verdict Verdict
}

// pool is the batches under way.
type pool struct {
	runner *Runner
	world  World
	ctx    context.Context
	came   func(*Verdict)
	told   func(Job, *Verdict)
	size   int // of a batch, in jobs
	ahead  int // how far the jobs in work may be ahead of those that were told

	mu      sync.Mutex
	moved   sync.Cond // a verdict was told, or all ends
	next    func() (Job, bool)
	taken   int               // jobs that were given out
	done    int               // verdicts that were told
	waiting map[int]judgedJob // verdicts by place that wait for earlier ones
	probes  int               // failing runs that were made again
	err     error             // why batches could not be started
}

// nextJobs returns the next jobs, none if there are none or all ends. It waits while the jobs
// given out are too far ahead: the first of them is always in work.
func (p *pool) nextJobs() (jobs []placedJob) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.taken+p.size > p.done+p.ahead && !p.isOver() {
		p.moved.Wait()
	}
	for len(jobs) < p.size && !p.isOver() {
		j, more := p.next()
		if !more {
			break
		}
		jobs = append(jobs, placedJob{j, p.taken})
		p.taken++
	}
	return jobs
}

// isOver reports whether no more runs are made. The caller holds the lock.
func (p *pool) isOver() bool { return p.err != nil || p.ctx.Err() != nil }

// wakeWaiting lets those go on that wait in part.
func (p *pool) wakeWaiting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved.Broadcast()
}

// runJobs makes the runs of one batch. A run that takes its process down fails, and
// the runs after it get a new process.
func (p *pool) runJobs(jobs []placedJob) {
	for len(jobs) > 0 && p.ctx.Err() == nil {
		b := batch{World: p.world}
		for i := range jobs {
			b.Jobs = append(b.Jobs, jobs[i].Job)
		}
		done, end := p.runner.runBatchProcess(p.ctx, b, func(i int, v Verdict) { p.takeVerdict(jobs[i], v) })
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
			p.moved.Broadcast()
			p.mu.Unlock()
			return
		}
		p.takeVerdict(jobs[0], p.runner.lostVerdict(jobs[0].Job, p.world, end))
		jobs = jobs[1:]
	}
}

// takeVerdict tells a verdict and those that waited for it. It has a failing run of the simulator
// made again.
func (p *pool) takeVerdict(j placedJob, v Verdict) {
	if v.Failed() {
		p.mu.Lock()
		probe := p.probes < maxProbes
		p.probes++
		p.mu.Unlock()
		if probe {
			v.Unstable = p.runner.compareWithFreshRun(p.ctx, j.Job, &v)
		} else {
			v.Timeline, v.Trace = nil, nil // the first tell, and a thousand would fill a terminal
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.came(&v)
	p.waiting[j.at] = judgedJob{j.Job, v}
	for one, ready := p.waiting[p.done]; ready; one, ready = p.waiting[p.done] {
		delete(p.waiting, p.done)
		p.done++
		p.told(one.Job, &one.verdict)
	}
	p.moved.Broadcast()
}

// lostVerdict is the verdict on a run whose process ended under it.
func (r *Runner) lostVerdict(j Job, w World, end ending) Verdict {
	v := j.newVerdict(w)
	v.Code, v.Error = Failed, "the process of this run ended without a verdict"
	if end.err != nil {
		v.Error += ": " + end.err.Error()
	}
	if words := strings.TrimSpace(end.words); words != "" {
		v.Error += "\n" + words
	}
	v.Replay = r.Replay(j, w, v.Seed)
	return v
}
