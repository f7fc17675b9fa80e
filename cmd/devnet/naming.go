package main

import (
	"context"
	"strings"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// naming is what people call accounts, actors and nodes. It asks once for each.
type naming struct {
	ctx    context.Context
	client *client.API
	known  map[types.Address]string
}

func newNaming(ctx context.Context, n *client.API) *naming {
	names := &naming{ctx: ctx, client: n, known: words.SystemNames()}
	if validators, err := n.Validators(ctx); err == nil {
		for _, v := range validators {
			names.known[v.Address] = v.Name
		}
	}
	return names
}

// nameOf is the name of an account or actor, or the beginning of its address. If it
// cannot be read, its address is used: a name is a courtesy.
func (n *naming) nameOf(a types.Address) string {
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

// namesOf are the names of a list.
func (n *naming) namesOf(list []types.Address) string {
	var names []string
	for _, a := range list {
		names = append(names, n.nameOf(a))
	}
	return strings.Join(names, " ")
}
