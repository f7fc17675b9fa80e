package box

import (
	"context"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Each implements network.Operated, at once: a node that runs elsewhere takes a while.
func (b backend) Each(do func(network.Steered)) {
	var told sync.WaitGroup
	for _, node := range b.network.List() {
		if node.Running() {
			told.Go(func() { do(node.Validator()) })
		}
	}
	told.Wait()
}

// Best implements network.Operated.
func (b backend) Best() network.Best { return b.network.nodeList.bestForOperator() }

// Validator implements network.Operated.
func (b backend) Validator(name string) network.Best { return b.network.findNode(name).asBest() }

// Clock implements network.Operated.
func (b backend) Clock() types.Time { return b.network.clock.Now() }

// Stall implements network.Operated: the caller's context decides.
func (b backend) Stall() time.Duration { return network.Forever }

// KeepTravel implements network.Operated.
func (b backend) KeepTravel(by time.Duration, goal simplex.Goal) error {
	have := b.network.keeper.travelRecord()
	return b.network.keeper.keepRecord(network.Travel{Number: have.Number + 1, Clock: have.Clock + by, Goal: goal})
}

// MoveClock implements network.Operated.
func (b backend) MoveClock(by time.Duration) {
	n := b.network
	n.clock.Advance(by)
	if other := n.config.Elsewhere; other != nil {
		other.SetTravel(n.keeper.travelRecord())
	}
}

// Keys implements network.Operated.
func (b backend) Keys() network.Keys {
	return network.Keys{Seed: b.network.seed, ChainID: b.network.genesis.ChainID, Scheme: b.network.verifier}
}

// Advance is time travel, as network.Steering has it.
func (n *Network) Advance(ctx context.Context, target history.Target) (*history.Advance, error) {
	receipt, err := n.Travel(ctx, target)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, refusal.New("travelling", "height %d is not final yet: the network is at %d", n.Goal().Height,
			n.Best().finalHeight()).
			Hint("The network travels on, also after a restart: devnet advance --to %d waits for it, devnet advance --stop ends it.",
				n.Goal().Height)
	}
	return receipt, err
}
