package network

import (
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Operated is a network as its operator finds it, besides its links and the phases of its
// nodes (Backend).
type Operated interface {
	Paced
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
	// Runners lists the network's own runners, in the order of their names.
	Runners() []Runner
	// AddRunner makes a runner, which is not started, in place of one of its name, which is
	// down.
	AddRunner(name string, key *crypto.Key) (Runner, error)
	// RunnerKey is the key of one of them.
	RunnerKey(name string) *crypto.Key
	// FileKey is the key in the files of a runner, or nil.
	FileKey(name string) *crypto.Key
	// Offer is what each of them registers.
	Offer() system.Offer
	// Left notes that a node was stopped because it has left.
	Left(name string)
}
