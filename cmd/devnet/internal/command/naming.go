package command

import (
	"context"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// NewNames asks a network for names.
func NewNames(ctx context.Context, n *client.API) *naming.Names {
	names := naming.New(func(a types.Address) (string, error) {
		account, err := n.Account(ctx, a.String())
		return account.Name, err
	})
	if validators, err := n.Validators(ctx); err == nil {
		for _, v := range validators {
			names.Add(v.Address, v.Name)
		}
	}
	return names
}
