// Package timer has the commands about timers.
package timer

import (
	"io"
	"iter"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/timertext"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// Command is the command timer.
func Command() *cli.Command {
	return &cli.Command{
		Name: "timer", Usage: "timers, pending and ended",
		Description: "Example: devnet timer lane --last 20",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "timers by due height, the latest first",
				Description: "Example: devnet timer list --actor heartbeat --status pending\nAn ID may be shortened wherever one is asked for.",
				Flags: append([]cli.Flag{
					&cli.StringFlag{Name: "actor", Usage: "only those of `ACTOR`, by address or name"},
					&cli.Uint64Flag{Name: "due-by", Usage: "only those due at height `H` or before"},
					&cli.StringFlag{Name: "status", Usage: "only `STATUS`: pending, fired, expired, insufficient_funds or cancelled"},
					command.OldestFlag, command.JSONFlag, command.HTTPFlag, command.NodeFlag, command.AtFlag}, command.PageFlags...),
				Action: command.WithoutArguments(timerList)},
			timerShowCommand(), timerLaneCommand(), timerCancelCommand(), timerExtendCommand(),
		},
	}
}

func timerList(c *cli.Context) error {
	filter := client.TimerFilter{Actor: c.String("actor"), Status: c.String("status"), DueBy: types.Height(c.Uint64("due-by"))}
	if c.IsSet("due-by") && filter.DueBy == 0 {
		return failure.NewUsage("", "--due-by is at least 1: no timer is due at height 0")
	}
	n := command.NewClient(c)
	get := func(p client.Page) iter.Seq2[model.Timer, error] { return n.Timers(c.Context, filter, p) }
	return command.PrintPage(c, "more", get, func(w io.Writer, timers []model.Timer) {
		names := command.NewNames(c.Context, n)
		terminal.PrintTable(w, "No timers.", "ID ACTOR HANDLER DUE ENDED STATUS FEE_CBY", terminal.RowsOf(timers, func(t *model.Timer) []string {
			return []string{words.Short(t.ID.String()), names.Of(t.Actor), words.Printable(t.Handler), timertext.Due(t), timertext.End(t),
				timertext.Fate(t.Status, t.Result), terminal.Amount(t.FeePaid)}
		}))
	})
}
