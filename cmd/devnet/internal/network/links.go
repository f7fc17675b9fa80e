package network

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/nodetext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
)

// LinksCommand is the command links.
func LinksCommand() *cli.Command {
	return &cli.Command{
		Name: "links", Usage: "list the links between nodes: up or cut, the rule in force, what was lost and delayed",
		Description: "Example: devnet links --faulty\nA figure without a count is -.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "faulty", Usage: "only links that are down or cut, have a rule, or on which something was lost or delayed"},
			command.JSONFlag, command.HTTPFlag},
		Action: command.WithoutArguments(listLinks),
	}
}

func listLinks(c *cli.Context) error {
	all, err := command.NewClient(c).Links(c.Context, c.Bool("faulty"))
	return command.PrintAnswer(c, all, err, func(w io.Writer) {
		empty := "There are no links: the network has one node."
		if c.Bool("faulty") {
			empty = "No link is down or cut, none has a rule, and nothing was lost or delayed."
		}
		terminal.PrintTable(w, empty, "FROM TO STATE FRAMES LOST DROPPED DELAYED RTT RULE", terminal.RowsOf(all.Links, nodetext.LinkRow))
	})
}
