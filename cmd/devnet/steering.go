package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func advanceCommand() *cli.Command {
	return &cli.Command{
		Name: "advance", Usage: "time travel: skip every height at which nothing is due, and print what fired",
		Description: "Example: devnet advance --blocks 1000\nExample: devnet advance --to-next-timer",
		Flags: []cli.Flag{
			&cli.Uint64Flag{Name: "blocks", Usage: "move forward by `N` heights"},
			&cli.Uint64Flag{Name: "to", Usage: "go to height `H`"},
			&cli.BoolFlag{Name: "to-next-timer", Usage: "go to the height at which the next timer is due"},
			jsonFlag, httpFlag},
		Action: takingNothing(advance),
	}
}

func advance(c *cli.Context) error {
	r := model.AdvanceRequest{Blocks: c.Uint64("blocks"), To: types.Height(c.Uint64("to")), ToNextTimer: c.Bool("to-next-timer")}
	given := 0
	for _, one := range []bool{r.Blocks > 0, r.To > 0, r.ToNextTimer} {
		if one {
			given++
		}
	}
	if given != 1 {
		return usage("Example: devnet advance --blocks 1000", "advance takes one of --blocks N, --to H and --to-next-timer")
	}
	n := network(c)
	a, err := n.Advance(c.Context, r)
	return printAnswer(c, a, err, func(w io.Writer) { printAdvance(w, a, newNaming(c.Context, n)) })
}

func printAdvance(w io.Writer, a model.Advance, names *naming) {
	facts(w, "height", fmt.Sprintf("%d, from %d", a.To, a.From), "blocks",
		fmt.Sprintf("%d made, %s skipped", a.Blocks, plural.Of(a.Skipped, "height")),
		"clock", "moved by "+(time.Duration(a.ClockMS)*time.Millisecond).String(),
		"timers", fmt.Sprintf("%d fired, %d ended otherwise, deferred %s", a.Fired, a.Ended-a.Fired, plural.Of(a.Deferred, "time")))
	listed := foremost(a.Timers)
	table(w, "No timer was due on the way.", "ID ACTOR DUE AT LATE STATUS", rowsOf(listed, func(t *model.AdvanceTimer) []string {
		return []string{short(t.ID.String()), names.of(t.Actor), height(t.Due), height(t.At), strconv.FormatUint(t.Late, 10),
			fateOf(t.Status, t.Result)}
	}))
	if left := a.Ended - uint64(len(listed)); left > 0 {
		fmt.Fprintf(w, asTyped("… and %d more: devnet events --type timer --from %d\n"), left, a.From+1)
	}
}

// maxShownEnds is how many timers that ended on the way are listed.
const maxShownEnds = 10

// foremost are the timers to list, in their order. If there are more, those that did not
// fire, or whose handler failed, come first.
func foremost(all []model.AdvanceTimer) []model.AdvanceTimer {
	if len(all) <= maxShownEnds {
		return all
	}
	well := func(t model.AdvanceTimer) int {
		if fateOf(t.Status, t.Result) == string(types.TimerFired) {
			return 1
		}
		return 0
	}
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b model.AdvanceTimer) int { return well(a) - well(b) })
	return sorted[:maxShownEnds]
}

func paceCommand(pause bool) *cli.Command {
	command := &cli.Command{Name: "resume", Usage: "resume block production", Description: "Example: devnet resume"}
	if pause {
		command = &cli.Command{Name: "pause", Usage: "stop the making of blocks; transactions wait in the pool",
			Description: "Example: devnet pause"}
	}
	command.Flags = []cli.Flag{jsonFlag, httpFlag}
	command.Action = takingNothing(func(c *cli.Context) error {
		order := network(c).Resume
		if pause {
			order = network(c).Pause
		}
		p, err := order(c.Context)
		return printAnswer(c, p, err, func(w io.Writer) {
			if p.Paused {
				fmt.Fprintf(w, "Paused at height %d. devnet resume continues; devnet advance works while paused.\n", p.Height)
				return
			}
			fmt.Fprintf(w, "Blocks are made again, from height %d on.\n", p.Height)
		})
	})
	return command
}

// moveCommands are validator join and leave.
func moveCommands() []*cli.Command {
	return []*cli.Command{
		{Name: "join", Usage: "start a validator that joins the set at the epoch's end", ArgsUsage: "[NAME]",
			Description: "Example: devnet validator join v4\nWithout a name: the next of v0, v1, … that is free.",
			Flags:       []cli.Flag{jsonFlag, httpFlag},
			Action:      moving((*client.API).JoinValidator)},
		{Name: "leave", Usage: "remove a validator from the set at the end of the epoch", ArgsUsage: "NAME",
			Description: "Example: devnet validator leave v3",
			Flags:       []cli.Flag{jsonFlag, httpFlag},
			Action:      moving((*client.API).LeaveValidator)},
	}
}

// moving is the action of an order by which a validator enters or leaves the set.
func moving(order func(*client.API, context.Context, string) (model.Move, error)) cli.ActionFunc {
	return taking(func(c *cli.Context, args []string) error {
		m, err := order(network(c), c.Context, args[0])
		return printAnswer(c, m, err, func(w io.Writer) {
			facts(w, "name", m.Name, "address", m.Address.String(), "status", m.Status,
				"holds from", fmt.Sprintf("epoch %d, height %d", m.Epoch, m.Height))
		})
	})
}

func paramsSet(c *cli.Context, args []string) error {
	p, err := network(c).SetParam(c.Context, model.ParamRequest{Key: args[0], Value: args[1], At: types.Height(c.Uint64("at"))})
	return printAnswer(c, p, err, func(w io.Writer) {
		fmt.Fprintf(w, "%s = %s from height %d on (class %s)\n", p.Key, p.Value, p.Height, p.Class)
	})
}
