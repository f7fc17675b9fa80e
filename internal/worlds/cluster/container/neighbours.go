package container

import (
	"context"

	"github.com/cowboyinc/devnet/internal/environment/neighbours"
	"github.com/cowboyinc/devnet/internal/environment/owner"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
)

// roomFor refuses a network for which the engine's machine has no room in its table of
// neighbours. Another machine, or a table that cannot be read, is accepted.
func roomFor(ctx context.Context, nodes []cluster.Node) error {
	validators := 0
	for _, n := range nodes {
		if n.Kind == cluster.Validator {
			validators++
		}
	}
	crowded := neighbours.Crowded(validators, len(nodes)-validators)
	if crowded == nil {
		return nil
	}
	name, err := callDocker(ctx, nil, "info", "--format", "{{.Name}}")
	if err != nil || name != owner.Machine() {
		return err
	}
	return crowded
}
