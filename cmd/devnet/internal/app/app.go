// Package app is the command line: the list of commands, how a line is read, and help.
package app

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/actor"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/author"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/chain"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/doctor"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/fault"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/job"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/lab"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/network"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/node"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/run"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/runner"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/steer"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/timer"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/up"
)

// Run is the whole command; it returns the exit code. The first SIGINT or
// SIGTERM asks it to end, the second ends it.
func Run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // from then on a signal has its own way
	return runWaiting(ctx, command.NewWaiting(stderr, wantsJSON(args)), args, stdout, stderr)
}

// runWaiting is the whole command; the end of ctx interrupts it, and w says that it waits.
func runWaiting(ctx context.Context, w *command.Waiting, args []string, stdout, stderr io.Writer) int {
	defer w.ForgetOrder()
	cli.HelpPrinter = printHelp
	if len(args) > 1 && args[1] == completing {
		printCompletions(stdout, newApp(stdout, stderr), args[2:])
		return failure.ExitDone
	}
	if len(args) > 1 && args[1] == "--version" {
		args = append([]string{args[0], "version"}, args[2:]...)
	}
	app, arranged, err := arrangeApp(args, stdout, stderr)
	if err == nil {
		err = app.RunContext(w.TraceOrders(ctx), arranged)
	}
	if failure := (*failure.Failure)(nil); errors.Is(err, context.Canceled) && !errors.As(err, &failure) {
		err = w.DescribeInterrupt()
	}
	return command.ReportError(&terminal.EndableWriter{To: stderr, Ended: ctx}, err, wantsJSON(args))
}

// arrangeApp makes the app of a command line, with the line as arrangeFlags leaves it. Of a line
// that begins with a command, it makes that command alone: the others matter to what is
// wrong with a line, and to a page of the manual.
func arrangeApp(args []string, stdout, stderr io.Writer) (*cli.App, []string, error) {
	if len(args) > 1 {
		at := slices.IndexFunc(commandMakers, func(m commandMaker) bool { return m.name == args[1] })
		if at >= 0 && args[1] != "man" {
			app := newAppOf(commandMakers[at:at+1], stdout, stderr)
			if arranged, err := arrangeFlags(app, args); err == nil {
				return app, arranged, nil
			}
		}
	}
	app := newApp(stdout, stderr)
	arranged, err := arrangeFlags(app, args)
	return app, arranged, err
}

// commandMaker makes a command of the top level.
type commandMaker struct {
	name string
	make func() *cli.Command
}

// commandMakers are all of them, in the order of the help. The manual and the completion read it, so
// that it is set when they exist.
var commandMakers []commandMaker

func init() {
	commandMakers = []commandMaker{
		{"up", up.Command}, {"down", network.DownCommand}, {"init", network.InitCommand}, {"status", network.StatusCommand},
		{"logs", network.LogsCommand}, {"actor", actor.Command}, {"timer", timer.Command}, {"job", job.Command}, {"runner", runner.Command},
		{"validator", network.ValidatorCommand}, {"block", chain.BlockCommand}, {"tx", chain.TxCommand}, {"debug", author.DebugCommand},
		{"events", chain.EventsCommand}, {"views", chain.ViewsCommand}, {"links", network.LinksCommand}, {"find", chain.FindCommand},
		{"account", chain.AccountCommand}, {"transfer", chain.TransferCommand}, {"faucet", chain.FaucetCommand}, {"params", chain.ParamsCommand},
		{"advance", steer.AdvanceCommand}, {"step", steer.StepCommand}, {"mine", steer.MineCommand}, {"automine", steer.AutomineCommand},
		{"pause", func() *cli.Command { return steer.PaceCommand(true) }}, {"resume", func() *cli.Command { return steer.PaceCommand(false) }},
		{"cheat", steer.CheatCommand}, {"fault", fault.Command}, {"heal", fault.HealCommand}, {"snapshot", network.SnapshotCommand},
		{"run", run.Command}, {"why", run.WhyCommand}, {"explore", run.ExploreCommand}, {"scenario", run.ScenarioCommand},
		{"report", run.ReportCommand}, {"lab", lab.Command}, {"test", author.TestCommand}, {"console", author.ConsoleCommand},
		{"bench", author.BenchCommand}, {"node", node.Command}, {"check", doctor.CheckCommand}, {"doctor", doctor.Command},
		{"version", versionCommand}, {"examples", actor.ExamplesCommand}, {"completion", completionCommand}, {"man", manCommand},
	}
	for _, m := range commandMakers {
		self.CommandNames = append(self.CommandNames, m.name)
	}
}

func newApp(stdout, stderr io.Writer) *cli.App { return newAppOf(commandMakers, stdout, stderr) }

func newAppOf(makers []commandMaker, stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:            "devnet",
		Usage:           "a Cowboy network on this machine",
		Description:     "Example: devnet up --actor fixtures/actors/heartbeat.py",
		Writer:          stdout,
		ErrWriter:       stderr,
		HideVersion:     true,
		HideHelpCommand: true,
		// A header or a check may contain commas.
		DisableSliceFlagSeparator: true,
		// Errors return to run, which prints them once.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   usageError,
	}
	for _, m := range makers {
		app.Commands = append(app.Commands, m.make())
	}
	handOnErrors(app.Commands)
	return app
}

// handOnErrors has every command hand its errors on, and show its help when it is
// only a group.
func handOnErrors(commands []*cli.Command) {
	for _, c := range commands {
		c.HideHelpCommand = true
		c.OnUsageError = usageError
		handOnErrors(c.Subcommands)
	}
}

// wantsJSON reports whether a command line has --json. A line that is wrong has it too.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(word string) bool {
		name, value, given := strings.Cut(word, "=")
		on, err := strconv.ParseBool(value)
		return (name == "--json" || name == "-json") && (!given || on && err == nil)
	})
}
