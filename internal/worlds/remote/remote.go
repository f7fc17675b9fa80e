// Package remote is what a network asks of its nodes wherever they run, and what opens those that run in other processes. It is the seam
// between box, which is the rest of such a network, and cluster, which has its nodes.
package remote

import (
	"net/netip"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Nodes opens the nodes of a network in separate processes, which this one controls: all
// other parts of the network are here.
type Nodes interface {
	// Validator and Runner make a node that is not started.
	Validator(name string, key *crypto.Key, tell Receivers) (ValidatorNode, error)
	Runner(name string, key *crypto.Key, socket EnterSocket) RunnerNode
	// Validators names the validators that have files, in their order. Key is the key of a
	// node that has files, or nil.
	Validators() []string
	Key(name string) *crypto.Key
	// Left reports whether a node has left and is not started with the others. SetLeft notes
	// it; a start of the node takes it back.
	Left(name string) bool
	SetLeft(name string)
	// Travelled is how far time travel came, as the nodes that have started kept it.
	Travelled() network.Travel
	// SetTravel sends all nodes, also those that start later, how far time travel came.
	SetTravel(network.Travel)
	// Count asks all nodes what faults did there.
	Count()
	// Abandon reports that the network does not come up: its nodes are no longer needed,
	// and Close ends them.
	Abandon()
	// Saw is told up to which block a script has seen the chain: what it does about
	// those it has done. It returns at once.
	Saw(types.Height)
	// Err returns a failure there other than those of nodes, or nil.
	Err() error
	// Close ends all nodes at once. Their maker calls it.
	Close() error
}

// Receivers has the receivers of a remote validator's reports, one call at a time for
// each function, and the executor of its blocks here.
type Receivers struct {
	Executor  ledger.Executor
	Final     func(validators.FinalBlocks)
	Booted    func(types.Address, Boot)
	Consensus func(name string, report simplex.Report)
	Runners   func(name string, report gateway.Report)
	Sent      func(from types.Address, frame []byte) // a vote, as it left
	Dropped   func(hash types.Hash, why string)
	Socket    EnterSocket
}

// EnterSocket is told where the peers of a node elsewhere find it, at the start of each of its
// processes and when one moved, and what sets the rules of its links.
type EnterSocket func(at netip.AddrPort, setRules func(map[netip.AddrPort]lossy.Rule))

// Boot is what a validator begins with.
type Boot struct {
	Header *types.Header // of the last block that it has
	Hash   types.Hash
	Root   types.Hash // of its state
}

// ValidatorNode is a validator of the network, wherever it runs. Its Start comes after Open.
type ValidatorNode interface {
	network.Node
	// Open opens its store, as far as that is here.
	Open() error
	// Endpoint is host:port by which others reach it, as the chain has to know it; ""
	// where they need not be told.
	Endpoint() (string, error)
	Shell() Shell // nil before the first start, if that is here
	Store() env.Store
	Honest() bool // it was not told to lie to the others
	// Failure is why it stopped by itself, or nil. Fail notes it.
	Failure() error
	Fail(error)
}

// Shell is a running validator, or the one that ran last: validators.Validator says what
// is meant.
type Shell interface {
	network.Steered
	Head() *validators.Head
	Archive() *history.Archive
	Status() validators.Status
	Connections() []gateway.Live
}

var _ Shell = (*validators.Validator)(nil)

// RunnerNode is a runner of the network, wherever it runs.
type RunnerNode interface {
	network.Node
	Failure() error // why it stopped by itself, or nil
	Status() runners.Status
	Reload() error
	// Waiting lists the jobs that wait to be answered by hand, and Answer gives the result of
	// one: custom.Manual says what is meant.
	Waiting() []types.Hash
	Answer(job types.Hash, given execution.Given) error
}

// EndedError says that a node which runs elsewhere ended without an order.
type EndedError struct {
	Node  string
	Cause error // its exit, and what it said last
}

func (e *EndedError) Error() string { return "the process ended by itself: " + e.Cause.Error() }

func (e *EndedError) Unwrap() error { return e.Cause }
