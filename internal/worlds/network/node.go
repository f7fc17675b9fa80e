package network

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Identity names a node.
type Identity struct {
	Name    string
	Address types.Address
	Kind    fault.Whose
}

// Phase is the state of a node's process.
type Phase int

// The phases.
const (
	Stopped Phase = iota // no process runs
	Running
	Frozen // it runs, and does nothing
	Failed // it stopped by itself, without an order
)

// Up reports whether a process runs.
func (p Phase) Up() bool { return p == Running || p == Frozen }

// Trust says how well a validator can answer for the network: not at all while no process
// runs; less while it is frozen or lies.
func Trust(p Phase, honest bool) int {
	switch {
	case !p.Up():
		return 0
	case p == Frozen || !honest:
		return 1
	}
	return 2
}

// Node is a validator or a runner, through all its processes. Its methods are called in the turn of the network's nodes, after a check of
// its phase.
type Node interface {
	Who() Identity
	Phase() Phase
	// Start starts a process on the files that the node's disk keeps.
	Start() error
	// Stop ends the process in good order, and clears away what a failure left.
	Stop() error
	// Kill ends the process as kill -9 and a power cut do, and counts what is lost with it.
	Kill(*fault.Counts) error
	// Freeze stops the process from running, and counts what waits for it.
	Freeze(*fault.Counts) error
	Thaw() error
	// Leave has a running runner say Goodbye, after its open jobs if finish is set. gone is
	// told once that is done, of a validator at once.
	Leave(finish bool, gone func())
	// Wipe loses the files of a node that is down, and counts them.
	Wipe(*fault.Counts) error
	// Do does a fault of the node itself. Nil counts end what the verb began. over is told
	// once when the fault can do nothing more, after so long from then, where the node knows.
	Do(o *fault.Order, counts *fault.Counts, over func(after time.Duration)) error
	// Peers are the nodes connected with it, once for each connection.
	Peers() []types.Address
}

// Backend has the nodes and the links of one network.
type Backend interface {
	Scheduler
	// Capabilities are what the network can do.
	Capabilities() Capabilities
	// Unknown refuses a name that no node has.
	Unknown(name string) error
	// Node finds a node by its name; nil if the name is unknown.
	Node(name string) Node
	// Nodes lists all nodes, in the order in which they were made.
	Nodes() []Node
	// Height is the highest block that is final.
	Height() types.Height
	// SetLinks has all links, also those of nodes to come, follow rules.
	SetLinks(*LinkRules)
	// Count brings the counters of faults up to date.
	Count()
}
