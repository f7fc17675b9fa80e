package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// jobDraws prints the draws of a job, with all that a person needs to check them.
func jobDraws(c *cli.Context, n *client.API, id string) error {
	draws, err := client.Collect(n.JobDraws(c.Context, id, client.Page{Limit: maxPage}))
	return printAnswer(c, draws, err, func(w io.Writer) {
		if len(draws) == 0 {
			fmt.Fprintln(w, "No draws yet.")
		}
		names := newNaming(c.Context, n)
		for i := range draws {
			if i > 0 {
				fmt.Fprintln(w)
			}
			printDraw(w, names, &draws[i])
		}
	})
}

func printDraw(w io.Writer, names *naming, d *model.JobDraw) {
	from := "parent"
	if d.Attempt > 1 {
		from = "first seed"
	}
	favoured := ""
	if d.Favoured != nil {
		favoured = fmt.Sprintf("%s, whose weight counts %d times in the first step", names.nameOf(*d.Favoured), d.Multiplier)
	}
	printFacts(w, "draw", fmt.Sprintf("%d, in block %s", d.Attempt, plainHeight(d.Height)), from, d.Basis.String(),
		"submitted", "in block "+plainHeight(d.SubmittedAt), "seed", d.Seed.String(), "favoured", favoured,
		"committee", committeeOf(names, d.Committee, fullCommittee), "candidates", strconv.FormatUint(uint64(d.Number), 10))
	if len(d.Candidates) == 0 {
		fmt.Fprintln(w, "There were too many candidates to keep their list.")
		return
	}
	var rows, steps [][]string
	for i, one := range d.Candidates {
		rows = append(rows, []string{strconv.Itoa(i), names.nameOf(one.Runner), one.Runner.String(), strconv.FormatUint(one.Weight, 10)})
	}
	for i, s := range d.Steps {
		steps = append(steps, []string{strconv.Itoa(i), s.Digest.String(), strconv.FormatUint(s.Number, 10), strconv.FormatUint(s.Total, 10),
			strconv.Itoa(s.Position), names.nameOf(s.Runner)})
	}
	fmt.Fprintln(w)
	printTable(w, "", "POSITION NAME CANDIDATE WEIGHT", rows)
	fmt.Fprintln(w)
	printTable(w, "", "STEP DIGEST NUMBER OF POSITION DRAWN", steps)
}
