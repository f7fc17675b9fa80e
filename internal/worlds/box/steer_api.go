package box

import (
	"context"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/history"
)

// Steer implements api.Backend.
func (n *Network) Steer() api.Steering { return operator{n} }

// operator has the network's verbs in the form of the HTTP API.
type operator struct{ network *Network }

// Paused implements api.Steering.
func (h operator) Paused() bool { return h.network.Paused() }

// SetPaused implements api.Steering.
func (h operator) SetPaused(on bool) error { return h.network.SetPaused(on) }

// Advance implements api.Steering.
func (h operator) Advance(ctx context.Context, to history.Target) (*history.Advance, error) {
	return h.network.Advance(ctx, to)
}

// Join implements api.Steering.
func (h operator) Join(ctx context.Context, name string) (m model.Move, err error) {
	who, err := h.network.Join(ctx, name)
	if err != nil {
		return m, err
	}
	return h.moveOf(who.Name, who.Address, h.network.Status(h.network.state(), who)), nil
}

// Leave implements api.Steering.
func (h operator) Leave(ctx context.Context, name string) (m model.Move, err error) {
	address, err := h.network.Leave(ctx, name)
	if err != nil {
		return m, err
	}
	return h.moveOf(name, address, history.StatusLeft), nil
}

// moveOf returns the status of a decided move: before its epoch or, if that has begun
// meanwhile, in it. A node outside the present and the next set has the given status.
func (h operator) moveOf(name string, address types.Address, otherwise string) model.Move {
	state := h.network.state()
	m := model.Move{Name: name, Address: address, Status: history.Membership(state, address), Epoch: state.NextEpoch()}
	if m.Status == history.StatusLeft {
		m.Status = otherwise
	}
	if m.Status == history.StatusJoining || m.Status == history.StatusLeaving {
		m.Epoch++
	}
	m.Height = types.Height(uint64(m.Epoch)*state.NextParams().EpochBlocks + 1)
	return m
}

// SetParam implements api.Steering.
func (h operator) SetParam(ctx context.Context, r model.ParamRequest) (m model.ParamChange, err error) {
	change, err := h.network.SetParam(ctx, r.Key, r.Value, r.At)
	if err != nil {
		return m, err
	}
	return model.ParamChange{Key: change.Key, Value: change.Value, Class: string(change.Class), Height: change.Height, Hash: change.Hash}, nil
}

// Tell implements api.Steering.
func (h operator) Tell(e fault.Effect) { h.network.Cheated(e) }

// CancelTimer implements api.Steering.
func (h operator) CancelTimer(ctx context.Context, id types.TimerID) (*types.Receipt, error) {
	v, err := h.network.Reader("")
	if err != nil {
		return nil, err
	}
	return h.network.CancelTimer(ctx, v, id)
}

// ExtendTimer implements api.Steering.
func (h operator) ExtendTimer(ctx context.Context, id types.TimerID, expiresAt types.Height) (*types.Receipt, error) {
	v, err := h.network.Reader("")
	if err != nil {
		return nil, err
	}
	return h.network.ExtendTimer(ctx, v, id, expiresAt)
}
