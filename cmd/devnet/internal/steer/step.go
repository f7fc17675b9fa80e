package steer

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// StepCommand is the command step.
func StepCommand() *cli.Command {
	return &cli.Command{
		Name: "step", Usage: "move a run that devnet run --hold holds, on or back, and print what happened", ArgsUsage: "[N]",
		Description: "Example: devnet step --block\nExample: devnet step --back 100\n" +
			"A step is one of one role of a node. The script goes on with its network, and after its end the\n" +
			"network goes on alone. --back plays the run again from its seed: what was done by hand is gone.\n" +
			"A live network has devnet advance instead, which skips heights and does not go back.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "block", Usage: "move by final blocks"},
			&cli.BoolFlag{Name: "fire", Usage: "move by blocks in which a timer fires; on by each fire"},
			&cli.BoolFlag{Name: "end", Usage: "move to the end of the script"},
			&cli.StringFlag{Name: "to", Usage: "move to `MOMENT`: h57, SCRIPT@SEED:h57, SCRIPT@SEED:18231 or SCRIPT@SEED:end"},
			&cli.BoolFlag{Name: "back", Usage: "move back instead"},
			command.JSONFlag, command.HTTPFlag},
		Action: command.WithArguments(moveHeldRun),
	}
}

func moveHeldRun(c *cli.Context, args []string) error {
	r, to := model.StepRequest{Unit: model.UnitStep, Count: 1}, c.String("to")
	given := 0
	for _, unit := range []string{model.UnitBlock, model.UnitFire, model.UnitEnd} {
		if c.Bool(unit) {
			given++
			r.Unit = unit
		}
	}
	if to != "" {
		given++
	}
	if given > 1 || to != "" && c.Bool("back") {
		return failure.NewUsage("Example: devnet step --block 3",
			"step takes one of --block, --fire, --end and --to, and --to goes either way by itself")
	}
	if args[0] != "" {
		n, err := strconv.ParseUint(args[0], 10, 64)
		if err != nil || n == 0 || n > model.MaxSteps {
			return failure.NewUsage(fmt.Sprintf("Give a whole number from 1 to %d.", model.MaxSteps), "invalid number of steps %q", args[0])
		}
		if to != "" || r.Unit == model.UnitEnd {
			return failure.NewUsage("Leave it out.", "%s: there is one such moment", args[0])
		}
		r.Count = n
	}
	n := command.NewClient(c)
	var m model.Held
	var err error
	switch {
	case to != "":
		m, err = n.GoToMoment(c.Context, to)
	case c.Bool("back"):
		m, err = n.StepBack(c.Context, r)
	default:
		m, err = n.Step(c.Context, r)
	}
	return command.PrintAnswer(c, m, err, func(w io.Writer) { printHeldRun(w, m) })
}

func printHeldRun(w io.Writer, m model.Held) {
	for _, line := range m.Happened {
		fmt.Fprintln(w, words.Printable(line))
	}
	if m.Omitted > 0 {
		fmt.Fprintf(w, "… and %s more\n", plural.Of(m.Omitted, "line"))
	}
	changed := ""
	if m.Changed != "" {
		changed = "by hand after " + words.Printable(m.Changed) + ": this is not the run of its seed any more"
	}
	state := "at " + words.Printable(m.At)
	switch {
	case m.Failure != "":
		state = "the script has failed"
	case m.Ended:
		state = "the script has passed"
	}
	terminal.PrintFacts(w, "held", words.Printable(m.Moment), "step", fmt.Sprintf("%d, from %d", m.Step, m.From), "height",
		terminal.Height(m.Height),
		"clock", time.UnixMilli(m.TimeMS).UTC().Format("15:04:05.000"), "digest", m.Digest.String(), "script", state, "changed", changed)
}
