package network

import "github.com/cowboyinc/devnet/internal/base/types"

// Operated is a network as its operator finds it, besides its links and the phases of its
// nodes (Backend).
type Operated interface {
	Paced
	// Lacks says why the network cannot do an action that takes a capability, or nil.
	Lacks(c Capability, action string) error
	// Keys are the keys of the network's own accounts.
	Keys() Keys
	// Validators lists the validators, in the order in which they were made.
	Validators() []Node
	// AddValidator makes a validator, which is not started.
	AddValidator(name string) (Node, error)
	// Member is a validator that runs here, as the chain has to know it.
	Member(name string) (types.Validator, error)
	// ValidatorAddress is the address of a validator, wherever it runs; zero if no validator
	// has the name.
	ValidatorAddress(name string) types.Address
	// Left notes that a node was stopped because it has left.
	Left(name string)
}
