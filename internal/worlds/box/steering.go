package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/faces/api"
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

// Lacks implements network.Operated.
func (b backend) Lacks(c network.Capability, action string) error {
	err := b.network.strict(action)
	switch {
	case err != nil || c == network.SystemKey:
		return err
	case c == network.OwnRunners:
		return b.network.elsewhere("a runner without its own key")
	}
	if err := b.network.elsewhere(action); err != nil {
		return err
	}
	return b.network.files.refuseBounded("a validator", "join")
}

// Keys implements network.Operated.
func (b backend) Keys() network.Keys {
	return network.Keys{Seed: b.network.seed, ChainID: b.network.genesis.ChainID, Scheme: b.network.verifier}
}

// Pause stops the making of blocks. It ends with Resume, or with the process.
func (n *Network) Pause() error { return n.setPaused(true) }

// Resume ends the pause.
func (n *Network) Resume() error { return n.setPaused(false) }

func (n *Network) setPaused(on bool) error {
	if err := n.strict("pausing"); err != nil {
		return err
	}
	if err := n.elsewhere("a pause"); err != nil {
		return err
	}
	n.Hold(on)
	return nil
}

// Advance is the time travel of network.Steering.
func (n *Network) Advance(ctx context.Context, target history.Target) (*history.Advance, error) {
	if err := n.elsewhere("time travel"); err != nil {
		return nil, err
	}
	receipt, err := n.Travel(ctx, target)
	switch {
	case errors.Is(err, network.ErrAdvancing):
		return nil, api.Refuse(http.StatusConflict, "advancing", "an advance is already running").Hint("Wait until it ends.")
	case err != nil && ctx.Err() != nil:
		return nil, api.Refuse(http.StatusGatewayTimeout, "not_final", "height %d is not final yet: the network is at %d", n.Goal().Height,
			n.Best().height()).
			Hint("The advance continues: GET /height returns the height, GET /ready whether blocks are made.")
	}
	return receipt, err
}
