package answers

import (
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// Info does not change while the network runs.
type Info struct {
	ChainID uint64
	Genesis types.Hash // state root of genesis
	Version string
	Strict  bool      // no cheats
	Node    string    // the one that answers, where the others run elsewhere; "": a whole network
	Auto    bool      // no block is made before there is something to do
	Faucet  types.Wei // what POST /faucet gives
	// Strategy decides the effect on a node when one of its roles panics.
	Strategy roles.Strategy
}

// Node is a validator and how it does.
type Node struct {
	Name        string
	Elsewhere   bool // it runs elsewhere: Running says whether it is connected, and Height and what follows it are not known
	Validator   types.Validator
	Status      string // joining, active, leaving, left
	Running     bool
	Height      types.Height
	StateRoot   types.Hash
	View        types.View
	Connections int
	Runners     []Connected // the runners that are connected to it
	Pooled      int         // transactions in its mempool
	Missing     []string    // what it waits for, in words; empty when it is ready
	DeadLetters uint64      // events for roles of it that had stopped
	Restarted   uint64      // its roles and contracts that panicked and were restarted separately
	Counts      []Count     // counts since it started; nil while it does not run
}

// Connected is a runner's connection, as its validator knows it.
type Connected struct {
	Runner    types.Address
	Accepting bool                 // it takes new jobs
	Changes   *model.RunnerChanges // nil: no announcement about its offer
}

// RunnerNode is a runner of the devnet's own, and how it does.
type RunnerNode struct {
	Name      string
	Address   types.Address
	Running   bool
	Left      bool            // it was deregistered, and has no part in the network any more
	Height    types.Height    // of its newest final block
	Connected []types.Address // validators, as the runner knows
	Open      int             // assignments that it accepted and that are not over
	Accepting bool            // it takes new jobs
	Missing   []string        // what it waits for, in words; empty when it is ready
}

// Count is how often a validator met something since it started: a view that it gave
// up, by cause, or what it turned away, by kind.
type Count struct {
	Of   string // CountGivenUp and so on
	What string
	N    uint64
}

// Kinds of counts.
const (
	CountActors    = "actors"    // what happened to the node's actors: dead letters, roles and contracts that were made again
	CountGivenUp   = "given_up"  // views, by the cause of its vote to nullify
	CountRunners   = "runners"   // what happened to runners: connections, deliveries by outcome, results that were not taken
	CountStrangers = "strangers" // connections of runners that were not let in, by the reason of Goodbye
	CountRefused   = "refused"   // frames, transactions, blocks, …: what came from outside and was turned away
)

// CountDeadLetters is the part of CountActors that runners have too.
const CountDeadLetters = "dead_letters"

// NamedAccount is an account that the devnet holds the key of.
type NamedAccount struct {
	Name    string
	Address types.Address
}

// Liveness is whether blocks are made, and why not.
type Liveness struct {
	Since time.Duration // since a block became final here last, or since the start
	// Blocked: no block can be made without an action by the operator; Cause names
	// it. Without it a Cause says why none was made for longer than is usual.
	Blocked bool
	Cause   string
	Hint    string // what to do
	// Troubles lists recent failures of validators that blocks continued without,
	// and a machine that cannot run programs, in words.
	Troubles []string
	// TravelsTo is where an advance goes that is under way; 0: there is none.
	TravelsTo types.Height
}

// Stalled reports whether no block is made, or was for longer than is usual.
func (l *Liveness) Stalled() bool { return l.Cause != "" }

// Message is the cause with the time, for people.
func (l *Liveness) Message() string {
	if l.Cause == "" {
		return ""
	}
	return fmt.Sprintf("no block for %s: %s", l.Since.Round(100*time.Millisecond), l.Cause)
}
