package chain

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// txTrace executes again what was executed, and shows what it did.
func txTrace(c *cli.Context, hash string) error {
	n := command.NewClient(c)
	t, err := n.Trace(c.Context, hash, false, false)
	return command.PrintAnswer(c, t, err, func(w io.Writer) {
		names := command.NewNames(c.Context, n)
		chaintext.PrintReplay(w, names, &t.Receipt, "replayed", chaintext.CountReplayed(t.Replayed))
		fmt.Fprintln(w)
		words.Trace(w, &t, names.Of)
	})
}
