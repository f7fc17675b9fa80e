package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators/history"
)

// offset is the file that restores the clock at a restart.
type offset struct {
	Nanoseconds time.Duration `json:"offset_ns"`
}

// resumeClock continues with the clock that a home holds.
func (n *Network) resumeClock() error {
	if n.home == nil || n.config.Here != nil && !n.config.Here.Driven {
		return nil
	}
	data, err := os.ReadFile(n.home.Clock())
	var moved offset
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := json.Unmarshal(data, &moved); err != nil {
		return fmt.Errorf("%s cannot be read: %w", n.home.Clock(), err)
	}
	n.clock.SetOffset(moved.Nanoseconds)
	return nil
}

// Each implements network.Paced, at once: a node that runs elsewhere takes a while.
func (b backend) Each(do func(network.Steered)) {
	var told sync.WaitGroup
	for _, node := range b.network.List() {
		if node.Running() {
			told.Go(func() { do(node.Validator()) })
		}
	}
	told.Wait()
}

// Best implements network.Paced.
func (b backend) Best() network.Best { return b.network.nodeList.best() }

// Validator implements network.Paced.
func (b backend) Validator(name string) network.Best { return b.network.find(name).best() }

// Clock implements network.Paced.
func (b backend) Clock() types.Time { return b.network.clock.Now() }

// Stall implements network.Paced: the caller's context decides.
func (b backend) Stall() time.Duration { return network.Forever }

// MoveClock implements network.Paced. The file comes first: blocks never have times that a restart could not reach.
func (b backend) MoveClock(by time.Duration) error {
	n := b.network
	if n.home != nil {
		data, err := json.Marshal(offset{n.clock.Offset() + by})
		if err == nil {
			err = home.WriteFile(n.home.Clock(), append(data, '\n'), n.config.Durability)
		}
		if err != nil {
			return err
		}
	}
	n.clock.Advance(by)
	if other := n.config.Elsewhere; other != nil {
		other.SetClock(n.clock.Offset())
	}
	return nil
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
		return nil, refusal.New("not_final", "height %d is not final yet: the network is at %d", n.Goal().Height,
			n.Best().height()).
			Hint("The advance continues: GET /height returns the height, GET /ready whether blocks are made.")
	}
	return receipt, err
}
