package sim

import "github.com/cowboyinc/devnet/internal/crypto"

// What a stage needs to show a network to scripts.

// Scheme signs and verifies for the network's nodes and accounts.
func (n *Network) Scheme() crypto.Scheme { return n.scheme }

// Frozen says whether a node is frozen.
func (w *World) Frozen(name string) bool { return w.find(name).frozen != nil }
