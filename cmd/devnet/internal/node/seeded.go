package node

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/listen"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// seededAt is when every network of a seed begins, so that all of its nodes make the same
// genesis wherever they are.
var seededAt = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func nodeSeededCommand() *cli.Command {
	return &cli.Command{
		Name: "seeded", Usage: "run a node whose network has keys made from a seed, as in compose.yaml; for containers",
		Description: "Example: devnet node seeded --name v0 --seed 1\n" +
			"Nodes are reached by their names, at port 4000. Each makes genesis, settings and keys for itself at its\n" +
			"first start, and all of them the same, so that they have to be told the same.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "name", Usage: "`NAME` of the node: v0, v1, … or r0, r1, …"},
			&cli.StringFlag{Name: "dir", Value: "net", Usage: "`DIR` for the files and the home"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` from which all keys are made"},
			&cli.BoolFlag{Name: "lost", Usage: "the node ran before and its home is lost: it votes after the others have advanced"},
			&cli.BoolFlag{Name: "wait", Usage: "a runner waits for its devnet (always)", Value: true, Hidden: true},
			attachedFlag,
			listen.CORSFlag(corsVariable),
			listen.HostFlag(),
		}, append(launch.ChainFlags(), launch.WatchFlags()...)...),
		Action: command.WithoutArguments(runSeededNode),
	}
}

func runSeededNode(c *cli.Context) error {
	chain, err := launch.ReadChain(c, false)
	if err != nil {
		return err
	}
	n, err := hosts.Make(hosts.Plan{Chain: chain, Seed: new(c.Uint64("seed")), Format: hosts.Seeded, Image: launch.DefaultImage,
		Now: seededAt})
	if err != nil {
		return failure.NewUsage("", "%v", err)
	}
	name, dir := c.String("name"), c.String("dir")
	is := func(node hosts.Node) bool { return node.Name == name }
	validates, runs := slices.ContainsFunc(n.Validators, is), slices.ContainsFunc(n.Runners, is)
	if !validates && !runs {
		return failure.NewUsage("Validators are v0, v1, …, runners r0, r1, …; --validators and --runners say how many.",
			"--name: there is no node %.40q in a network of %d validators and %d runners", name, len(n.Validators), len(n.Runners))
	}
	if err := makeSeededFolder(n, dir); err != nil {
		return err
	}
	path := filepath.Join(dir, name+".toml")
	if validates {
		return validatorOf(c, path)
	}
	return runnerOf(c, path)
}

// makeSeededFolder writes a network into a folder, or checks that the folder already has it.
func makeSeededFolder(n *hosts.Network, dir string) error {
	have, err := os.ReadFile(filepath.Join(dir, hosts.GenesisFile))
	switch {
	case err == nil && !bytes.Equal(have, n.GenesisBytes()):
		return failure.NewNoStart("Give the flags and the version of devnet that it began with, or remove it (docker-compose down --volumes).",
			"--dir: %s holds another network", dir)
	case err == nil:
		return nil
	case !errors.Is(err, os.ErrNotExist):
		return failure.NewNoStart("", "--dir: %v", err)
	}
	part := dir + ".part" // where an earlier start may have ended halfway
	if err := errors.Join(os.RemoveAll(part), n.Write(part)); err != nil {
		return failure.NewNoStart("", "--dir: %v", err)
	}
	if err := store.TakeName(part, dir); err != nil {
		return failure.NewNoStart("", "--dir: %v", err)
	}
	return nil
}
