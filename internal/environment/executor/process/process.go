// Package process runs programs of this machine for a job: with only the
// environment variables that it is given, in a separate folder that is removed with
// its content, in a process group that is killed as a whole.
//
// A program's use is bounded: the bytes it prints, its memory if the system can (Linux),
// its time by the context. Input reaches it only when its bounds are in force. Processes
// that a program leaves in other groups and sessions are killed with it on Linux, by the
// variable TMPDIR that they inherit. The runner's owner chooses the programs.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Command is a program with all that it is given.
type Command struct {
	Argv   []string // the program's path, and its arguments as they are: there is no shell
	Env    []string // NAME=VALUE; nothing of this process's own
	Memory uint64   // bytes of writable memory of each process; 0: not bounded

	// Progress takes each line "progress PERCENT WORDS" of the program's standard error; nil
	// leaves them where they are.
	Progress func(percent uint8, words string)
}

// NeedsMB is the memory that a program is taken to need unless its owner says otherwise, in
// MiB: a program of Go starts with 72, one of Node that makes requests with 64.
const NeedsMB = 128

const (
	// waitDelay is the time to wait for a program's end if a process that it left
	// still holds its output.
	waitDelay = time.Second
)

// Process is a program that was started.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.Reader
	cmd    *exec.Cmd
	output *os.File // what Stdout reads
	folder string
	stderr stderr
	stop   func() bool // of the context's watch
	mu     sync.Mutex
	reaped bool // its number, and its group's, may belong to another process
}

// Start starts a program. It is killed with its group when the context ends; Wait
// must be called in any case.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "devnet-job-")
	if err != nil {
		return nil, fmt.Errorf("a folder for %s: %w", c.Argv[0], err)
	}
	p := &Process{folder: folder, cmd: exec.Command(c.Argv[0], c.Argv[1:]...), stderr: stderr{progress: c.Progress}}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr, p.cmd.WaitDelay = folder, append(slices.Clone(c.Env), p.markVariable()), &p.stderr, waitDelay
	containProcess(p.cmd)
	if err := p.startProgram(c.Memory); err != nil {
		os.RemoveAll(folder)
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	p.stop = context.AfterFunc(ctx, p.Kill)
	return p, nil
}

// markVariable returns the variable that only the processes of this program have.
func (p *Process) markVariable() string { return "TMPDIR=" + p.folder }

func (p *Process) startProgram(memory uint64) error {
	childIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer childIn.Close()
	out, childOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return err
	}
	defer childOut.Close()
	p.cmd.Stdin, p.cmd.Stdout, p.Stdin, p.Stdout, p.output = childIn, childOut, in, out, out
	if err = p.cmd.Start(); err == nil {
		if err = limitMemory(p.cmd.Process.Pid, memory); err != nil {
			killGroup(p.cmd)
			p.cmd.Wait()
		}
	}
	if err != nil {
		in.Close()
		out.Close()
	}
	return err
}

// Kill ends the program and all of its group. Readers of its output then get the
// end, even if another process still holds it.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		killGroup(p.cmd)
	}
	p.output.SetReadDeadline(time.Now().Add(waitDelay))
}

// Wait waits for the end of the program, ends what it left of its group and removes
// its folder. An error reports how the program ended, with its last words. A second
// time is nothing.
func (p *Process) Wait() error {
	if p.reaped {
		return nil
	}
	p.Stdin.Close()
	p.output.Close()
	awaitEnd(p.cmd)
	p.mu.Lock()
	killGroup(p.cmd)
	err := p.cmd.Wait()
	p.reaped = true
	p.mu.Unlock()
	p.stop()
	endStrays(p.markVariable())
	removed := os.RemoveAll(p.folder)
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // what holds its standard error has left the group
	}
	if words := p.stderr.String(); err != nil && words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}
	return errors.Join(err, removed)
}

// ErrFlood says that a program printed more than it may: a *execution.Refusal, since the job
// chooses how much that is.
var ErrFlood error = execution.Refuse(push.Unsupported, "the program printed more than the job may return")

// Run runs a program to its end and returns what it printed. Its errors are the
// context's error, ErrFlood, and the program's failure.
func Run(ctx context.Context, c Command, input []byte, most int) ([]byte, error) {
	p, err := Start(ctx, c)
	if err != nil {
		return nil, err
	}
	defer p.Wait()
	go func() { // a program need not read its input
		p.Stdin.Write(input)
		p.Stdin.Close()
	}()
	output, err := io.ReadAll(io.LimitReader(p.Stdout, int64(most)+1))
	if len(output) > most {
		p.Kill()
		return nil, ErrFlood
	}
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	if err != nil {
		p.Kill()
		return nil, err
	}
	if err := p.waitForEnd(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Argv[0], err)
	}
	return output, nil
}

// waitForEnd waits for a program that closed its output; the context may still kill it.
func (p *Process) waitForEnd(ctx context.Context) error {
	err := p.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
