// Package steer has the actions of a network's operator in the form of answers, for every world.
package steer

import (
	"context"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// Actions are the operator's actions on timers, which are judged by a node's final state, beside those of the
// network. Each kind of network adds the actions that complete answers.Steering.
type Actions struct {
	*network.Network
	Read func(node string) (answers.Reader, error) // as api.Backend does
}

// CancelTimer implements answers.Steering.
func (a Actions) CancelTimer(ctx context.Context, id types.TimerID) (*types.Receipt, error) {
	return a.Network.CancelTimer(ctx, id, a.checkTimer)
}

// ExtendTimer implements answers.Steering.
func (a Actions) ExtendTimer(ctx context.Context, id types.TimerID, expiresAt types.Height) (*types.Receipt, error) {
	return a.Network.ExtendTimer(ctx, id, expiresAt, a.checkTimer)
}

// checkTimer refuses a timer that is not pending.
func (a Actions) checkTimer(id types.TimerID) error {
	by, err := a.Read("")
	if err == nil {
		_, err = answers.PendingTimer(by, id)
	}
	return err
}
