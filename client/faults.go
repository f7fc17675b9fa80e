package client

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Partition lets nodes reach only nodes of their group. Nodes that are not named
// form one more group, which an empty last group stands for. Runners reach all
// where none is named. It replaces the partition before.
func (c *Client) Partition(ctx context.Context, groups ...[]string) error {
	_, err := c.Fault(ctx, FaultOrder{Verb: "partition", Groups: groups})
	return err
}

// Heal restores all links. Nodes that are down or frozen stay so.
func (c *Client) Heal(ctx context.Context) error {
	_, err := c.API.Heal(ctx)
	return err
}

func errUnknownNode(node string) error {
	return &Error{Status: http.StatusNotFound, ErrorBody: model.ErrorBody{Code: "unknown_node",
		Message: fmt.Sprintf("no node of this devnet is called %.42q", node), Hint: "Validators and Runners list them."}}
}
