package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// shownViews are the latest views that are listed unless more are asked for.
const shownViews = 20

func viewsCommand() *cli.Command {
	return &cli.Command{
		Name: "views", Usage: "list the latest views: who led, how many voted, the outcome and its reason",
		Description: "Example: devnet views --failed",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "failed", Usage: "only views without a final block, of all that are kept"},
			&cli.Uint64Flag{Name: "from", Usage: fmt.Sprintf("start at view `V` (default: the last %d views)", shownViews)},
			&cli.Uint64Flag{Name: "to", Usage: "end with view `V` (default: the latest)"},
			&cli.BoolFlag{Name: "frames", Usage: "of a held run: also their frames that were lost or late, and why"},
			jsonFlag, httpFlag},
		Action: takingNothing(showViews),
	}
}

func showViews(c *cli.Context) error {
	if c.IsSet("to") && c.Uint64("to") == 0 {
		return newUsageError("", "--to is at least 1: views begin there")
	}
	all, err := networkClient(c).Views(c.Context, types.View(c.Uint64("from")), types.View(c.Uint64("to")))
	if err != nil {
		return err
	}
	switch {
	case c.Bool("failed"):
		all.Views = slices.DeleteFunc(all.Views, func(v model.View) bool { return v.Outcome != model.ViewNullified })
	case !c.IsSet("from") && len(all.Views) > shownViews:
		all.Views = all.Views[len(all.Views)-shownViews:]
	}
	if !c.Bool("frames") {
		return printAnswerOrJSON(c, all, func(w io.Writer) { printViews(w, &all, c.Bool("failed")) })
	}
	frames, err := framesOf(c, &all)
	return printAnswer(c, struct {
		model.Views
		model.Frames
	}{all, frames}, err, func(w io.Writer) {
		printViews(w, &all, c.Bool("failed"))
		printFrames(w, &frames)
	})
}

// framesOf are the frames of the views that are listed, those that did not arrive as usual.
func framesOf(c *cli.Context, all *model.Views) (frames model.Frames, err error) {
	if len(all.Views) == 0 {
		return networkClient(c).Frames(c.Context, 1, 1, true) // it refuses a network that is not held
	}
	frames, err = networkClient(c).Frames(c.Context, all.Views[0].View, all.Views[len(all.Views)-1].View, true)
	frames.Frames = slices.DeleteFunc(frames.Frames, func(f model.Frame) bool {
		return !slices.ContainsFunc(all.Views, func(v model.View) bool { return v.View == f.View })
	})
	return frames, err
}

// printFrames prints a line for each frame that did not arrive as usual.
func printFrames(w io.Writer, frames *model.Frames) {
	fmt.Fprintln(w)
	rows := rowsOf(frames.Frames, func(f *model.Frame) []string {
		why := f.Why
		if f.ArrivesMS != nil {
			why += fmt.Sprintf(": it took %d ms", *f.ArrivesMS-f.SentMS)
		}
		if f.By != "" {
			why += ", by " + printable(f.By)
		}
		return []string{strconv.FormatUint(uint64(f.View), 10), time.UnixMilli(int64(f.SentMS)).UTC().Format("15:04:05.000"), f.From, f.To,
			strings.TrimSpace(f.What + " " + f.Vote), strconv.Itoa(f.Size), why}
	})
	printTable(w, "No frame of these views was lost or late.", "VIEW SENT FROM TO FRAME BYTES WHY", rows)
	if frames.Omitted > 0 {
		fmt.Fprintf(w, "… and %s more\n", plural.Of(frames.Omitted, "frame"))
	}
}

// printViews prints a line for each view, and below it what does not fit.
func printViews(w io.Writer, all *model.Views, failed bool) {
	if len(all.Views) == 0 {
		none := "No views are known there: the latest is %d, and the first that is kept %d.\n"
		if failed {
			none = "No view failed, up to view %d and from view %d on.\n"
		}
		fmt.Fprintf(w, none, all.Latest, all.KeptFrom)
		return
	}
	const under = "                         " // as wide as the columns before the text
	fmt.Fprintf(w, "%-9s %-7s %-6s %s\n", "VIEW", "LEADER", "VOTES", "OUTCOME")
	for i := range all.Views {
		v := &all.Views[i]
		leader := "-"
		if v.Leader >= 0 && v.Leader < len(all.Validators) {
			leader = printable(all.Validators[v.Leader].Name)
		}
		text := wrapText(printable(v.Text), under, messageColumns(w))
		fmt.Fprintf(w, "%-9d %-7s %-6s %s\n", v.View, leader, strconv.Itoa(votesOf(v)), text[min(len(under), len(text)):])
	}
	fmt.Fprintf(w, "Nullified since the start: %d\n", all.Failed)
}

// votesOf counts the votes that decided a view: to nullify one that failed, otherwise to notarize it.
func votesOf(v *model.View) int {
	if v.Outcome == model.ViewNullified {
		return len(v.Nullify)
	}
	return len(v.Notarize)
}
