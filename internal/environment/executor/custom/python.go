package custom

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	pythonhost "github.com/cowboyinc/devnet/python-host"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/process"
)

//go:embed sandbox.py
var sandbox string

// MinPythonMB is the minimum memory of a Python function, in MiB: the interpreter
// itself does not start with less.
const MinPythonMB = 64

// MaxSource bounds a function's module, in bytes.
const MaxSource = 1 << 20

// python is a function run(params) of a module: params are bytes, its result is
// bytes, a text, or a value that is written as JSON. A function that has a parameter
// named progress gets a function progress(percent, words) in it. Each call has a separate
// process, which can compute, answer and end (python-host/host/wall.py).
type python struct {
	interpreter string
	wall        []byte
	source      []byte
	unwalled    bool // it runs where the system lacks a part of the wall
}

// Python makes an executor of the function run of a module's source. interpreter
// is a path or name, "" for python3. unwalled lets it run if the system lacks a
// part of the wall; otherwise its jobs fail there, and name the missing part.
func Python(interpreter string, source []byte, unwalled bool) (Executor, error) {
	if len(source) > MaxSource {
		return nil, fmt.Errorf("the module has %d bytes, at most %d", len(source), MaxSource)
	}
	path, err := findInterpreter(interpreter)
	if err != nil {
		return nil, err
	}
	wall, err := pythonhost.Files.ReadFile("host/wall.py")
	if err != nil {
		return nil, err
	}
	return &python{path, wall, source, unwalled}, nil
}

// probeTimeout bounds the start of an interpreter that is asked what it is.
const probeTimeout = time.Minute

// findInterpreter returns an interpreter's own path: the name on PATH may be a script that
// picks one.
func findInterpreter(named string) (string, error) {
	if named == "" {
		named = "python3"
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	const question = "import sys; sys.implementation.name == 'cpython' and sys.version_info >= (3, 11) and print(sys.executable)"
	command := exec.CommandContext(ctx, named, "-S", "-s", "-B", "-c", question)
	command.WaitDelay = time.Second // of a program that it left behind
	out, err := command.Output()
	path := strings.TrimSpace(string(out))
	if ctx.Err() != nil {
		return "", fmt.Errorf("%q did not answer in %v: the machine may be busy; try again when it is less so", named, probeTimeout)
	}
	if err != nil || path == "" {
		return "", fmt.Errorf("%q is not CPython 3.11 or later: install one, or name its path", named)
	}
	return path, nil
}

func (p *python) acceptsJob(spec *push.JobSpec) *execution.Refusal {
	return executor.NeedsMemory(spec, MinPythonMB)
}

func (p *python) doJob(ctx context.Context, job *executor.Job) ([]byte, error) {
	spec := job.Spec
	memory := executor.MemoryBytes(spec)
	input := binary.LittleEndian.AppendUint64(nil, memory)
	if p.unwalled {
		input = append(input, 1)
	} else {
		input = append(input, 0)
	}
	for _, field := range [][]byte{p.wall, p.source, spec.JobType.Custom.Params} {
		input = binary.LittleEndian.AppendUint32(input, uint32(len(field)))
		input = append(input, field...)
	}
	command := process.Command{
		Argv: []string{p.interpreter, "-S", "-s", "-P", "-B", "-W", "ignore", "-c", sandbox},
		Env:  []string{"PYTHONHASHSEED=0", "PYTHONUTF8=1", "LC_ALL=C.UTF-8"}, // runners agree in the order of sets

		Progress: job.Progress,
	}
	output, err := process.Run(ctx, command, input, executor.ReturnBytes(spec))
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) && ended.ExitCode() < 0 {
		return nil, fmt.Errorf("the function was killed by its wall, for a forbidden call, memory or time: %w", err)
	}
	return output, err
}
