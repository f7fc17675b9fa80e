package main

import (
	"context"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/client"
)

// naming is what people call accounts and actors. It asks once for each.
type naming struct {
	ctx    context.Context
	client *client.Client
	known  map[types.Address]string
}

func newNaming(ctx context.Context, n *client.Client) *naming {
	return &naming{ctx: ctx, client: n, known: map[types.Address]string{{}: "the chain"}}
}

// of is the name of an account or actor, or the beginning of its address. One
// that cannot be asked for goes by its address: a name is a courtesy.
func (n *naming) of(a types.Address) string {
	if name, known := n.known[a]; known {
		return name
	}
	name := short(a.String())
	if account, err := n.client.Account(n.ctx, a.String()); err == nil {
		if account.Name != "" {
			name = printable(account.Name)
		}
		n.known[a] = name
	}
	return name
}
