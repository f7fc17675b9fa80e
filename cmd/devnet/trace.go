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
	n := network(c)
	t, err := n.Trace(c.Context, hash, false, false)
	return printAnswer(c, t, err, func(w io.Writer) {
		names := newNaming(c.Context, n)
		r := &t.Receipt
		facts(w, "hash", r.Hash.String(), "kind", r.Origin, "height", height(r.Height), "status", r.Status, "did", executedWhat(r, names),
			"replayed", replayed(t.Replayed))
		fmt.Fprintln(w)
		words.Trace(w, &t, names.of)
	})
}

// replayed says how many blocks were executed again.
func replayed(blocks int) string {
	if blocks == 0 {
		return ""
	}
	return plural.Of(blocks, "block") + " before it, for the state it began with"
}
