package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/environment/pyhost"
)

func debugCommand() *cli.Command {
	return &cli.Command{
		Name: "debug", Usage: "run an execution again under pdb", ArgsUsage: "HASH",
		Description: "Example: devnet debug 0x2f370e4d\nHASH is a transaction's hash, a message's hash or a timer's ID; its first digits are " +
			"enough. The actors that took part run on this machine, unmetered, held only by the limits of their interpreter. Its code sees the " +
			"chain as it was at that execution. Nothing on the chain changes.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "python", Usage: "the Python `FILE` that runs it (default: the python3 on PATH)"},
			httpFlag, nodeFlag},
		Action: debugExecution,
	}
}

func debugExecution(c *cli.Context) error {
	args, err := arguments(c, "HASH")
	if err != nil {
		return err
	}
	t, err := network(c).Trace(c.Context, args[0], false, true)
	switch {
	case err != nil:
		return err
	case t.Call == nil || t.Call.Code.IsZero():
		return failed("", "no program ran: there is nothing to debug")
	case t.Cut:
		return failed("devnet tx "+args[0]+" --trace shows its beginning.", "the execution asked more of the chain than a trace holds")
	}
	python, err := pyhost.Interpreter(c.String("python"))
	if err != nil {
		return noStart("", "%v", err)
	}
	code := &tests{remove: func() {}}
	if err := code.unpack(); err != nil {
		return noStart("", "the SDK cannot be unpacked: %v", err)
	}
	defer code.remove()
	folder, err := os.MkdirTemp("", "devnet-debug-")
	if err != nil {
		return noStart("", "there is no place for the code: %v", err)
	}
	defer os.RemoveAll(folder)
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	file := filepath.Join(folder, "trace.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return noStart("", "the trace cannot be written: %v", err)
	}
	command := exec.CommandContext(c.Context, python, "-P", "-B", "-W", "ignore", "-m", "cowboy_sdk.testing.debugger", file, folder)
	command.Env = append(slices.Clip(os.Environ()), "PYTHONPATH="+code.folder, "PYTHONUTF8=1")
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, c.App.Writer, c.App.ErrWriter
	command.Cancel, command.WaitDelay = func() error { return nil }, endPatience
	if err := command.Run(); err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			return &failure{code: exitFailed}
		}
		return noStart("", "the debugger cannot be run: %v", err)
	}
	return nil
}
