package custom

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/process"
)

// command is a program of the machine, with arguments that the runner's owner
// wrote. A job's parameters go to its standard input and nowhere else; what it
// prints is the result.
type command struct {
	argv, env []string
}

// Command makes an executor of a program and its arguments; env is all of its
// environment, as NAME=VALUE.
func Command(argv, env []string) (Executor, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, fmt.Errorf("it names no program")
	}
	path, err := exec.LookPath(argv[0])
	if err == nil {
		path, err = filepath.Abs(path) // it runs in a folder of its own
	}
	if err != nil {
		return nil, fmt.Errorf("there is no program %q to run", argv[0])
	}
	return &command{append([]string{path}, argv[1:]...), env}, nil
}

func (c *command) accepts(*push.JobSpec) *execution.Refusal { return nil }

func (c *command) do(ctx context.Context, _ types.Hash, spec *push.JobSpec) ([]byte, error) {
	run := process.Command{Argv: c.argv, Env: c.env, Memory: executor.MemoryBytes(spec)}
	return process.Run(ctx, run, spec.JobType.Custom.Params, executor.ReturnBytes(spec))
}
