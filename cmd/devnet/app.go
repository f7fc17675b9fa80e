package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/faces/api/client"
)

// The exit codes of every command.
const (
	exitDone    = 0
	exitFailed  = 1 // a transaction, an audit, an answer of the network
	exitUsage   = 2
	exitNoStart = 3
)

// failure is an error as a person meets it: what was wrong and where, and what
// to do about it.
type failure struct {
	code int
	what string
	hint string
}

func (f *failure) Error() string { return f.what }

func usage(hint, what string, args ...any) error {
	return &failure{exitUsage, fmt.Sprintf(what, args...), hint}
}

func failed(hint, what string, args ...any) error {
	return &failure{exitFailed, fmt.Sprintf(what, args...), hint}
}

func noStart(hint, what string, args ...any) error {
	return &failure{exitNoStart, fmt.Sprintf(what, args...), hint}
}

// run is the whole command; it returns the exit code. The first SIGINT or
// SIGTERM asks it to end, the second ends it.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // from then on a signal has its own way
	cli.HelpPrinter = help
	app := newApp(stdout, stderr)
	if len(args) > 1 && args[1] == "--version" {
		args = append([]string{args[0], "version"}, args[2:]...)
	}
	args, err := arrange(app, args)
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	return report(stderr, err)
}

func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:            "devnet",
		Usage:           "a Cowboy network on this machine",
		Description:     "Example: devnet up --actor fixtures/actors/heartbeat.py",
		Writer:          stdout,
		ErrWriter:       stderr,
		HideVersion:     true,
		HideHelpCommand: true,
		// A header or a check has commas of its own.
		DisableSliceFlagSeparator: true,
		// Errors come back to run, which prints them once.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   misused,
		Commands: []*cli.Command{
			upCommand(), downCommand(), initCommand(), statusCommand(), logsCommand(),
			actorCommand(), timerCommand(), jobCommand(), runnerCommand(), validatorCommand(),
			blockCommand(), txCommand(), debugCommand(), eventsCommand(), accountCommand(), transferCommand(), faucetCommand(), paramsCommand(),
			advanceCommand(), paceCommand(true), paceCommand(false), faultCommand(), healCommand(), snapshotCommand(),
			runCommand(), reportCommand(), testCommand(), benchCommand(), nodeCommand(), checkCommand(), doctorCommand(), versionCommand(),
		},
	}
	quiet(app.Commands)
	return app
}

// quiet has every command hand its errors on, and show its help when it is
// only a group.
func quiet(commands []*cli.Command) {
	for _, c := range commands {
		c.HideHelpCommand = true
		c.OnUsageError = misused
		quiet(c.Subcommands)
	}
}

// report prints an error and returns the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	var f *failure
	var refused *client.Error
	var unreachable *client.Unreachable
	switch {
	case errors.As(err, &f):
	case errors.As(err, &refused):
		f = inWords(refused)
	case errors.As(err, &unreachable):
		f = &failure{exitFailed, unreachable.Error(), "Start one with: devnet up. For one elsewhere give --http HOST:PORT or set DEVNET_HTTP."}
	case errors.Is(err, context.Canceled):
		f = &failure{exitFailed, "interrupted", ""}
	default:
		f = &failure{exitFailed, err.Error(), ""}
	}
	if f.what != "" {
		fmt.Fprintln(stderr, wrapped(asTyped("devnet: "+f.what), "", messageColumns(stderr)))
	}
	if f.hint != "" {
		fmt.Fprintln(stderr, wrapped(asTyped(f.hint), "  ", messageColumns(stderr)))
	}
	return f.code
}
