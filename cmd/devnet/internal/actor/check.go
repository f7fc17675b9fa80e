package actor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

func actorCheckCommand() *cli.Command {
	return &cli.Command{Name: "check", Usage: "say what is wrong with Python files, without a network", ArgsUsage: "FILE…",
		Description: "Example: devnet actor check fixtures/actors/heartbeat.py\n" +
			"An error is what a deploy refuses; a warning is what it takes, and what a run stumbles over.\n" +
			"A note is what callers have to know.\nExit code 1 when a file has an error.",
		Flags: []cli.Flag{againstFlag, command.JSONFlag, command.HTTPFlag, command.NodeFlag}, Action: actorCheck}
}

// checkedFinding is a finding under --json.
type checkedFinding struct {
	File string `json:"file"`
	pyhost.Advice
}

func actorCheck(c *cli.Context) error {
	files := c.Args().Slice()
	if len(files) == 0 {
		_, err := command.ReadArguments(c, "FILE…")
		return err
	}
	if c.IsSet("against") {
		if len(files) > 1 {
			return failure.NewUsage("Check one file at a time with --against.", "%q is one argument too many", files[1])
		}
		return checkAgainst(c, files[0])
	}
	all, wrong := []checkedFinding{}, []string{}
	for _, file := range files {
		code, err := command.ReadActor(file)
		if err != nil {
			return err
		}
		found, err := adviseOn(c.App.ErrWriter, code)
		if host, is := errors.AsType[*program.HostError](err); is && host.Failure == program.Missing {
			return failure.NewNoStart("", "%v", host.Err)
		}
		if err != nil {
			return failure.New("", "%s cannot be checked: %v", file, err)
		}
		for _, f := range found {
			all = append(all, checkedFinding{file, f})
		}
		if wouldRefuse(found) {
			wrong = append(wrong, file)
		}
		if !c.Bool("json") {
			printAdvice(c.App.Writer, file, code, found)
			if !slices.ContainsFunc(found, func(f pyhost.Advice) bool { return !f.Note }) {
				fmt.Fprintf(c.App.Writer, "%s: nothing is wrong that can be seen without running it\n", file)
			}
		}
	}
	if c.Bool("json") {
		if err := command.PrintJSON(c.App.Writer, all); err != nil {
			return err
		}
	}
	if len(wrong) > 0 {
		return failure.New("", "a deploy would refuse %s", strings.Join(wrong, ", "))
	}
	return nil
}

// adviseOn returns this machine's Python's opinion of code, and says on w if that Python is slow to start.
func adviseOn(w io.Writer, code []byte) ([]pyhost.Advice, error) {
	pool := pyhost.New(pyhost.Config{Hosts: 1, Slow: func(words string) { fmt.Fprintf(w, "%s.\n", words) }})
	defer pool.Close()
	return pool.Advise(code)
}

// printAdvice prints findings as compilers do, each above its line.
func printAdvice(w io.Writer, file string, code []byte, found []pyhost.Advice) {
	lines := strings.Split(string(code), "\n")
	for _, f := range found {
		kind := "warning"
		switch {
		case f.Refused:
			kind = "error"
		case f.Note:
			kind = "note"
		}
		fmt.Fprintln(w, terminal.Wrap(fmt.Sprintf("%s:%d: %s: %s", file, f.Line, kind, words.Printable(f.What)), "", terminal.MessageColumns(w)))
		if f.Line > 0 && f.Line <= len(lines) {
			fmt.Fprintf(w, "    %s\n", shortenLine(words.Printable(strings.TrimSpace(lines[f.Line-1]))))
		}
	}
}

// shortenLine is a line of code as far as it is shown.
func shortenLine(line string) string {
	const most = 72
	if r := []rune(line); len(r) > most {
		return string(r[:most]) + "…"
	}
	return line
}

// refuseFaultyCode prints what a deploy will take and a run stumble over, and refuses what the deploy would
// refuse. A machine without a Python that answers leaves both to the network.
func refuseFaultyCode(ctx context.Context, w io.Writer, file string, code []byte) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	found, err := adviseOn(w, code)
	if err != nil {
		return nil
	}
	printAdvice(w, file, code, found)
	if wouldRefuse(found) {
		return failure.New("Nothing was sent. devnet actor check "+file+" says the same without a network.", "a deploy would refuse %s", file)
	}
	return nil
}
