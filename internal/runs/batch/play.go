package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// Alone makes one run in this process, with its trace in a file if one is named;
// out gets the script's output as it is printed. Where the run is beyond a limit,
// ends is told its verdict, and the process ends with the code it returns. The
// error is that it was interrupted.
func (r *Runner) Alone(ctx context.Context, w World, j Job, trace string, out io.Writer, ends func(Verdict) int) (Verdict, error) {
	v := r.Once(ctx, w, j, trace, out, ends)
	if err := ctx.Err(); err != nil {
		return v, err
	}
	if v.Failed() {
		v.Unstable = r.compareWithFreshRun(ctx, j, &v)
	}
	return v, nil
}

// Once is Alone for a run that is not made again to see that one seed is one run.
func (r *Runner) Once(ctx context.Context, w World, j Job, trace string, out io.Writer, ends func(Verdict) int) Verdict {
	kept := &tail{}
	v := r.playJob(ctx, j, w, trace, io.MultiWriter(kept, out), overrun{ends, func(v Verdict) (int, []byte) {
		var text bytes.Buffer
		v.Complain(&text)
		return syscall.Stderr, text.Bytes()
	}})
	v.Output = kept.String()
	return v
}

// playJob makes one run here. Where it takes too much memory, or a step of the script
// too much time, the process ends: exceeded is told the verdict first, from
// another goroutine.
func (r *Runner) playJob(ctx context.Context, j Job, w World, trace string, out io.Writer, exceeded overrun) Verdict {
	v := j.newVerdict(w)
	pulse := &scenario.Pulse{}
	if r.Watch != nil {
		r.Watch(pulse)
	}
	defer r.boundRun(j, v, pulse, exceeded)()
	pace, err := w.Pace()
	if err != nil {
		v.Code, v.Error = Mistaken, err.Error()
		return v
	}
	lines, flush, err := traceTo(trace)
	if err != nil {
		v.Code, v.Error = Mistaken, err.Error()
		return v
	}
	noted := &recorder{open: r.Open(ctx, w)}
	stage := &timedWorld{open: noted.open}
	if w.Record {
		stage.open = noted.Open
	}
	began := time.Now()
	seen, err := scenario.Run(j.File, scenario.Options{Open: stage.Open, Seed: j.Seed, Pace: pace, Settings: j.Settings, Out: out,
		Trace: lines, Stop: ctx, Pulse: pulse, Least: r.leastPatience(w)})
	wall := time.Since(began)
	if problem := flush(); err == nil {
		err = problem
	}
	if seen.Backend != "" {
		v.Seed, v.Height, v.Digest = seen.Seed, uint64(seen.Height), seen.Digest.String()
	}
	v.Virtual, v.Wall = roundSeconds(stage.lasted), roundSeconds(wall)
	if w.Record {
		v.Outcome = &noted.outcome
	}
	v.Unread, v.Settings = seen.Unread, allSettings(j.Settings, seen.Settings)
	for _, m := range seen.Measures {
		v.Measures = append(v.Measures, summarize(Measure{Name: m.Name, Unit: m.Unit, Samples: append([]float64{}, m.Samples...), At: m.At}))
	}
	for _, s := range seen.Sometimes {
		v.Moments = append(v.Moments, Sometimes{Name: s.Name, Where: j.File, True: s.True})
	}
	if err != nil {
		v.Code, v.Error = stage.codeOf(err), err.Error()
		v.Replay = r.Replay(j, w, v.Seed)
		if v.Code == Failed {
			if w.Backend == Sim && seen.Backend != "" {
				v.Hold = v.Replay + " --hold"
			}
			v.Python = r.pythonVersion()
			v.Timeline, v.Trace = seen.Timeline, seen.Trace
		}
	}
	return v
}

// pythonVersion is the minor version of the Python that runs actors.
func (r *Runner) pythonVersion() string {
	if r.Python == nil {
		return ""
	}
	return r.Python()
}

// timedWorld opens a world and notes how long its clock ran, and whether it could be
// opened at all.
type timedWorld struct {
	open    scenario.Open
	lasted  time.Duration
	refused error
}

// Open implements scenario.Open.
func (t *timedWorld) Open(c scenario.Config) (scenario.Backend, error) {
	b, err := t.open(c)
	if err != nil {
		t.refused = err
		return nil, err
	}
	return &timedBackend{b, t, b.Now()}, nil
}

// codeOf is the exit code of a run's error.
func (t *timedWorld) codeOf(err error) int {
	var wrong *scenario.Mistake
	var python *scenario.NoPython
	switch {
	case t.refused != nil:
		return NotStarted
	case errors.As(err, &python):
		return NotStarted
	case errors.As(err, &wrong):
		return Mistaken
	}
	return Failed
}

type timedBackend struct {
	scenario.Backend
	timed *timedWorld
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
