package timer

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func timerCancelCommand() *cli.Command {
	return &cli.Command{Name: "cancel", Usage: "cancel any actor's timer, by the network's system key", ArgsUsage: "ID",
		Description: "Example: devnet timer cancel 0x2f370e1a",
		Flags:       []cli.Flag{command.JSONFlag, command.HTTPFlag},
		Action: command.WithArguments(func(c *cli.Context, args []string) error {
			o, err := command.NewClient(c).CancelTimer(c.Context, args[0])
			return command.PrintAnswer(c, o, err, func(w io.Writer) { fmt.Fprintf(w, "Cancelled %s in block %d.\n", o.ID, o.Height) })
		})}
}

func timerExtendCommand() *cli.Command {
	return &cli.Command{Name: "extend", Usage: "extend the life of any actor's timer, by the network's system key", ArgsUsage: "ID",
		Description: "Example: devnet timer extend 0x2f370e1a --by 1000\nA timer that is still pending at its expires_at expires. It does not " +
			"move the height at which it is due.",
		Flags: []cli.Flag{&cli.Uint64Flag{Name: "to", Usage: "to expires_at = `H`"},
			&cli.Uint64Flag{Name: "by", Usage: "`N` heights to add to expires_at"}, command.JSONFlag, command.HTTPFlag},
		Action: command.WithArguments(func(c *cli.Context, args []string) error {
			r := model.ExtendRequest{ID: args[0], To: types.Height(c.Uint64("to")), By: c.Uint64("by")}
			if (r.To == 0) == (r.By == 0) {
				return failure.NewUsage("Example: devnet timer extend "+args[0]+" --by 1000", "timer extend takes one of --to H and --by N")
			}
			o, err := command.NewClient(c).ExtendTimer(c.Context, r)
			return command.PrintAnswer(c, o, err, func(w io.Writer) {
				fmt.Fprintf(w, "%s now expires at height %d (block %d).\n", o.ID, o.ExpiresAt, o.Height)
			})
		})}
}
