// Package box brings a live network up in this process: keys and accounts from
// a seed, a genesis, and for each validator a clock, a QUIC transport, a log, a
// store and its roles. It wires, and decides nothing of the protocol.
//
// A Network is what the HTTP API serves (it implements api.Backend) and what Go
// programs embed. Up on a home with a network continues that network.
package box

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Config is what Up is asked for. Its zero value, given a home or Ephemeral, is
// four validators that make blocks as fast as they can.
type Config struct {
	Version string // of this binary, for the home
	// Plan is what the network is to be. 0 validators are 4, the chain ID 0 is 8011, and without a minor version a new genesis names that
	// of the network's own hosts.
	setup.Plan
	AsRunners bool // a network that continues must have begun with as many runners
	Home      string
	Ephemeral bool            // nothing on disk
	Reset     bool            // start over in the home
	Programs  program.Host    // nil: Python hosts of this network's own
	Here      *setup.Here     // nil: all of the network runs in this process, or Elsewhere
	Elsewhere remote.Nodes    // opens the nodes, which run in separate processes; nil: they run here
	Genesis   *ledger.Genesis // of a network whose nodes run Elsewhere
	Python    string          // interpreter; "": the first that fits
	Slow      func(string)    // is told, in words, of a Python that takes long to start; it may be nil
	Log       *slog.Logger    // nil: none
	Qlog      string          // folder of qlog files, in it one for each node that runs here; "": none
	KeyLog    io.Writer       // gets the TLS secrets of the nodes that run here; nil: none
	Machine   clock.Machine   // reads the clocks that the network goes by; nil: those of this machine
	// Observe is called for the blocks that each validator made final, in the order
	// of its heights, on a loop of that validator. It may be nil.
	Observe func(validators.FinalBlocks)
	// Booted is told what each validator begins with, also when it is restarted. It
	// must only note it. It may be nil.
	Booted func(validator types.Address, begins remote.Boot)
	// Overhear is called for each frame that a validator sends, once for each peer,
	// including forged ones. It may keep the frame, must not change it, and is
	// called on the loops that send: it must be quick. It may be nil.
	Overhear func(from types.Address, frame []byte)
	// Tell is told what a validator's consensus reports and when, by the network's
	// clock, on a loop of that validator; it must only hand it on. It may be nil.
	Tell func(at types.Time, name string, report simplex.Report)

	// Dropped is called for each transaction that a validator gives up, on one of its
	// loops; it must only hand it on. It may be nil.
	Dropped func(hash types.Hash, why string)
	// Gateway is called with the reports of a validator's gateway, on its loop; it
	// must only hand them on. It may be nil.
	Gateway func(validator types.Address, report gateway.Report)
	// TellRunner is told what the network's own runners did, on a loop of each; it must
	// only hand it on. It may be nil.
	TellRunner func(name string, report runners.Report)

	// The switches that benchmarks turn off.
	NoMemo     bool // every validator executes every block itself
	NoRemember bool // every signature is verified each time

	// Hooks of benchmarks, on the loops that they observe; each may be nil.
	tellRunners func(name string, report gateway.Report) // as in validators.Config
	wrapRunner  func(env.Runner) env.Runner              // between a runner and its environment
	wrapSocket  func(net.PacketConn) net.PacketConn      // of a runner, below all that the network puts there
}

// checkHistory refuses a bound that is too small to catch up within.
func (c *Config) checkHistory() error {
	if c.History != 0 && c.History < history.MinHistory {
		return fmt.Errorf("box: a history of %d blocks: a network keeps at least %d, or with 0 all", c.History, history.MinHistory)
	}
	return nil
}

func (c *Config) setDefaults() {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// DefaultBlockTime is one second (decision C7).
const DefaultBlockTime = time.Second

// WatchedError says that a strict network was to let others look into its connections.
type WatchedError struct{}

func (*WatchedError) Error() string {
	return "qlog files and TLS secrets let others look into the connections, which a strict network keeps closed: " +
		"leave --qlog and --keylog out"
}

// ChangedError says that a home's network is another than was asked for.
type ChangedError struct {
	Home, What, Have, Want string
	Settable               bool // by devnet params set, while it runs
}

func (e *ChangedError) Error() string {
	way := "leave it out to continue that network"
	if e.Settable {
		way += fmt.Sprintf(", and change it while it runs with devnet params set %s %s", e.What, e.Want)
	}
	return fmt.Sprintf("the network in %s has %s = %s, not %s: %s; or start over with --reset", e.Home, e.What, e.Have, e.Want, way)
}
