package sim

import "github.com/cowboyinc/devnet/internal/base/crypto"

// What a stage needs to show a network to scripts.

// Scheme signs and verifies for the network's nodes and accounts.
func (n *Network) Scheme() crypto.Scheme { return n.scheme }

// Frozen says whether a node is frozen.
func (w *World) Frozen(name string) bool { return w.find(name).frozen != nil }

// Wipe empties the disk of a validator that does not run. One that has lost its
// votes sits out for a while when it comes back (finding F17).
func (n *Network) Wipe(name string) (*Receipt, error) {
	r, err := n.World.Wipe(name)
	if err == nil {
		n.wiped[name] = true
		n.Judge.Lost(n.keys[name].Address())
	}
	return r, err
}

// Flip flips a bit on the disk of a validator that does not run. Its votes may be
// gone with it, and so it is one of the f that may lie from here on.
func (n *Network) Flip(name string) (*Receipt, error) {
	r, err := n.World.Flip(name)
	if err == nil {
		n.Judge.Lost(n.keys[name].Address())
	}
	return r, err
}
