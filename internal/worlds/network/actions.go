package network

import (
	"context"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/history"
)

// Actions are the operator's actions in the form of the HTTP API. Each kind of network adds
// the actions that complete api.Steering.
type Actions struct {
	Network *Network
	Read    func(node string) (api.Reader, error) // as api.Backend does
}

// Paused implements api.Steering.
func (a Actions) Paused() bool { return a.Network.Paused() }

// SetPaused implements api.Steering.
func (a Actions) SetPaused(on bool) error { return a.Network.SetPaused(on) }

// Join implements api.Steering.
func (a Actions) Join(ctx context.Context, name string) (m model.Move, err error) {
	who, err := a.Network.Join(ctx, name)
	if err != nil {
		return m, err
	}
	return a.moveOf(who), nil
}

// Leave implements api.Steering.
func (a Actions) Leave(ctx context.Context, name string) (m model.Move, err error) {
	address, err := a.Network.Leave(ctx, name)
	if err != nil {
		return m, err
	}
	return a.moveOf(Identity{Name: name, Address: address}), nil
}

// moveOf returns the status of a decided move: before its epoch or, if that has begun
// meanwhile, in it.
func (a Actions) moveOf(who Identity) model.Move {
	state := a.Network.Submissions.network.Best().State
	m := model.Move{Name: who.Name, Address: who.Address, Status: a.Network.Status(state, who), Epoch: state.NextEpoch()}
	if m.Status == history.StatusJoining || m.Status == history.StatusLeaving {
		m.Epoch++
	}
	m.Height = types.Height(uint64(m.Epoch)*state.NextParams().EpochBlocks + 1)
	return m
}

// SetParam implements api.Steering.
func (a Actions) SetParam(ctx context.Context, r model.ParamRequest) (m model.ParamChange, err error) {
	change, err := a.Network.SetParam(ctx, r.Key, r.Value, r.At)
	if err != nil {
		return m, err
	}
	return model.ParamChange{Key: change.Key, Value: change.Value, Class: string(change.Class), Height: change.Height, Hash: change.Hash}, nil
}

// Tell implements api.Steering.
func (a Actions) Tell(e fault.Effect) { a.Network.Cheated(e) }

// CancelTimer implements api.Steering.
func (a Actions) CancelTimer(ctx context.Context, id types.TimerID) (*types.Receipt, error) {
	by, err := a.Read("")
	if err != nil {
		return nil, err
	}
	return a.Network.CancelTimer(ctx, by, id)
}

// ExtendTimer implements api.Steering.
func (a Actions) ExtendTimer(ctx context.Context, id types.TimerID, expiresAt types.Height) (*types.Receipt, error) {
	by, err := a.Read("")
	if err != nil {
		return nil, err
	}
	return a.Network.ExtendTimer(ctx, by, id, expiresAt)
}

// PrepareRunner implements api.Steering.
func (a Actions) PrepareRunner(name string, owner types.Address) (api.PreparedRunner, error) {
	return a.Network.PrepareRunner(name, owner)
}

// StartRunner implements api.Steering.
func (a Actions) StartRunner(name string) error { return a.Network.StartRunner(name) }
