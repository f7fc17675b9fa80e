// Package cluster is a network whose nodes run elsewhere, each in a separate
// process or container, controlled from here.
package cluster

import (
	"context"
	"io"
)

// Carrier runs the nodes of a network, each in a separate process or container. It is
// opened over a folder that hosts.Make and Write made (devnet init does so too): who
// opens it made that folder, and removes it. It begins with no node running.
//
// A carrier is used by many goroutines at once; orders to one node follow one another.
// Every error names the node and says what to do.
type Carrier interface {
	// Add makes a node known whose settings and key were written into the folder after
	// the carrier was opened, as NAME.toml and NAME.key. It starts nothing.
	Add(ctx context.Context, node Node) error
	// Start starts a node, which continues from its home. It returns once the node
	// runs, not once it answers. A node that runs already is an error.
	Start(ctx context.Context, name string) error
	// Stop ends a node as Ctrl-C does, and waits until it has ended; Kill ends it at
	// once, as a power cut of the process would, and waits until it is gone. A frozen
	// one is killed as any; one that does not run is an error.
	Stop(ctx context.Context, name string) error
	Kill(ctx context.Context, name string) error
	// Freeze keeps a node off every core until Thaw.
	Freeze(name string) error
	Thaw(name string) error
	// Detach takes a running node off the network, like a pulled cable: no node reaches it,
	// nor does Control. Attach brings it back; its address may be another. Nodes that share
	// this machine's network cannot be taken off, which is an error.
	Detach(ctx context.Context, name string) error
	Attach(ctx context.Context, name string) error
	// Wipe empties the home of a validator that does not run. Its next Start passes
	// --lost, which marks it as having run before (finding F17).
	Wipe(ctx context.Context, name string) error
	// Control is the URL of a node's HTTP API as it is reached from here, without a
	// slash at its end: of a validator the setting http, of a runner the setting
	// control. It may change whenever the node starts.
	Control(name string) string
	// Ended reports nodes that ended without an order. The opener of the carrier reads
	// it until Close closes it.
	Ended() <-chan Ended
	// Logs is what a node has written so far to both of its outputs, in all of its
	// lives; who asks closes it.
	Logs(name string) (io.ReadCloser, error)
	// Close ends all nodes, and removes all remains of the carrier: processes,
	// containers, networks and volumes. The folder stays.
	Close() error
}

// Kinds of nodes, which are the commands below devnet node.
const (
	Validator = "validator"
	Runner    = "runner"
)

// Node is a node of a carrier.
type Node struct {
	Name string // as its files are named; 1 to 32 lower-case letters, digits and hyphens
	Kind string // Validator or Runner
}

// Ended is a node that ended without an order.
type Ended struct {
	Name string
	Err  error // how: its exit, and the end of its output if it had any
}
