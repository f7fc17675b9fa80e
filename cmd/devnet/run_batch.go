package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"
)

// Limits of batches.
const (
	// maxBatchRuns bounds the runs of one process: what a run leaves behind in
	// its process reaches few others.
	maxBatchRuns = 32
	// batchesPerProcess is how many batches each core gets at least, so that
	// both end at about one time.
	batchesPerProcess = 4
	// maxVerdictBytes bounds a line from a batch's process.
	maxVerdictBytes = 1 << 20
	// maxDyingWords bounds what is kept of the standard error of a batch's
	// process: the end of a stack, if it crashed.
	maxDyingWords = 8 << 10
)

// job is one run to be made.
type job struct {
	File string  `json:"file"`
	Seed *uint64 `json:"seed"` // nil: the script's own
	at   int     // its place among the verdicts
}

// batch is what a process reads from its standard input.
type batch struct {
	world
	Trace string `json:"trace,omitempty"`
	Jobs  []job  `json:"jobs"`
}

// told is a line from a batch's process: the verdict of the run under way. Runs
// are told of in the order of the batch.
type told struct {
	Verdict verdict `json:"verdict"`
	Last    bool    `json:"last,omitempty"` // the process ends with it: the run was beyond a limit
}

// ending is how a batch's process ended.
type ending struct {
	told  bool   // its last verdict said that it would end there
	words string // its last ones, on standard error
	err   error
}

// jobs are all runs of the plan: each scenario with each seed.
func (p *plan) jobs() (all []job) {
	for _, file := range p.files {
		if !p.many {
			all = append(all, job{file, p.seed, len(all)})
			continue
		}
		for i := range p.seeds {
			all = append(all, job{file, &p.seeds[i], len(all)})
		}
	}
	return all
}

// run makes all runs: one alone here, several in processes of their own.
func (p *plan) run(c *cli.Context) ([]verdict, error) {
	jobs := p.jobs()
	if len(jobs) == 1 {
		v, err := p.alone(c, jobs[0])
		return []verdict{v}, err
	}
	processes := runtime.GOMAXPROCS(0)
	if p.Backend == backendLive {
		processes = 1 // two networks would keep each other's votes waiting
	}
	pool := &pool{plan: p, ctx: c.Context, verdicts: make([]verdict, len(jobs)), show: newShow(c, len(jobs), p.json)}
	defer pool.show.close()
	queue := make(chan []job, len(jobs))
	size := min(maxBatchRuns, max(1, len(jobs)/(processes*batchesPerProcess)))
	for part := range slices.Chunk(jobs, size) {
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
	if err := c.Context.Err(); err != nil {
		return nil, err
	}
	return pool.verdicts, pool.err
}

// pool is the batches under way.
type pool struct {
	plan *plan
	ctx  context.Context
	show *show

	mu       sync.Mutex
	verdicts []verdict
	probes   int   // failing runs that were made again
	err      error // the first batch that could not be started
}

// work makes the runs of one batch. A run that takes its process down fails, and
// those behind it get a process of their own.
func (p *pool) work(jobs []job) {
	for len(jobs) > 0 && p.ctx.Err() == nil {
		done, end := process(p.ctx, batch{world: p.plan.world, Jobs: jobs}, func(i int, v verdict) { p.judge(jobs[i], v) })
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
			p.err = errors.Join(p.err, noStart("", "a batch of runs cannot be started: %v", end.err))
			p.mu.Unlock()
			return
		}
		p.judge(jobs[0], lost(jobs[0], p.plan.world, end))
		jobs = jobs[1:]
	}
}

// judge takes a verdict, and has a failing run of the simulator made again.
func (p *pool) judge(j job, v verdict) {
	if v.failed() {
		p.mu.Lock()
		probe := p.probes < maxProbes
		p.probes++
		p.mu.Unlock()
		if probe {
			v.Unstable = reproduce(p.ctx, &v)
		} else {
			v.Timeline = nil // the first tell, and a thousand would fill a terminal
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verdicts[j.at] = v
	p.show.add(&v)
}

// lost is the verdict on a run whose process ended under it.
func lost(j job, w world, end ending) verdict {
	v := verdict{File: j.File, world: w, Code: exitFailed, Error: "the process of this run ended without a verdict"}
	if j.Seed != nil {
		v.Seed = *j.Seed
	}
	if end.err != nil {
		v.Error += ": " + end.err.Error()
	}
	if words := strings.TrimSpace(end.words); words != "" {
		v.Error += "\n" + words
	}
	v.Replay = replay(v.File, v.world, v.Seed)
	return v
}

// process runs a batch in a process of its own and hands on each verdict. It
// returns how many there were, and how the process ended.
func process(ctx context.Context, b batch, each func(int, verdict)) (done int, end ending) {
	self, err := os.Executable()
	if err != nil {
		return 0, ending{err: err}
	}
	input, err := json.Marshal(b)
	if err != nil {
		return 0, ending{err: err}
	}
	command := exec.CommandContext(ctx, self)
	command.Args = []string{os.Args[0], "run", "--" + batchFlag}
	command.Stdin = bytes.NewReader(input)
	dying := &lastWords{}
	command.Stderr = dying
	output, err := command.StdoutPipe()
	if err != nil {
		return 0, ending{err: err}
	}
	if err := command.Start(); err != nil {
		return 0, ending{err: err}
	}
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, maxVerdictBytes)
	for lines.Scan() && done < len(b.Jobs) {
		var line told
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			break // the process is broken, and its end says so
		}
		each(done, line.Verdict)
		done++
		end.told = line.Last
	}
	_, _ = io.Copy(io.Discard, output) // let it end
	end.err = command.Wait()
	end.words = dying.String()
	return done, end
}

// lastWords keeps the end of what is written to it.
type lastWords struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer.
func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p...)
	if over := len(l.kept) - maxDyingWords; over > 0 {
		l.kept = l.kept[over:]
	}
	return len(p), nil
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.kept)
}

// batchFlag makes devnet run read a batch from its standard input. It is for
// devnet itself.
const batchFlag = "batch-on-stdin"

// lastLine is the line of a verdict that its process ends with.
func lastLine(v verdict) (fd int, line []byte) {
	line, err := json.Marshal(told{v, true})
	if err != nil {
		return syscall.Stderr, []byte(v.Error) // JSON has all that a verdict has
	}
	return syscall.Stdout, append(line, '\n')
}

// work is a batch's process: it makes the runs one after the other and writes a
// line for each.
func work(c *cli.Context) error {
	var b batch
	if err := json.NewDecoder(os.Stdin).Decode(&b); err != nil {
		return usage("It is how devnet run starts its own processes.", "--%s: no batch can be read: %v", batchFlag, err)
	}
	out := json.NewEncoder(c.App.Writer)
	for _, j := range b.Jobs {
		kept := &lastWords{}
		v := play(c.Context, j, b.world, b.Trace, kept, overrun{func(v verdict) error { return out.Encode(told{v, true}) }, lastLine})
		if c.Context.Err() != nil {
			return c.Context.Err()
		}
		if v.failed() {
			v.Output = kept.String()
		}
		if err := out.Encode(told{Verdict: v}); err != nil {
			return fmt.Errorf("the verdict cannot be written: %w", err)
		}
	}
	return nil
}
