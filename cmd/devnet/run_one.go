package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

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

// alone makes the only run in this process, and prints what the script prints as
// it does.
func (p *plan) alone(c *cli.Context, j job) (verdict, error) {
	kept := &lastWords{}
	out := io.Writer(kept)
	if !p.json {
		out = io.MultiWriter(kept, c.App.Writer)
	}
	v := play(c.Context, j, p.world, p.trace, out, overrun{p.endsAlone(c), func(v verdict) (int, []byte) {
		var text bytes.Buffer
		v.complain(&text)
		return syscall.Stderr, text.Bytes()
	}})
	if err := c.Context.Err(); err != nil {
		return v, err
	}
	v.Output = kept.String()
	if v.failed() {
		v.Unstable = reproduce(c.Context, &v)
		if !p.json {
			v.complain(c.App.Writer)
		}
	}
	return v, nil
}

// endsAlone concludes on the only run where it is beyond a limit.
func (p *plan) endsAlone(c *cli.Context) func(verdict) error {
	return func(v verdict) error {
		if !p.json {
			v.complain(c.App.Writer)
		}
		return p.conclude(c, []verdict{v})
	}
}

// play makes one run here. Where it takes too much memory, or a step of the script
// too much time, the process ends: exceeded is told the verdict first, from
// another goroutine.
func play(ctx context.Context, j job, w world, trace string, out io.Writer, exceeded overrun) verdict {
	v := verdict{File: j.File, world: w}
	if j.Seed != nil {
		v.Seed = *j.Seed
	}
	pulse := &scenario.Pulse{}
	defer limitRun(v, pulse, exceeded)()
	pace, err := w.pace()
	if err != nil {
		v.Code, v.Error = exitUsage, err.Error()
		return v
	}
	lines, flush, err := traceTo(trace)
	if err != nil {
		v.Code, v.Error = exitUsage, err.Error()
		return v
	}
	stage := &timed{open: w.opener(ctx)}
	began := time.Now()
	seen, err := scenario.Run(j.File, scenario.Options{Open: stage.Open, Seed: j.Seed, Pace: pace, Out: out, Trace: lines, Stop: ctx, Pulse: pulse})
	wall := time.Since(began)
	if problem := flush(); err == nil {
		err = problem
	}
	if seen.Backend != "" {
		v.Seed, v.Height, v.Digest = seen.Seed, uint64(seen.Height), seen.Digest.String()
	}
	v.Virtual, v.Wall = seconds(stage.lasted), seconds(wall)
	v.Unread = seen.Unread
	for _, s := range seen.Sometimes {
		v.Moments = append(v.Moments, sometimes{Name: s.Name, Where: j.File, True: s.True})
	}
	if err != nil {
		v.Code, v.Error = stage.codeOf(err), err.Error()
		v.Replay = replay(v.File, v.world, v.Seed)
		if v.Code == exitFailed {
			v.Timeline = seen.Timeline
		}
	}
	return v
}

// timed opens a world and notes how long its clock ran, and whether it could be
// opened at all.
type timed struct {
	open    scenario.Open
	lasted  time.Duration
	refused error
}

// Open implements scenario.Open.
func (t *timed) Open(c scenario.Config) (scenario.Backend, error) {
	b, err := t.open(c)
	if err != nil {
		t.refused = err
		return nil, err
	}
	return &timedBackend{b, t, b.Now()}, nil
}

// codeOf is the exit code of a run's error.
func (t *timed) codeOf(err error) int {
	var wrong *scenario.Mistake
	var missing *scenario.Unavailable
	var python *scenario.NoPython
	switch {
	case t.refused != nil && !errors.As(t.refused, &missing):
		return exitNoStart
	case errors.As(err, &python):
		return exitNoStart
	case errors.As(err, &wrong):
		return exitUsage
	}
	return exitFailed
}

type timedBackend struct {
	scenario.Backend
	timed *timed
	began types.Time
}

// Close implements scenario.Backend.
func (b *timedBackend) Close() error {
	b.timed.lasted += b.Now().Sub(b.began)
	return b.Backend.Close()
}

// traceTo opens the file of --trace.
func traceTo(path string) (lines io.Writer, flush func() error, err error) {
	if path == "" {
		return nil, func() error { return nil }, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, nil, fmt.Errorf("--trace: %w", err)
	}
	return file, func() error {
		if err := file.Close(); err != nil {
			return fmt.Errorf("--trace: %w", err)
		}
		return nil
	}, nil
}
