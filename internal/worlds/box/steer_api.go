package box

import (
	"context"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/worlds/steer"
	"github.com/cowboyinc/devnet/validators/history"
)

// Steer implements api.Backend.
func (n *Network) Steer() answers.Steering {
	return operator{steer.Actions{Network: n.Network, Read: n.Reader}, n}
}

// operator has the network's verbs in the form of the HTTP API.
type operator struct {
	steer.Actions
	network *Network
}

// Advance implements answers.Steering.
func (h operator) Advance(ctx context.Context, to history.Target) (*history.Advance, error) {
	return h.network.Advance(ctx, to)
}
