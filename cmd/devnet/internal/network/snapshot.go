package network

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/environment/home"
)

var snapshotHome = &cli.StringFlag{Name: "home", Value: command.DefaultHome, Usage: "`DIR` of the network's files"}

// SnapshotCommand is the command snapshot.
func SnapshotCommand() *cli.Command {
	return &cli.Command{
		Name: "snapshot", Usage: "keep the chain of a stopped network under a name, and go back to it",
		Description: "Example: devnet snapshot save before\nStop the network first (devnet down); devnet up then starts it from the snapshot. " +
			"Scenarios and tests restore while they run: net.snapshot, chain.snapshot.",
		Subcommands: []*cli.Command{
			{Name: "save", Usage: "keep all that is final, with the nodes' votes and the network's clock", ArgsUsage: "NAME",
				Description: "Example: devnet snapshot save before",
				Flags: []cli.Flag{snapshotHome, &cli.BoolFlag{Name: "replace", Usage: "in place of the snapshot of that name"},
					command.JSONFlag}, Action: command.WithArguments(func(c *cli.Context, args []string) error {
					return snapshotOf(c, args[0], "Saved", func(dir, name string) (home.Snapshot, error) {
						return home.Save(dir, name, c.Bool("replace"))
					})
				})},
			{Name: "load", Usage: "return the network to a snapshot; everything after it is lost", ArgsUsage: "NAME",
				Description: "Example: devnet snapshot load before",
				Flags:       []cli.Flag{snapshotHome, command.JSONFlag}, Action: command.WithArguments(func(c *cli.Context, args []string) error {
					return snapshotOf(c, args[0], "Loaded", home.Load)
				})},
			{Name: "list", Usage: "list the snapshots of a network", Description: "Example: devnet snapshot list",
				Flags: []cli.Flag{snapshotHome, command.JSONFlag}, Action: command.WithoutArguments(snapshotList)},
		},
	}
}

// snapshotOf saves or loads one.
func snapshotOf(c *cli.Context, name, done string, do func(dir, name string) (home.Snapshot, error)) error {
	dir := c.String("home")
	s, err := do(dir, name)
	if err != nil {
		return snapshotError(dir, err)
	}
	return command.PrintAnswerOrJSON(c, s, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s: %s. %s\n", done, s.Name, sizeWords(s.Bytes), self.ReplaceName("Start it with devnet up"+command.HomeFlag(dir)+"."))
	})
}

func snapshotList(c *cli.Context) error {
	all, err := home.Snapshots(c.String("home"))
	return command.PrintAnswer(c, all, err, func(w io.Writer) {
		none := self.ReplaceName("There are none. devnet snapshot save NAME" + command.HomeFlag(c.String("home")) + " makes one.")
		terminal.PrintTable(w, none, "NAME SAVED SIZE", terminal.RowsOf(all, func(s *home.Snapshot) []string {
			return []string{s.Name, s.Saved.Format(time.RFC3339), sizeWords(s.Bytes)}
		}))
	})
}

// snapshotError is why there is no snapshot, and what to do.
func snapshotError(dir string, err error) error {
	var used *home.InUseError
	var refused *home.SnapshotError
	switch {
	case errors.As(err, &used):
		return failure.New("Stop it first: devnet down --home "+dir, "a network runs on %s, and changes while it is copied", dir)
	case errors.As(err, &refused):
		return failure.New(strings.ToUpper(refused.Remedy[:1])+refused.Remedy[1:]+".", "%s", refused.What)
	}
	return failure.New("", "%v", err)
}

// sizeWords is bytes for people.
func sizeWords(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", (n+1023)>>10)
	}
	return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20)
}
