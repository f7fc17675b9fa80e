package sim

import "github.com/cowboyinc/devnet/internal/crypto"

// What a stage needs to show a network to scripts.

// Scheme signs and verifies for the network's nodes and accounts.
func (n *Network) Scheme() crypto.Scheme { return n.scheme }

// Frozen says whether a node is frozen.
func (w *World) Frozen(name string) bool { return w.find(name).frozen != nil }

// Wipe empties the disk of a validator that does not run. One that has lost its
// votes may contradict them when it comes back, so that it is from here on one
// of the f that may lie (finding F17).
func (n *Network) Wipe(name string) (*Receipt, error) {
	r, err := n.World.Wipe(name)
	if err == nil {
		n.Judge.Lost(n.keys[name].Address())
	}
	return r, err
}
