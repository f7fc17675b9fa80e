package main

import (
	"fmt"
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

// pageOf gets the page that was asked for, and says whether more is behind it:
// it asks for one entry more, as far as the API goes.
func pageOf[T any](c *cli.Context, get func(client.Page) ([]T, error)) (list []T, more bool, err error) {
	p := page(c)
	if p.Limit < 1 || p.Limit > maxPage || p.Offset < 0 {
		return nil, false, usage("", "--limit lies between 1 and %d, and --offset is at least 0", maxPage)
	}
	asked := p.Limit
	p.Limit = min(asked+1, maxPage)
	if list, err = get(p); err != nil {
		return nil, false, err
	}
	return list[:min(asked, len(list))], len(list) > asked || len(list) == maxPage, nil
}

// maxPage is how many entries the API answers at most.
const maxPage = 1000

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
	filter := client.TimerFilter{Actor: c.String("actor"), Status: c.String("status")}
	if c.IsSet("due-by") {
		due := types.Height(c.Uint64("due-by"))
		filter.DueBy = &due
	}
	timers, more, err := pageOf(c, func(p client.Page) ([]model.Timer, error) {
		filter.Page = p
		return network(c).Timers(c.Context, filter)
	})
	if err != nil {
		return err
	}
	return emit(c, timers, func(w io.Writer) {
		var rows [][]string
		for _, t := range timers {
			rows = append(rows, []string{t.ID.String(), short(t.Actor.String()), printable(t.Handler), due(t), t.Status, ended(t),
				strconv.FormatUint(t.Deferrals, 10), cby(t.FeePaid)})
		}
		table(w, "No timers.", "ID ACTOR HANDLER DUE STATUS ENDED DEFERRALS FEE_PAID", rows)
		if more {
			fmt.Fprintf(w, "… and more: --offset %d, or --limit\n", c.Int("offset")+len(timers))
		}
	})
}

func height(h types.Height) string { return strconv.FormatUint(uint64(h), 10) }

// due is the height at which a timer is due; one that watches a key is due at that
// height at the earliest.
func due(t model.Timer) string {
	if t.Watch != nil {
		return "≥" + height(t.Height)
	}
	return height(t.Height)
}

func ended(t model.Timer) string {
	if t.EndedAt == nil {
		return "-"
	}
	return height(*t.EndedAt)
}
