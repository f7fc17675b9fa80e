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
	known map[types.Address]string
	// askName returns the name of an account; "" if it has none. nil: nobody is asked.
	askName func(types.Address) (string, error)
}

func newNames(askName func(types.Address) (string, error)) *naming {
	return &naming{known: words.SystemNames(), askName: askName}
}

// newNaming asks a network for names.
func newNaming(ctx context.Context, n *client.API) *naming {
	names := newNames(func(a types.Address) (string, error) {
		account, err := n.Account(ctx, a.String())
		return account.Name, err
	})
	if validators, err := n.Validators(ctx); err == nil {
		for _, v := range validators {
			names.addName(v.Address, v.Name)
		}
	}
	return names
}

// addName makes a name known.
func (n *naming) addName(a types.Address, name string) { n.known[a] = name }

// nameOf is the name of an account or actor, or the beginning of its address. If it
// cannot be read, its address is used: a name is a courtesy.
func (n *naming) nameOf(a types.Address) string {
	if name, known := n.known[a]; known {
		return name
	}
	name := short(a.String())
	if n.askName == nil {
		return name
	}
	if given, err := n.askName(a); err == nil {
		if given != "" {
			name = printable(given)
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
