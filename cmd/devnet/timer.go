package main

import (
	"io"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/api/client"
	"github.com/cowboyinc/devnet/internal/api/model"
	"github.com/cowboyinc/devnet/internal/types"
)

var pageFlags = []cli.Flag{
	&cli.IntFlag{Name: "limit", Value: 50, Usage: "at most `N` entries, up to 1000"},
	&cli.IntFlag{Name: "offset", Usage: "leave out the first `N`"},
}

func page(c *cli.Context) client.Page {
	return client.Page{Offset: c.Int("offset"), Limit: c.Int("limit")}
}

func timerCommand() *cli.Command {
	return &cli.Command{
		Name: "timer", Usage: "timers, pending and ended",
		Description: "Example: devnet timer lane --last 20",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "timers by due height", Description: "Example: devnet timer list --actor heartbeat --status pending",
				Flags: append([]cli.Flag{
					&cli.StringFlag{Name: "actor", Usage: "only those of `ACTOR`, by address or name"},
					&cli.Uint64Flag{Name: "due-by", Usage: "only those due at height `H` or before"},
					&cli.StringFlag{Name: "status", Usage: "only `STATUS`: pending, fired, expired, insufficient_funds or cancelled"},
					jsonFlag, httpFlag, nodeFlag}, pageFlags...),
				Action: timerList},
			timerShowCommand(), timerLaneCommand(),
		},
	}
}

func timerList(c *cli.Context) error {
	if _, err := arguments(c); err != nil {
		return err
	}
	filter := client.TimerFilter{Actor: c.String("actor"), Status: c.String("status"), Page: page(c)}
	if c.IsSet("due-by") {
		due := types.Height(c.Uint64("due-by"))
		filter.DueBy = &due
	}
	timers, err := network(c).Timers(c.Context, filter)
	if err != nil {
		return err
	}
	return emit(c, timers, func(w io.Writer) {
		var rows [][]string
		for _, t := range timers {
			rows = append(rows, []string{t.ID.String(), short(t.Actor.String()), printable(t.Handler), height(t.Height), t.Status, ended(t),
				strconv.FormatUint(t.Deferrals, 10), cby(t.FeePaid)})
		}
		table(w, "No timers.", "ID ACTOR HANDLER DUE STATUS ENDED DEFERRALS FEE_PAID", rows)
	})
}

func height(h types.Height) string { return strconv.FormatUint(uint64(h), 10) }

func ended(t model.Timer) string {
	if t.EndedAt == nil {
		return "-"
	}
	return height(*t.EndedAt)
}
