package custom

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/process"
)

// command is a program of the machine, with arguments that the runner's owner
// wrote. A job's parameters go only to its standard input; its output is the
// result. A line of its standard error may tell progress.
type command struct {
	argv, env []string
	needsMB   uint64
}

// Command makes an executor of a program and its arguments; env is all of its
// environment, as NAME=VALUE. A job with less than needsMB MiB of memory is refused.
func Command(argv, env []string, needsMB uint64) (Executor, error) {
	argv, err := programOf(argv)
	if err != nil {
		return nil, err
	}
	return &command{argv, env, needsMB}, nil
}

// programOf resolves the program of argv to its whole path, for it runs in another folder.
func programOf(argv []string) ([]string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, fmt.Errorf("the command is empty: name a program")
	}
	path, err := exec.LookPath(argv[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, fmt.Errorf("there is no program %q to run", argv[0])
	}
	return append([]string{path}, argv[1:]...), nil
}

func (c *command) acceptsJob(spec *push.JobSpec) *execution.Refusal {
	return executor.NeedsMemory(spec, c.needsMB)
}

func (c *command) doJob(ctx context.Context, job *executor.Job) ([]byte, error) {
	run := process.Command{Argv: c.argv, Env: c.env, Memory: executor.MemoryBytes(job.Spec), Progress: job.Progress}
	return process.Run(ctx, run, job.Spec.JobType.Custom.Params, executor.ReturnBytes(job.Spec))
}
