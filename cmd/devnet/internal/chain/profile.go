package chain

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/profiletext"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// txProfile executes again what was executed, and shows what each line of code took.
func txProfile(c *cli.Context, hash string) error {
	n := command.NewClient(c)
	t, err := n.Trace(c.Context, hash, true, true)
	if err != nil {
		return err
	}
	if file := c.String("folded"); file != "" {
		if err := os.WriteFile(file, []byte(profiletext.Fold(&t)), 0o644); err != nil {
			return failure.New("", "the profile cannot be written: %v", err)
		}
	}
	return command.PrintAnswerOrJSON(c, t, func(w io.Writer) {
		names := command.NewNames(c.Context, n)
		chaintext.PrintReplay(w, names, &t.Receipt, "used", words.Grouped(uint64(t.Receipt.Cycles))+" cycles", "written", c.String("folded"))
		profiletext.Print(w, &t)
	})
}
