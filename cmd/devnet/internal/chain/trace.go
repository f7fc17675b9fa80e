package chain

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// txTrace executes again what was executed, and shows what it did.
func txTrace(c *cli.Context, hash string) error {
	n := command.Client(c)
	t, err := n.Trace(c.Context, hash, false, false)
	return command.PrintAnswer(c, t, err, func(w io.Writer) {
		names := command.NewNames(c.Context, n)
		r := &t.Receipt
		terminal.PrintFacts(w, "hash", r.Hash.String(), "kind", r.Origin, "height", terminal.Height(r.Height), "status", r.Status, "did",
			chaintext.DescribeExecution(r, names),
			"replayed", chaintext.CountReplayed(t.Replayed))
		fmt.Fprintln(w)
		words.Trace(w, &t, names.Of)
	})
}
