package steer

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
)

// PaceCommand is the command pause or resume.
func PaceCommand(pause bool) *cli.Command {
	shape := &cli.Command{Name: "resume", Usage: "resume block production", Description: "Example: devnet resume"}
	if pause {
		shape = &cli.Command{Name: "pause", Usage: "stop the making of blocks; transactions wait in the pool",
			Description: "Example: devnet pause"}
	}
	shape.Flags = []cli.Flag{command.JSONFlag, command.HTTPFlag}
	shape.Action = command.WithoutArguments(func(c *cli.Context) error {
		order := command.NewClient(c).Resume
		if pause {
			order = command.NewClient(c).Pause
		}
		p, err := order(c.Context)
		return command.PrintAnswer(c, p, err, func(w io.Writer) {
			if p.Paused {
				fmt.Fprintf(w, "Paused at height %d. %s\n", p.Height,
					self.ReplaceName("devnet resume continues; devnet advance works while paused."))
				return
			}
			fmt.Fprintf(w, "Blocks are made again, from height %d on.\n", p.Height)
		})
	})
	return shape
}
