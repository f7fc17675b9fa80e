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
	"github.com/cowboyinc/devnet/validators/ledger"
)

// steering is a network whose pace is decided, as network.Steering finds it.
type steering struct {
	*scheduler
	origin *origin
	shared *shared
	nodes  *nodeList
}

var _ network.Paced = (*steering)(nil)

// offset is the file by which a restart finds the clock where it was.
type offset struct {
	Nanoseconds time.Duration `json:"offset_ns"`
}

// resume goes on with the clock that a home holds.
func (s *steering) resume() error {
	if s.origin.home == nil || s.origin.config.Here != nil && !s.origin.config.Here.Driven {
		return nil
	}
	data, err := os.ReadFile(s.origin.home.Clock())
	var moved offset
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := json.Unmarshal(data, &moved); err != nil {
		return fmt.Errorf("%s cannot be read: %w", s.origin.home.Clock(), err)
	}
	s.shared.clock.SetOffset(moved.Nanoseconds)
	return nil
}

// Each implements network.Paced, at once: a node that runs elsewhere takes a while.
func (s *steering) Each(do func(network.Steered)) {
	var told sync.WaitGroup
	for _, node := range s.nodes.List() {
		if node.Running() {
			told.Go(func() { do(node.Validator()) })
		}
	}
	told.Wait()
}

// Best implements network.Paced.
func (s *steering) Best() (*ledger.State, *history.Archive) {
	v := s.nodes.Best().Validator()
	return v.Head().State, v.Archive()
}

// Clock implements network.Paced.
func (s *steering) Clock() types.Time { return s.shared.clock.Now() }

// Stall implements network.Paced: whoever waits decides.
func (s *steering) Stall() time.Duration { return network.Forever }

// MoveClock implements network.Paced. The file comes first: blocks never bear times that a
// restart could not reach.
func (s *steering) MoveClock(by time.Duration) error {
	if s.origin.home != nil {
		data, err := json.Marshal(offset{s.shared.clock.Offset() + by})
		if err == nil {
			err = home.WriteFile(s.origin.home.Clock(), append(data, '\n'), s.origin.config.Durability)
		}
		if err != nil {
			return err
		}
	}
	s.shared.clock.Advance(by)
	if other := s.origin.config.Elsewhere; other != nil {
		other.SetClock(s.shared.clock.Offset())
	}
	return nil
}

// Pause stops the making of blocks. It ends with Resume, or with the process.
func (n *Network) Pause() error { return n.setPaused(true) }

// Resume lets it go on.
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

// Advance is time travel, as network.Steering has it.
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
