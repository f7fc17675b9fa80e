package author

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// DebugCommand is the command debug.
func DebugCommand() *cli.Command {
	return &cli.Command{
		Name: "debug", Usage: "run an execution again under pdb, or under an editor's debugger", ArgsUsage: "HASH",
		Description: "Example: devnet debug 0x2f370e4d\nExample: devnet debug 0x2f370e4d --dap 127.0.0.1:5678\n" +
			"HASH is a transaction's hash, a message's hash or a timer's ID; its first digits are " +
			"enough. The actors that took part run on this machine, unmetered, held only by the limits of their interpreter. Its code sees the " +
			"chain as it was at that execution. Nothing on the chain changes. With --dap it waits for an editor, which attaches by the Debug " +
			"Adapter Protocol, as the launch file of devnet actor new does. It needs debugpy. Every user of this machine can attach, and " +
			"run code as you.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dap", Usage: "wait at `HOST:PORT` of this machine for an editor"},
			&cli.StringFlag{Name: "python", Usage: "the Python `FILE` that runs it (default: the python3 on PATH)"},
			command.HTTPFlag, command.NodeFlag},
		Action: command.WithArguments(debugExecution),
	}
}

func debugExecution(c *cli.Context, args []string) error {
	address := c.String("dap")
	if address != "" {
		if err := ofThisMachine(address); err != nil {
			return err
		}
	}
	code, err := openSDK(c)
	defer code.remove()
	if err != nil {
		return err
	}
	python := code.python
	if address != "" && exec.CommandContext(c.Context, python, "-P", "-c", "import debugpy").Run() != nil {
		return failure.NewNoStart("Type "+python+" -m pip install debugpy, "+
			"or on Debian: apt-get install python3-debugpy, with --python /usr/bin/python3.",
			"%s has no debugpy, which --dap needs", python)
	}
	t, err := command.NewClient(c).Trace(c.Context, args[0], false, true)
	switch {
	case err != nil:
		return err
	case t.Call == nil || t.Call.Code.IsZero():
		return failure.New("", "no program ran: there is nothing to debug")
	case t.Cut:
		return failure.New("devnet tx "+args[0]+" --trace shows its beginning.", "the execution asked more of the chain than a trace holds")
	}
	folder, err := os.MkdirTemp("", "devnet-debug-")
	if err != nil {
		return failure.NewNoStart("", "there is no place for the code: %v", err)
	}
	defer os.RemoveAll(folder)
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	file := filepath.Join(folder, "trace.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return failure.NewNoStart("", "the trace cannot be written: %v", err)
	}
	command := exec.CommandContext(c.Context, python, "-P", "-B", "-W", "ignore", "-m", "cowboy_sdk.testing.debugger", file, folder)
	if address != "" {
		command.Args = append(slices.Insert(command.Args, 1, "-X", "frozen_modules=off"), address) // its lines are traced too
	}
	command.Env = append(slices.Clip(os.Environ()), "PYTHONPATH="+code.folder, "PYTHONUTF8=1")
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, c.App.Writer, c.App.ErrWriter
	command.Cancel, command.WaitDelay = func() error { return nil }, endPatience
	if address != "" { // pdb stops at Ctrl-C, and a wait for an editor ends
		command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	}
	if err := command.Run(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); exited {
			return &failure.Failure{Code: failure.ExitFailed}
		}
		return failure.NewNoStart("", "the debugger cannot be run: %v", err)
	}
	return nil
}

// ofThisMachine refuses an address that other machines reach: who attaches to a debugger runs
// code as its user.
func ofThisMachine(address string) error {
	host, port, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	if _, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil || ip == nil || !ip.IsLoopback() {
		return failure.NewUsage("Give an address that only this machine reaches, as --dap 127.0.0.1:5678; port 0 takes any.",
			"--dap: %q is not a loopback address and port", address)
	}
	return nil
}
