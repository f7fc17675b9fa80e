package chaintext

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// PrintFrames prints a line for each frame that did not arrive as usual.
func PrintFrames(w io.Writer, frames *model.Frames) {
	fmt.Fprintln(w)
	rows := terminal.RowsOf(frames.Frames, func(f *model.Frame) []string {
		why := f.Why
		if f.ArrivesMS != nil {
			why += fmt.Sprintf(": it took %d ms", *f.ArrivesMS-f.SentMS)
		}
		if f.By != "" {
			why += ", by " + words.Printable(f.By)
		}
		return []string{strconv.FormatUint(uint64(f.View), 10), time.UnixMilli(int64(f.SentMS)).UTC().Format("15:04:05.000"), f.From, f.To,
			strings.TrimSpace(f.What + " " + f.Vote), strconv.Itoa(f.Size), why}
	})
	terminal.PrintTable(w, "No frame of these views was lost or late.", "VIEW SENT FROM TO FRAME BYTES WHY", rows)
	if frames.Omitted > 0 {
		fmt.Fprintf(w, "… and %s more\n", plural.Of(frames.Omitted, "frame"))
	}
}

// PrintViews prints a line for each view, and below it what does not fit.
func PrintViews(w io.Writer, all *model.Views, failed bool) {
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
			leader = words.Printable(all.Validators[v.Leader].Name)
		}
		text := terminal.Wrap(words.Printable(v.Text), under, terminal.MessageColumns(w))
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
