// Package steer has the actions of a network's operator in the form of the HTTP API, for every world.
package steer

import (
	"context"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// Actions are the operator's actions in the form of the HTTP API. Each kind of network adds
// the actions that complete answers.Steering.
type Actions struct {
	Network *network.Network
	Read    func(node string) (answers.Reader, error) // as api.Backend does
}

// Paused implements answers.Steering.
func (a Actions) Paused() bool { return a.Network.Paused() }

// SetPaused implements answers.Steering.
func (a Actions) SetPaused(on bool) error { return a.Network.SetPaused(on) }

// Join implements answers.Steering.
func (a Actions) Join(ctx context.Context, name string) (m model.Move, err error) {
	who, err := a.Network.Join(ctx, name)
	if err != nil {
		return m, err
	}
	return a.moveOf(who), nil
}

// Leave implements answers.Steering.
func (a Actions) Leave(ctx context.Context, name string) (m model.Move, err error) {
	address, err := a.Network.Leave(ctx, name)
	if err != nil {
		return m, err
	}
	return a.moveOf(network.Identity{Name: name, Address: address}), nil
}

func (a Actions) moveOf(who network.Identity) model.Move {
	move := a.Network.MoveOf(who)
	return model.Move{Name: who.Name, Address: who.Address, Status: move.Status, Epoch: move.Epoch, Height: move.Height}
}

// SetParam implements answers.Steering.
func (a Actions) SetParam(ctx context.Context, r model.ParamRequest) (m model.ParamChange, err error) {
	change, err := a.Network.SetParam(ctx, r.Key, r.Value, r.At)
	if err != nil {
		return m, err
	}
	return model.ParamChange{Key: change.Key, Value: change.Value, Class: string(change.Class), Height: change.Height, Hash: change.Hash}, nil
}

// Tell implements answers.Steering.
func (a Actions) Tell(e fault.Effect) { a.Network.Cheated(e) }

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

// PrepareRunner implements answers.Steering.
func (a Actions) PrepareRunner(name string, owner types.Address) (string, *system.Registration, error) {
	return a.Network.PrepareRunner(name, owner)
}

// StartRunner implements answers.Steering.
func (a Actions) StartRunner(name string) error { return a.Network.StartRunner(name) }
