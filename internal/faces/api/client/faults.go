package client

import (
	"context"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Fault makes a fault, and returns what it did so far.
func (c *Client) Fault(ctx context.Context, r model.FaultRequest) (model.FaultReceipt, error) {
	return write[model.FaultReceipt](ctx, c, "/devnet/fault", r)
}

// Faults lists the faults so far, and what each did.
func (c *Client) Faults(ctx context.Context) ([]model.FaultReceipt, error) {
	return read[[]model.FaultReceipt](ctx, c, "/devnet/faults", nil)
}

// Heal restores all links.
func (c *Client) Heal(ctx context.Context) ([]model.FaultReceipt, error) {
	return write[[]model.FaultReceipt](ctx, c, "/devnet/heal", struct{}{})
}
