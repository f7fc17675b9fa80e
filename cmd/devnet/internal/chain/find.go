package chain

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// maxFound is how many hits the command lists.
const maxFound = 50

// FindCommand is the command find.
func FindCommand() *cli.Command {
	return &cli.Command{
		Name: "find", Usage: "list what a text may mean: the beginning of a hash, a part of a name, a height", ArgsUsage: "TEXT",
		Description: "Example: devnet find heart\nExample: devnet find 0x2f37\nTEXT is a height, view 17, four or more digits of a hash or an " +
			"address, or a part of the name of an account, a node, an actor or a handler.",
		Flags:  []cli.Flag{command.JSONFlag, command.HTTPFlag},
		Action: command.WithArguments(listFound),
	}
}

func listFound(c *cli.Context, arguments []string) error {
	found, err := command.NewClient(c).Find(c.Context, arguments[0], maxFound)
	return command.PrintAnswer(c, found, err, func(w io.Writer) {
		terminal.PrintTable(w, "Nothing is called so.", "KIND NAME ID", terminal.RowsOf(found.Hits, func(h *model.Hit) []string {
			return []string{h.Kind, words.Printable(h.Name), words.Printable(h.ID)}
		}))
	})
}
