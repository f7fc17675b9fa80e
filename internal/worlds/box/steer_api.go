package box

import (
	"context"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/history"
)

// Steer implements api.Backend.
func (n *Network) Steer() api.Steering { return helm{n} }

// helm is the network's verbs as the HTTP API has them.
type helm struct{ network *Network }

// Paused implements api.Steering.
func (h helm) Paused() bool { return h.network.Paused() }

// SetPaused implements api.Steering.
func (h helm) SetPaused(on bool) error { return h.network.setPaused(on) }

// Advance implements api.Steering.
func (h helm) Advance(ctx context.Context, r model.AdvanceRequest) (m model.Advance, err error) {
	receipt, err := h.network.Advance(ctx, history.Target{Blocks: r.Blocks, To: r.To, NextTimer: r.ToNextTimer})
	if err != nil {
		return m, err
	}
	m = model.Advance{From: receipt.From, To: receipt.To, Blocks: receipt.Blocks, Skipped: receipt.Skipped,
		ClockMS: receipt.Clock.Milliseconds(), Fired: receipt.Fired, Ended: receipt.Ended, Deferred: receipt.Deferred}
	for i := range receipt.Timers {
		t := &receipt.Timers[i]
		m.Timers = append(m.Timers, model.AdvanceTimer{ID: t.ID, Actor: t.Actor, Due: t.Due, At: t.At, Late: t.Late(), Status: string(t.Status), Reason: t.Reason})
	}
	return m, nil
}

// Join implements api.Steering.
func (h helm) Join(ctx context.Context, name string) (m model.Move, err error) {
	node, err := h.network.Join(ctx, name)
	if err != nil {
		return m, err
	}
	return h.move(node), nil
}

// Leave implements api.Steering.
func (h helm) Leave(ctx context.Context, name string) (m model.Move, err error) {
	node, err := h.network.Leave(ctx, name)
	if err != nil {
		return m, err
	}
	return h.move(node), nil
}

// move says where a decided move stands: before its epoch or, where that has
// begun meanwhile, in it.
func (h helm) move(node *Node) model.Move {
	state := h.network.Best().Validator().View().State
	m := model.Move{Name: node.Name, Address: node.Address, Status: node.standing(state), Epoch: state.NextEpoch()}
	if m.Status == history.StatusJoining || m.Status == history.StatusLeaving {
		m.Epoch++
	}
	m.Height = types.Height(uint64(m.Epoch)*state.NextParams().EpochBlocks + 1)
	return m
}

// SetParam implements api.Steering.
func (h helm) SetParam(ctx context.Context, r model.ParamRequest) (m model.ParamChange, err error) {
	change, err := h.network.SetParam(ctx, r.Key, r.Value, r.At)
	if err != nil {
		return m, err
	}
	return model.ParamChange{Key: change.Key, Value: change.Value, Class: string(change.Class), Height: change.Height, Hash: change.Hash}, nil
}

// CancelTimer implements api.Steering.
func (h helm) CancelTimer(ctx context.Context, id types.TimerID) (*types.Receipt, error) {
	return h.network.CancelTimer(ctx, id)
}

// ExtendTimer implements api.Steering.
func (h helm) ExtendTimer(ctx context.Context, id types.TimerID, expiresAt types.Height) (*types.Receipt, error) {
	return h.network.ExtendTimer(ctx, id, expiresAt)
}
