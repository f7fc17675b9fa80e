// Package steer has the commands that move time and pace, and that cheat.
package steer

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/timertext"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// AdvanceCommand is the command advance.
func AdvanceCommand() *cli.Command {
	return &cli.Command{
		Name: "advance", Usage: "time travel: skip every height at which nothing is due, and print what fired",
		Description: "Example: devnet advance --blocks 1000\nExample: devnet advance --to-next-timer\n" +
			"An advance goes on after Ctrl-C and after a restart. devnet advance --stop ends it.",
		Flags: []cli.Flag{
			&cli.Uint64Flag{Name: "blocks", Usage: "move forward by `N` heights"},
			&cli.Uint64Flag{Name: "to", Usage: "go to height `H`"},
			&cli.BoolFlag{Name: "to-next-timer", Usage: "go to the height at which the next timer is due"},
			&cli.BoolFlag{Name: "stop", Usage: "end an advance that is under way with the next block"},
			command.JSONFlag, command.HTTPFlag},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return failure.NewUsage(advanceExample, "%q is one argument too many", c.Args().First())
			}
			return advanceTime(c)
		},
	}
}

// advanceExample is what to type where an advance says not how far.
const advanceExample = "Example: devnet advance --blocks 1000"

func advanceTime(c *cli.Context) error {
	r := model.AdvanceRequest{Blocks: c.Uint64("blocks"), To: types.Height(c.Uint64("to")), ToNextTimer: c.Bool("to-next-timer"),
		Stop: c.Bool("stop")}
	given := 0
	for _, one := range []bool{r.Blocks > 0, r.To > 0, r.ToNextTimer, r.Stop} {
		if one {
			given++
		}
	}
	if given != 1 {
		return failure.NewUsage(advanceExample, "advance takes one of --blocks N, --to H, --to-next-timer and --stop")
	}
	n := command.NewClient(c)
	command.SetInterruptWords(c.Context, "the network travels on", endJourney)
	a, err := n.Advance(c.Context, r)
	if command.RefusedAs(err, "travelling") {
		return failure.New(endJourney, "%v (travelling)", err)
	}
	return command.PrintAnswer(c, a, err, func(w io.Writer) { printAdvance(w, a, command.NewNames(c.Context, n)) })
}

// endJourney is the remedy where an advance takes longer than its command waits.
const endJourney = "devnet status shows where to, and the journey goes on after a restart, too. devnet advance --stop ends it."

func printAdvance(w io.Writer, a model.Advance, names *naming.Names) {
	terminal.PrintFacts(w, "height", fmt.Sprintf("%d, from %d", a.To, a.From), "blocks",
		fmt.Sprintf("%d made, %s skipped", a.Blocks, plural.Of(a.Skipped, "height")),
		"clock", describeMove(time.Duration(a.ClockMS)*time.Millisecond),
		"timers", fmt.Sprintf("%d fired, %d ended otherwise, deferred %s", a.Fired, a.Ended-a.Fired, plural.Of(a.Deferred, "time")))
	nothing := "No timer was due on the way."
	if a.Deferred > 0 {
		nothing = "No timer ended on the way."
	}
	listed := foremostTimers(a.Timers)
	terminal.PrintTable(w, nothing, "ID ACTOR DUE AT LATE STATUS", terminal.RowsOf(listed, func(t *model.AdvanceTimer) []string {
		return []string{words.Short(t.ID.String()), names.Of(t.Actor), terminal.Height(t.Due), terminal.Height(t.At),
			strconv.FormatUint(t.Late, 10), timertext.Fate(t.Status, t.Result)}
	}))
	if left := a.Ended - uint64(len(listed)); left > 0 {
		fmt.Fprintf(w, self.ReplaceName("… and %d more: devnet events --type timer --from %d\n"), left, a.From+1)
	}
	printLeft(w, a)
}

// describeMove says how far an advance moved the clock: back, where it ended a travel before its goal.
func describeMove(by time.Duration) string {
	if by < 0 {
		return fmt.Sprintf("put back by %s, which the travel had left", -by)
	}
	return fmt.Sprintf("moved by %s", by)
}

// printLeft names what was due on the way and has not ended.
func printLeft(w io.Writer, a model.Advance) {
	for _, left := range a.Left {
		fmt.Fprintf(w, "%s due and deferred: %s%s\n", wereDue(left.Count), left.Reason, meaningOf(left.Reason))
	}
	for _, t := range a.Waiting[:min(len(a.Waiting), maxShownEnds)] {
		fmt.Fprintf(w, self.ReplaceName("  devnet timer show %s  due at %s: %s\n"), words.Short(t.ID.String()), terminal.Height(t.Due), t.Reason)
	}
}

func wereDue(timers uint64) string {
	if timers == 1 {
		return "1 timer was"
	}
	return fmt.Sprintf("%s were", plural.Of(timers, "timer"))
}

// meaningOf says in words what a reason of a deferral means that is of a machine; "": its name says it.
func meaningOf(reason string) string {
	switch reason {
	case "not_begun":
		return ": this machine was late, and the timer fires in one of the next blocks"
	case "host_failed":
		return ": the proposer's host of programs failed on it, and another proposer tries"
	}
	return ""
}

// maxShownEnds is how many timers that ended on the way are listed.
const maxShownEnds = 10

// foremostTimers are the timers to list, in their order. If there are more, those that did not
// fire, or whose handler failed, come first.
func foremostTimers(all []model.AdvanceTimer) []model.AdvanceTimer {
	if len(all) <= maxShownEnds {
		return all
	}
	well := func(t model.AdvanceTimer) int {
		if timertext.Fate(t.Status, t.Result) == string(types.TimerFired) {
			return 1
		}
		return 0
	}
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b model.AdvanceTimer) int { return well(a) - well(b) })
	return sorted[:maxShownEnds]
}
