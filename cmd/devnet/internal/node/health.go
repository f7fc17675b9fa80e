package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/listen"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/configfile"
	runnerfile "github.com/cowboyinc/devnet/internal/environment/executor/settings"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// healthPatience is how long a health check waits for answers.
const healthPatience = 5 * time.Second

func nodeHealthCommand() *cli.Command {
	return &cli.Command{
		Name: "health", Usage: "check whether a node does its work: one line, and exit code 0 or 1; for containers",
		Description: "Example: devnet node health --config net/v0.toml\n" +
			"A validator is healthy when it runs and reaches as many others as can agree with it; with --alone as\n" +
			"soon as it runs, so that an outage of others leaves it healthy. A runner is when its validators see it.\n" +
			"--http asks a validator or a whole network. A network is healthy when all its nodes are ready, or when\n" +
			"it was paused on purpose.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "config", Usage: "`FILE` with the settings of the node, as TOML"},
			&cli.StringFlag{Name: "http", Usage: "`ADDRESS` of a validator or a network, instead"},
			&cli.BoolFlag{Name: "alone", Usage: "accept a validator as soon as it answers, as in containers whose names resolve only once they " +
				"are healthy"},
			command.JSONFlag,
		},
		Action: command.WithoutArguments(nodeHealth),
	}
}

// health is what node health tells.
type health struct {
	Name    string   `json:"name"` // of the node; "" of a whole network
	Healthy bool     `json:"healthy"`
	Height  uint64   `json:"height"`
	Missing []string `json:"missing"`

	validates bool
}

func nodeHealth(c *cli.Context) error {
	path, address := c.String("config"), c.String("http")
	if (path == "") == (address == "") {
		return failure.NewUsage("Give the file that the node was started with, or the address at which it answers.",
			"give either --config FILE or --http ADDRESS")
	}
	ctx, cancel := context.WithTimeout(c.Context, healthPatience)
	defer cancel()
	h, err := healthOf(ctx, path, address)
	if errors.Is(err, context.DeadlineExceeded) {
		return failure.New("", "the node does not answer within %s", healthPatience)
	}
	if _, silent := errors.AsType[*client.Unreachable](err); silent {
		return failure.New("", "%v", err)
	}
	if err != nil {
		return err
	}
	if c.Bool("alone") && h.validates {
		h.Healthy = true
	}
	err = command.PrintAnswerOrJSON(c, h, func(w io.Writer) {
		if h.Healthy {
			fmt.Fprintf(w, "%s is healthy at height %d\n", h.healthSubject(), h.Height)
		}
	})
	if err == nil && !h.Healthy {
		return failure.New("", "%s is not healthy: %s", h.healthSubject(), strings.Join(h.Missing, "; "))
	}
	return err
}

func (h *health) healthSubject() string { return cmp.Or(h.Name, "the network") }

// healthOf asks the node that a file or an address is of.
func healthOf(ctx context.Context, path, address string) (*health, error) {
	if address != "" {
		return healthOfValidator(ctx, address)
	}
	var kind struct {
		API string `toml:"api"` // which a runner's settings have, and no validator's
	}
	if err := configfile.Peek(path, &kind); err != nil {
		return nil, settingsError(path, err, "devnet init makes such files.")
	}
	if kind.API == "" {
		set, err := hosts.Open(path)
		if err != nil {
			return nil, settingsError(path, err, "devnet node validator --help names the settings.")
		}
		// Its home has the port that the settings may leave open.
		return healthOfValidator(ctx, cmp.Or(command.HomeHTTP(set.Home), listen.ReachableAddress(set.HTTP)))
	}
	set, err := runnerfile.Open(path)
	if err != nil {
		return nil, settingsError(path, err, "docs/RUNNERS.md has every setting.")
	}
	defer set.Executor.Close()
	return healthOfRunner(ctx, set)
}

// healthOfValidator returns the health of the server at an address: a validator, or
// a network.
func healthOfValidator(ctx context.Context, address string) (*health, error) {
	ready, err := client.NewAPI(address).Directly().Ready(ctx)
	if err != nil {
		return nil, err
	}
	h := &health{Name: ready.Node, Healthy: ready.Ready || ready.Paused, Height: uint64(ready.Height), Missing: []string{},
		validates: ready.Node != ""}
	if ready.Error != nil && !h.Healthy {
		h.Missing = append(h.Missing, ready.Error.Message)
	}
	for _, node := range ready.Nodes {
		if ready.Node != "" && node.Name == ready.Node {
			h.Healthy, h.Missing = node.Ready || ready.Paused, append([]string{}, node.Missing...)
		}
	}
	return h, nil
}

// addressOf is the address of a runner's key.
func addressOf(set *runnerfile.Runner) types.Address {
	address, err := crypto.AddressOf(set.Key.PublicKey())
	if err != nil {
		panic(err) // a key has an address
	}
	return address
}

// healthOfRunner returns a runner's health by the chain and the runner's
// validators.
func healthOfRunner(ctx context.Context, set *runnerfile.Runner) (*health, error) {
	address := addressOf(set)
	n := client.NewAPI(set.API).Directly()
	ready, err := n.Ready(ctx)
	if err != nil {
		return nil, err
	}
	h := &health{Name: set.Name, Height: uint64(ready.Height), Missing: []string{}}
	r, err := n.Runner(ctx, address.String())
	switch {
	case command.RefusedAs(err, "unknown_runner"):
		h.Missing = append(h.Missing, "it is not registered")
	case err != nil:
		return nil, err
	case r.Health == model.RunnerDeregistered:
		h.Missing = append(h.Missing, "it was deregistered")
	case !r.Present && len(r.Connected) == 0 && r.Health != model.RunnerPaused && !ready.Paused:
		h.Missing = append(h.Missing, "no validator sees it")
	}
	h.Healthy = len(h.Missing) == 0
	return h, nil
}
