package batch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// Limits of the input from a batch's process.
const (
	// maxVerdictBytes bounds a line from it.
	maxVerdictBytes = 1 << 20
	// maxTailBytes bounds the kept part of its output: the end of a stack, if it
	// crashed.
	maxTailBytes = 8 << 10
)

// batch is what a process reads from its standard input.
type batch struct {
	World
	Trace string `json:"trace,omitempty"`
	Jobs  []Job  `json:"jobs"`
}

// verdictLine is a line from a batch's process: the verdict of the run under way.
// Runs are reported in the order of the batch.
type verdictLine struct {
	Verdict Verdict `json:"verdict"`
	Last    bool    `json:"last,omitempty"` // the process ends with it: the run was beyond a limit
}

// ending is how a batch's process ended.
type ending struct {
	told  bool   // its last verdict said that it would end there
	words string // the last words on its standard error
	err   error
}

// runBatchProcess runs a batch in a separate process and hands on each verdict. It returns
// how many there were, and how the process ended.
func (r *Runner) runBatchProcess(ctx context.Context, b batch, each func(int, Verdict)) (done int, end ending) {
	input, err := json.Marshal(b)
	if err != nil {
		return 0, ending{err: err}
	}
	command, err := r.Process(ctx)
	if err != nil {
		return 0, ending{err: err}
	}
	dying := &tail{}
	command.Stdin, command.Stderr = bytes.NewReader(input), dying
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
		var line verdictLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			break // the process is broken, which its exit shows
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

// Work is a batch's process: it reads a batch from in, makes the runs one after
// the other, and writes a line to out for each. Where a run is beyond a limit the
// process ends.
func (r *Runner) Work(ctx context.Context, in io.Reader, out io.Writer) error {
	var b batch
	if err := json.NewDecoder(in).Decode(&b); err != nil {
		return &UnreadableError{err}
	}
	lines := json.NewEncoder(out)
	last := func(v Verdict) int {
		if err := lines.Encode(verdictLine{v, true}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return Failed
		}
		return Passed
	}
	for _, j := range b.Jobs {
		kept := &tail{}
		v := r.playJob(ctx, j, b.World, b.Trace, kept, overrun{last, lastLine})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if v.Failed() {
			v.Output = kept.String()
		}
		if err := lines.Encode(verdictLine{Verdict: v}); err != nil {
			return fmt.Errorf("the verdict cannot be written: %w", err)
		}
	}
	return nil
}

// UnreadableError says that no batch can be read from where one should be.
type UnreadableError struct{ Err error }

// Error implements error.
func (e *UnreadableError) Error() string { return "no batch can be read: " + e.Err.Error() }

// Unwrap returns what is wrong with it.
func (e *UnreadableError) Unwrap() error { return e.Err }

// lastLine is the line of a verdict that its process ends with.
func lastLine(v Verdict) (fd int, line []byte) {
	line, err := json.Marshal(verdictLine{v, true})
	if err != nil {
		return syscall.Stderr, []byte(v.Error) // JSON has all that a verdict has
	}
	return syscall.Stdout, append(line, '\n')
}

// tail keeps the end of its input.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxTailBytes; over > 0 {
		t.kept = t.kept[over:]
	}
	return len(p), nil
}

// String is the end that is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
