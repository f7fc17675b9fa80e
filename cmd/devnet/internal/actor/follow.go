package actor

import (
	"encoding/json"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// followLogs prints an actor's lines, and new lines as they come.
func followLogs(c *cli.Context, n *client.API, name string) error {
	// Lines up to this height come from the list, later ones as events.
	seen, err := n.Height(c.Context)
	if err != nil {
		return err
	}
	actor, err := n.Account(c.Context, name)
	if err != nil {
		return err
	}
	lines, _, err := lastLines(c, n, name)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if l.Height <= seen {
			printEither(c, l)
		}
	}
	follow := client.Follow{From: seen + 1, Actor: actor.Address.String(), Kinds: []string{model.EventLog}}
	return n.Events(c.Context, follow, func(e client.Event) error {
		return command.WithEvent(e, func(l *model.LogLine) { printEither(c, *l) })
	})
}

func printEither(c *cli.Context, l model.LogLine) {
	if c.Bool("json") {
		_ = json.NewEncoder(c.App.Writer).Encode(l)
		return
	}
	printLine(c.App.Writer, l)
}
