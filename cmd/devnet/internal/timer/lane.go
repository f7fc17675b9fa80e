package timer

import (
	"encoding/json"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/timertext"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func timerLaneCommand() *cli.Command {
	return &cli.Command{Name: "lane", Usage: "draw the timer lane of the last blocks",
		Description: "Example: devnet timer lane --last 20\n½ is half of the lane's budget, around which its base fee moves. Blocks with " +
			"nothing due are drawn as one line.",
		Flags: []cli.Flag{&cli.IntFlag{Name: "last", Value: 40, Usage: "`N` blocks, up to 1000"},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "follow new blocks"}, command.JSONFlag, command.HTTPFlag,
			command.NodeFlag, command.AtFlag},
		Action: command.WithoutArguments(timerLane)}
}

func timerLane(c *cli.Context) error {
	n, last := command.NewClient(c), c.Int("last")
	if last < 1 || last > 1000 {
		return failure.NewUsage("", "--last: %d is not between 1 and 1000", last)
	}
	lane, err := n.Lane(c.Context, last)
	if err != nil {
		return err
	}
	if c.Bool("follow") {
		return followLane(c, n, lane)
	}
	return command.PrintAnswerOrJSON(c, lane, func(w io.Writer) { timertext.DrawLane(w, lane, terminal.Width(w)) })
}

// followLane prints the last blocks, and each new one as it becomes final.
func followLane(c *cli.Context, n *client.API, lane []model.LaneBlock) error {
	w := c.App.Writer
	p := timertext.NewPicture(lane, terminal.Width(w))
	show := func(l *model.LaneBlock) {
		if c.Bool("json") {
			_ = json.NewEncoder(w).Encode(l)
			return
		}
		p.DrawRow(w, l)
	}
	if !c.Bool("json") {
		p.DrawHeading(w)
	}
	var seen types.Height
	for i := range lane {
		show(&lane[i])
		seen = lane[i].Height
	}
	return n.Events(c.Context, client.Follow{From: seen + 1, Kinds: []string{model.EventBlock}}, func(e client.Event) error {
		var b model.Block
		if err := command.DecodeEvent(e, &b); err != nil || b.Height <= seen {
			return err
		}
		lane, err := n.Lane(c.Context, int(min(1000, b.Height-seen)))
		if err != nil {
			return err
		}
		for i := range lane {
			if lane[i].Height > seen {
				show(&lane[i])
				seen = lane[i].Height
			}
		}
		return nil
	})
}
