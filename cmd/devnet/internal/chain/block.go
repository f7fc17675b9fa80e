// Package chain has the commands about what the chain holds: blocks, transactions, events, accounts, parameters.
package chain

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/plural"
)

// BlockCommand is the command block.
func BlockCommand() *cli.Command {
	return &cli.Command{
		Name: "block", Usage: "a final block: the latest, or by height or hash", ArgsUsage: "[HEIGHT|HASH|latest]",
		Description: "Example: devnet block 12",
		Flags:       command.ReadFlags,
		Action: command.WithArguments(func(c *cli.Context, args []string) error {
			n := command.NewClient(c)
			b, err := n.Block(c.Context, cmp.Or(args[0], "latest"))
			if err != nil {
				return err
			}
			present, err := presenceOf(c, n, &b)
			if err != nil {
				return err
			}
			executed, err := client.Collect(n.BlockReceipts(c.Context, terminal.Height(b.Height), client.Page{Limit: command.MaxPage}))
			if err != nil {
				return err
			}
			return command.PrintAnswerOrJSON(c, struct {
				model.Block
				Receipts []model.Receipt `json:"receipts"`
			}{b, executed}, func(w io.Writer) { chaintext.PrintBlock(w, b, present, executed, command.NewNames(c.Context, n)) })
		}),
	}
}

// presenceOf returns the runners that the votes in a block show; "" without votes.
func presenceOf(c *cli.Context, n *client.API, b *model.Block) (string, error) {
	if c.Bool("json") || !slices.ContainsFunc(b.Votes, func(v model.Vote) bool { return v.BitLength > 0 }) {
		return "", nil
	}
	p, err := n.Presence(c.Context, b.Height-1)
	if err != nil {
		return "", err
	}
	there := terminal.CountWhere(p.Runners, func(r *model.RunnerPresence) bool { return r.Present })
	return fmt.Sprintf("%d of %d present in block %d: by %s, shown by at least %s", there, len(p.Runners), p.Height, p.Rule,
		plural.Of(p.Threshold, "vote")), nil
}
