package network

import (
	"time"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Operated is a network as its operator finds it, besides its links and the phases of its
// nodes (Backend).
type Operated interface {
	Scheduler
	// Each does something with every validator that runs, and returns when it is done.
	Each(do func(Steered))
	// Best is the best validator.
	Best() Best
	// Validator is the validator of a known name, in the form of Best.
	Validator(name string) Best
	// Clock is the network's clock.
	Clock() types.Time
	// KeepTravel keeps, where the network keeps anything, that the clocks move and where the
	// blocks go: in one record, so that a restart has both or neither.
	KeepTravel(by time.Duration, goal simplex.Goal) error
	// MoveClock puts the clocks of all nodes ahead, also of those that start later. A negative
	// move takes back what a travel that is cut short does not need.
	MoveClock(by time.Duration)
	// Stall is how long an advance waits for each next block.
	Stall() time.Duration
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
	Runners() []Node
	// AddRunner makes a runner, which is not started, in place of one of its name, which is
	// down.
	AddRunner(name string, key *crypto.Key) (Node, error)
	// RunnerKey is the key of one of them.
	RunnerKey(name string) *crypto.Key
	// FileKey is the key in the files of a runner, or nil.
	FileKey(name string) *crypto.Key
	// Offer is what each of them registers.
	Offer() system.Offer
	// Left notes that a node was stopped because it has left.
	Left(name string)
}
