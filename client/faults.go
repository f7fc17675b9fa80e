package client

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Fault makes a fault by its verb, as docs/SCENARIOS.md tells them, and returns what it
// did so far.
func (c *Client) Fault(ctx context.Context, o FaultOrder) (FaultEffect, error) {
	return c.api.Fault(ctx, o)
}

// Faults lists the faults so far, and what each did.
func (c *Client) Faults(ctx context.Context) ([]FaultEffect, error) { return c.api.Faults(ctx) }

// Partition lets nodes reach only nodes of their group. Nodes that are not named
// form one more group. It replaces the partition before.
func (c *Client) Partition(ctx context.Context, groups ...[]string) error {
	_, err := c.Fault(ctx, FaultOrder{Verb: "partition", Groups: groups})
	return err
}

// Heal restores all links. Nodes that are down or frozen stay so.
func (c *Client) Heal(ctx context.Context) error {
	_, err := c.api.Heal(ctx)
	return err
}

func unknown(node string) error {
	return &Error{Status: http.StatusNotFound, ErrorBody: model.ErrorBody{Code: "unknown_node",
		Message: fmt.Sprintf("no node of this devnet is called %.42q", node), Hint: "Validators and Runners list them."}}
}
