package node

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	runnerfile "github.com/cowboyinc/devnet/internal/environment/executor/settings"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// anyAnswering returns the readiness of a runner's devnet, by the first of its APIs
// that answers; if none does, it waits for the first like answering.
func anyAnswering(c *cli.Context, set *runnerfile.Runner) (*client.API, model.Ready, error) {
	for _, url := range append([]string{set.API}, set.Also...) {
		n := client.NewAPI(url).Directly()
		ready, err := n.Ready(c.Context)
		if _, unreachable := errors.AsType[*client.Unreachable](err); !unreachable {
			return n, ready, err
		}
	}
	n := client.NewAPI(set.API).Directly()
	ready, err := awaitReady(c, n, c.Bool("attached") || c.Bool("wait") || set.Driver != "")
	return n, ready, err
}

// controlOf returns the server through which the driver of set's validator controls it. It
// is nil where the settings name no driver. The driver of a strict network only reads.
func controlOf(set *hosts.Validator, config *box.Config) *control.ValidatorServer {
	if set.Driver == "" {
		return nil
	}
	server := control.NewValidatorServer(set.Driver, set.Strict)
	config.Here.Driven = !set.Strict
	config.Observe, config.Overhear, config.Tell = server.Observe, server.Overhear, server.Tell
	config.Gateway, config.Dropped = server.Gateway, server.Dropped
	config.Booted = func(_ types.Address, begins remote.Boot) { server.Booted(begins.Header, begins.Hash, begins.Root) }
	return server
}
