package main

import (
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

var pageFlags = []cli.Flag{
	&cli.IntFlag{Name: "limit", Value: 50, Usage: "at most `N` entries, up to 1000"},
	&cli.IntFlag{Name: "offset", Usage: "leave out the first `N`"},
}

// oldestFlag turns a list around that begins with the newest.
var oldestFlag = &cli.BoolFlag{Name: "oldest", Usage: "begin with the oldest"}

// pageOf gets the page that was asked for, and says whether the list has more. It asks for one
// entry more, as far as the API goes. A list with --oldest begins with the newest.
func pageOf[T any](c *cli.Context, get func(client.Page) iter.Seq2[T, error]) (list []T, more bool, err error) {
	ordered := slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f == oldestFlag })
	p := client.Page{Offset: c.Int("offset"), Limit: c.Int("limit"), Newest: ordered && !c.Bool("oldest")}
	if p.Limit < 1 || p.Limit > maxPage || p.Offset < 0 {
		return nil, false, newUsageError("", "--limit lies between 1 and %d, and --offset is at least 0", maxPage)
	}
	asked := p.Limit
	p.Limit = min(asked+1, maxPage)
	if list, err = client.Collect(get(p)); err != nil {
		return nil, false, err
	}
	return list[:min(asked, len(list))], len(list) > asked || len(list) == maxPage, nil
}

// printPage gets the page that was asked for and prints it, and below it that there are more.
func printPage[T any](c *cli.Context, more string, get func(client.Page) iter.Seq2[T, error], text func(w io.Writer, list []T)) error {
	list, cutOff, err := pageOf(c, get)
	return printAnswer(c, list, err, func(w io.Writer) {
		text(w, list)
		noteMoreRows(w, more, cutOff, len(list), c)
	})
}

// maxPage is how many entries the API answers at most.
const maxPage = 1000

func timerCommand() *cli.Command {
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
					oldestFlag, jsonFlag, httpFlag, nodeFlag, atFlag}, pageFlags...),
				Action: takingNothing(timerList)},
			timerShowCommand(), timerLaneCommand(), timerCancelCommand(), timerExtendCommand(),
		},
	}
}

func timerList(c *cli.Context) error {
	filter := client.TimerFilter{Actor: c.String("actor"), Status: c.String("status"), DueBy: types.Height(c.Uint64("due-by"))}
	if c.IsSet("due-by") && filter.DueBy == 0 {
		return newUsageError("", "--due-by is at least 1: no timer is due at height 0")
	}
	n := networkClient(c)
	get := func(p client.Page) iter.Seq2[model.Timer, error] { return n.Timers(c.Context, filter, p) }
	return printPage(c, "more", get, func(w io.Writer, timers []model.Timer) {
		names := newNaming(c.Context, n)
		printTable(w, "No timers.", "ID ACTOR HANDLER DUE ENDED STATUS FEE_CBY", rowsOf(timers, func(t *model.Timer) []string {
			return []string{short(t.ID.String()), names.nameOf(t.Actor), printable(t.Handler), dueWords(t), endWords(t), fateOf(t.Status, t.Result),
				amountWords(t.FeePaid)}
		}))
	})
}

// fateOf returns the status of a timer; a fire whose handler failed is not a success.
func fateOf(status, result string) string {
	if status == string(types.TimerFired) && result != string(types.StatusOK) {
		return status + ", " + result
	}
	return status
}

// amountWords is an amount in a column that says its unit.
func amountWords(w types.Wei) string { return strings.TrimSuffix(cby(w), " CBY") }

// plainHeight is plain, without groups of digits: it is typed again, as in devnet block 1734.
func plainHeight(h types.Height) string { return strconv.FormatUint(uint64(h), 10) }

// dueWords is the height at which a timer is due; one that watches a key is due at that
// height at the earliest.
func dueWords(t *model.Timer) string {
	if t.Watch != nil {
		return "≥" + plainHeight(t.Height)
	}
	return plainHeight(t.Height)
}

func endWords(t *model.Timer) string {
	if t.EndedAt == nil {
		return "-"
	}
	return plainHeight(*t.EndedAt)
}
