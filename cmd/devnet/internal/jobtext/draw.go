package jobtext

import (
	"fmt"
	"io"
	"strconv"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// PrintDraw prints a draw of a committee: its seed, and why each runner was drawn or not.
func PrintDraw(w io.Writer, names *naming.Names, d *model.JobDraw) {
	from := "parent"
	if d.Attempt > 1 {
		from = "first seed"
	}
	favoured := ""
	if d.Favoured != nil {
		favoured = fmt.Sprintf("%s, whose weight counts %d times in the first step", names.Of(*d.Favoured), d.Multiplier)
	}
	terminal.PrintFacts(w, "draw", fmt.Sprintf("%d, in block %s", d.Attempt, terminal.Height(d.Height)), from, d.Basis.String(),
		"submitted", "in block "+terminal.Height(d.SubmittedAt), "seed", d.Seed.String(), "favoured", favoured,
		"committee", Committee(names, d.Committee, FullCommittee), "candidates", strconv.FormatUint(uint64(d.Number), 10))
	if len(d.Candidates) == 0 {
		fmt.Fprintln(w, "There were too many candidates to keep their list.")
		return
	}
	var rows, steps [][]string
	for i, one := range d.Candidates {
		rows = append(rows, []string{strconv.Itoa(i), names.Of(one.Runner), one.Runner.String(), strconv.FormatUint(one.Weight, 10)})
	}
	for i, s := range d.Steps {
		steps = append(steps, []string{strconv.Itoa(i), s.Digest.String(), strconv.FormatUint(s.Number, 10), strconv.FormatUint(s.Total, 10),
			strconv.Itoa(s.Position), names.Of(s.Runner)})
	}
	fmt.Fprintln(w)
	terminal.PrintTable(w, "", "POSITION NAME CANDIDATE WEIGHT", rows)
	fmt.Fprintln(w)
	terminal.PrintTable(w, "", "STEP DIGEST NUMBER OF POSITION DRAWN", steps)
}
