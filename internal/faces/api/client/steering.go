package client

import (
	"context"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// SetPaused stops the making of blocks, or resumes it.
func (c *Client) SetPaused(ctx context.Context, on bool) (model.Pace, error) {
	path := "/devnet/resume"
	if on {
		path = "/devnet/pause"
	}
	return write[model.Pace](ctx, c, path, struct{}{})
}

// Advance travels through time, and returns once the network is at its target.
func (c *Client) Advance(ctx context.Context, r model.AdvanceRequest) (model.Advance, error) {
	return write[model.Advance](ctx, c, "/devnet/advance", r)
}

// SetBalance gives an account or actor another balance.
func (c *Client) SetBalance(ctx context.Context, r model.BalanceRequest) (model.BalanceSet, error) {
	return write[model.BalanceSet](ctx, c, "/devnet/balance", r)
}

// SetState gives a key of an actor's state another value, or removes it.
func (c *Client) SetState(ctx context.Context, r model.StateRequest) (model.StateSet, error) {
	return write[model.StateSet](ctx, c, "/devnet/state", r)
}

// Mine makes a number of blocks.
func (c *Client) Mine(ctx context.Context, blocks uint64) (model.Advance, error) {
	return write[model.Advance](ctx, c, "/devnet/mine", model.MineRequest{Blocks: blocks})
}

// SetAutomine says whether blocks are made by themselves.
func (c *Client) SetAutomine(ctx context.Context, on bool) (model.Pace, error) {
	return write[model.Pace](ctx, c, "/devnet/automine", model.AutomineRequest{On: on})
}

// JoinValidator starts a validator that joins at the epoch's end; an empty name
// means the next that is free.
func (c *Client) JoinValidator(ctx context.Context, name string) (model.Move, error) {
	return write[model.Move](ctx, c, "/devnet/validator/join", model.MoveRequest{Name: name})
}

// LeaveValidator has a validator leave at the epoch's end.
func (c *Client) LeaveValidator(ctx context.Context, name string) (model.Move, error) {
	return write[model.Move](ctx, c, "/devnet/validator/leave", model.MoveRequest{Name: name})
}

// SetParam sets a parameter from a height on.
func (c *Client) SetParam(ctx context.Context, r model.ParamRequest) (model.ParamChange, error) {
	return write[model.ParamChange](ctx, c, "/devnet/params", r)
}

// CancelTimer has the system key cancel any actor's timer; the id may be shortened.
func (c *Client) CancelTimer(ctx context.Context, id string) (model.TimerOrder, error) {
	return write[model.TimerOrder](ctx, c, "/devnet/timer/cancel", model.TimerRequest{ID: id})
}

// ExtendTimer has the system key move any actor's timer's expires_at.
func (c *Client) ExtendTimer(ctx context.Context, r model.ExtendRequest) (model.TimerOrder, error) {
	return write[model.TimerOrder](ctx, c, "/devnet/timer/extend", r)
}
