package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
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
	name string // as code under --json: that of a refusal; "" for the exit code's
}

func (f *failure) Error() string { return f.what }

func newUsageError(hint, what string, args ...any) error {
	return &failure{code: exitUsage, what: fmt.Sprintf(what, args...), hint: hintAbout(args, hint)}
}

func newFailure(hint, what string, args ...any) error {
	return &failure{code: exitFailed, what: fmt.Sprintf(what, args...), hint: hintAbout(args, hint)}
}

func noStart(hint, what string, args ...any) error {
	return &failure{code: exitNoStart, what: fmt.Sprintf(what, args...), hint: hintAbout(args, hint)}
}

// hintAbout is the hint of a failure that tells errors among others: about the owner of what is refused, or else hint.
func hintAbout(told []any, hint string) string {
	for _, one := range told {
		if err, is := one.(error); is {
			return cmp.Or(describeOwner(err), hint)
		}
	}
	return hint
}

// causedBy gives a failure the hint of its cause, of which it tells only a part.
func causedBy(cause, err error) error {
	if f, is := errors.AsType[*failure](err); is {
		f.hint = cmp.Or(describeOwner(cause), f.hint)
	}
	return err
}

// run is the whole command; it returns the exit code. The first SIGINT or
// SIGTERM asks it to end, the second ends it.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // from then on a signal has its own way
	return runWaiting(ctx, newWaiting(stderr, wantsJSON(args)), args, stdout, stderr)
}

// runWaiting is the whole command; the end of ctx interrupts it, and w says that it waits.
func runWaiting(ctx context.Context, w *waiting, args []string, stdout, stderr io.Writer) int {
	defer w.forgetOrder()
	cli.HelpPrinter = printHelp
	if len(args) > 1 && args[1] == completing {
		printCompletions(stdout, newApp(stdout, stderr), args[2:])
		return exitDone
	}
	if len(args) > 1 && args[1] == "--version" {
		args = append([]string{args[0], "version"}, args[2:]...)
	}
	app, arranged, err := arrangeApp(args, stdout, stderr)
	if err == nil {
		err = app.RunContext(w.traceOrders(ctx), arranged)
	}
	if failure := (*failure)(nil); errors.Is(err, context.Canceled) && !errors.As(err, &failure) {
		err = w.describeInterrupt()
	}
	return reportError(&endableWriter{to: stderr, ended: ctx}, err, wantsJSON(args))
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

// commandMakers are all of them, in the order of the help. The commands advise one another, so
// that it is set when they exist.
var commandMakers []commandMaker

func init() {
	commandMakers = []commandMaker{
		{"up", upCommand}, {"down", downCommand}, {"init", initCommand}, {"status", statusCommand}, {"logs", logsCommand},
		{"actor", actorCommand}, {"timer", timerCommand}, {"job", jobCommand}, {"runner", runnerCommand}, {"validator", validatorCommand},
		{"block", blockCommand}, {"tx", txCommand}, {"debug", debugCommand}, {"events", eventsCommand}, {"views", viewsCommand},
		{"links", linksCommand}, {"find", findCommand}, {"account", accountCommand},
		{"transfer", transferCommand}, {"faucet", faucetCommand}, {"params", paramsCommand},
		{"advance", advanceCommand}, {"step", stepCommand}, {"mine", mineCommand}, {"automine", automineCommand},
		{"pause", func() *cli.Command { return paceCommand(true) }}, {"resume", func() *cli.Command { return paceCommand(false) }},
		{"cheat", cheatCommand}, {"fault", faultCommand}, {"heal", healCommand}, {"snapshot", snapshotCommand},
		{"run", runCommand}, {"why", whyCommand}, {"explore", exploreCommand}, {"scenario", scenarioCommand}, {"report", reportCommand},
		{"lab", labCommand}, {"test", testCommand}, {"console", consoleCommand}, {"bench", benchCommand},
		{"node", nodeCommand}, {"check", checkCommand}, {"doctor", doctorCommand}, {"version", versionCommand},
		{"examples", examplesCommand}, {"completion", completionCommand}, {"man", manCommand},
	}
	for _, m := range commandMakers {
		commandNames = append(commandNames, m.name)
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

// reportError prints an error, as text or as a line of JSON, and returns the exit code.
func reportError(stderr io.Writer, err error, asJSON bool) int {
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
		f = &failure{exitFailed, unreachable.Error(), hintOfUnreachable(unreachable), "unreachable"}
	case errors.Is(err, context.Canceled):
		f = &failure{code: exitFailed, what: "interrupted", name: "interrupted"}
	default:
		f = &failure{code: exitFailed, what: err.Error(), hint: describeOwner(err)}
	}
	if asJSON {
		f.printJSON(stderr)
		return f.code
	}
	if f.what != "" {
		fmt.Fprintln(stderr, wrapText(replaceProgramName("devnet: "+f.what), "", messageColumns(stderr)))
	}
	if f.hint != "" {
		fmt.Fprintln(stderr, wrapText(replaceProgramName(f.hint), "  ", messageColumns(stderr)))
	}
	return f.code
}

// codeNames are the codes under --json of errors other than refusals.
var codeNames = map[int]string{exitFailed: "failed", exitUsage: "usage", exitNoStart: "no_start"}

// printJSON writes the failure as a line of JSON. A failure without words was reported
// already.
func (f *failure) printJSON(w io.Writer) {
	if f.what == "" {
		return
	}
	type body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Remedy  string `json:"remedy"`
	}
	line := json.NewEncoder(w)
	line.SetEscapeHTML(false)
	_ = line.Encode(struct {
		Error body `json:"error"`
	}{body{cmp.Or(f.name, codeNames[f.code]), replaceProgramName(f.what), replaceProgramName(f.hint)}})
}
