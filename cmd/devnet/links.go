package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func linksCommand() *cli.Command {
	return &cli.Command{
		Name: "links", Usage: "list the links between nodes: up or cut, the rule in force, what was lost and delayed",
		Description: "Example: devnet links --faulty\nA figure without a count is -.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "faulty", Usage: "only links that are down or cut, have a rule, or on which something was lost or delayed"},
			jsonFlag, httpFlag},
		Action: takingNothing(listLinks),
	}
}

func listLinks(c *cli.Context) error {
	all, err := networkClient(c).Links(c.Context, c.Bool("faulty"))
	return printAnswer(c, all, err, func(w io.Writer) {
		empty := "There are no links: the network has one node."
		if c.Bool("faulty") {
			empty = "No link is down or cut, none has a rule, and nothing was lost or delayed."
		}
		printTable(w, empty, "FROM TO STATE FRAMES LOST DROPPED DELAYED RTT RULE", rowsOf(all.Links, linkRow))
	})
}

func linkRow(l *model.Link) []string {
	state := "down"
	switch {
	case l.Cut:
		state = "cut"
	case l.Up:
		state = "up"
	}
	rtt := "-"
	if l.RTTMicro != nil {
		rtt = (time.Duration(*l.RTTMicro) * time.Microsecond).Round(10 * time.Microsecond).String()
	}
	return []string{printable(l.From), printable(l.To), state, countOrDash(l.Frames), countOrDash(l.Lost), countOrDash(l.Dropped),
		countOrDash(l.Delayed), rtt,
		ruleOf(l.Rule)}
}

// countOrDash is a figure, or - if it is not counted.
func countOrDash(n *uint64) string {
	if n == nil {
		return "-"
	}
	return groupDigits(*n)
}

// ruleOf is what a fault does to what passes, as the flags of devnet fault link say it.
func ruleOf(r *model.LinkRule) string {
	if r == nil {
		return ""
	}
	var parts []string
	word := func(name, value string) {
		if value != "" && value != "0" {
			parts = append(parts, name+" "+value)
		}
	}
	share := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	word("latency", r.Latency)
	word("jitter", r.Jitter)
	word("loss", share(r.Loss))
	word("duplicate", share(r.Duplicate))
	word("reorder", share(r.Reorder))
	if r.Bandwidth > 0 {
		word("bandwidth", fmt.Sprintf("%d B/s", r.Bandwidth))
	}
	return printable(strings.Join(parts, ", "))
}
