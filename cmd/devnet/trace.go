package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// txTrace executes again what was executed, and shows what it did.
func txTrace(c *cli.Context, hash string) error {
	n := networkClient(c)
	t, err := n.Trace(c.Context, hash, false, false)
	return printAnswer(c, t, err, func(w io.Writer) {
		names := newNaming(c.Context, n)
		r := &t.Receipt
		printFacts(w, "hash", r.Hash.String(), "kind", r.Origin, "height", plainHeight(r.Height), "status", r.Status, "did",
			executedWhat(r, names),
			"replayed", replayedWords(t.Replayed))
		fmt.Fprintln(w)
		words.Trace(w, &t, names.nameOf)
	})
}

// replayedWords says how many blocks were executed again.
func replayedWords(blocks int) string {
	if blocks == 0 {
		return ""
	}
	return plural.Of(blocks, "block") + " before it, for the state it began with"
}
