// Package naming has the names by which people know accounts and nodes.
package naming

import (
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// Names is what people call accounts, actors and nodes. It asks once for each.
type Names struct {
	known map[types.Address]string
	// askName returns the name of an account; "" if it has none. nil: nobody is asked.
	askName func(types.Address) (string, error)
}

// New knows the actors of the system, and asks for other names.
func New(askName func(types.Address) (string, error)) *Names {
	return &Names{known: words.SystemNames(), askName: askName}
}

// Add makes a name known.
func (n *Names) Add(a types.Address, name string) { n.known[a] = name }

// Of is the name of an account or actor, or the beginning of its address. If it
// cannot be read, its address is used: a name is a courtesy.
func (n *Names) Of(a types.Address) string {
	if name, known := n.known[a]; known {
		return name
	}
	name := words.Short(a.String())
	if n.askName == nil {
		return name
	}
	if given, err := n.askName(a); err == nil {
		if given != "" {
			name = words.Printable(given)
		}
		n.known[a] = name
	}
	return name
}

// OfAll are the names of a list.
func (n *Names) OfAll(list []types.Address) string {
	var names []string
	for _, a := range list {
		names = append(names, n.Of(a))
	}
	return strings.Join(names, " ")
}
