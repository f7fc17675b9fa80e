package node

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/executor/settings"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
	"github.com/cowboyinc/devnet/runners"
)

// OwnOffer is what a runner of the devnet's own says that it does.
func OwnOffer() system.Offer {
	does, _ := settings.Own()
	defer does.Close()
	return system.Offer{Capabilities: does.Capabilities(), Entitlements: does.Entitlements(), MaxConcurrentJobs: wallet.RunnerJobs}
}

// RunnerConfig is what one runner is opened from. It does not use the fields Files,
// Durability and Overhear of its Parts, since a runner stores nothing.
type RunnerConfig struct {
	Parts
	// Shell configures the runner, besides its environment. Its fields Name, Log and
	// OnFailure are filled in here.
	Shell   runners.Config
	Runtime *roles.Runtime
	// Listen is host:port of its socket; port 0 takes a free one, which it keeps when
	// it is started again.
	Listen string
	// Chain and Executor are made again at each start, and closed at its end.
	Chain    func() (env.ChainView, error)
	Executor func() (env.Executor, error)
	// Polls asks validators without a connection. It is made at each start. It
	// may be nil.
	Polls func() (env.Polls, error)
	Log   *slog.Logger
	// Turns bounds the handshakes of all runners that share it; nil: there is no bound.
	Turns   *connections.Turns
	Capture *connections.Capture // writes qlog files and secrets; nil: none
	// WrapConn may put itself between the connections and their socket. It may be nil.
	WrapConn func(net.PacketConn) net.PacketConn
	// Wrap may put itself between the runner and its environment, at each start. It
	// may be nil.
	Wrap func(env.Runner) env.Runner
}

// Runner is one runner and its machine.
type Runner struct {
	Machine
	config RunnerConfig
	listen string
	shell  atomic.Pointer[runners.Runner] // stays readable when the node is stopped
}

// NewRunner makes a runner. Nothing is opened before Start.
func NewRunner(c RunnerConfig) *Runner {
	r := &Runner{config: c, listen: c.Listen}
	c.Parts.Files = nil
	r.assembleParts(c.Parts)
	return r
}

// Start opens socket, view and executor, and starts the role on them. Where that
// fails everything is closed again.
func (r *Runner) Start() error {
	c := &r.config
	executor, err := c.Executor()
	if err != nil {
		return fmt.Errorf("%s: its executor: %w", r.Name, err)
	}
	view, err := c.Chain()
	if err != nil {
		executor.Close()
		return fmt.Errorf("%s: its view of the chain: %w", r.Name, err)
	}
	dialer, err := connections.NewDialer(connections.DialerConfig{Signer: c.Signer, JobStreams: int(c.Shell.MaxJobs), Listen: r.listen,
		WrapPacketConn: c.WrapConn, Turns: c.Turns, Capture: c.Capture, Logger: c.Log.With("node", r.Name)})
	if err != nil {
		executor.Close()
		return errors.Join(fmt.Errorf("%s: %w", r.Name, err), view.Close())
	}
	r.listen = dialer.Addr().String()
	given := env.Runner{Base: r.beginProcess(), Connections: dialer, Chain: view, Executor: executor}
	if c.Polls != nil {
		if given.Polls, err = c.Polls(); err != nil {
			executor.Close()
			return errors.Join(fmt.Errorf("%s: its polls: %w", r.Name, err), view.Close(), dialer.Close())
		}
	}
	if c.Wrap != nil {
		given = c.Wrap(given)
	}
	given.Connections, given.Chain, given.Polls = r.gate.gateConnections(given.Connections), r.gate.gateChainView(given.Chain),
		r.gate.gatePolls(given.Polls)
	shell := c.Shell
	shell.Name, shell.Log, shell.OnFailure = r.Name, c.Log, r.stopNotifier()
	started, err := runners.Start(c.Runtime, shell, given)
	if err != nil { // it has closed what it was given
		return errors.Join(err, r.endLeftovers())
	}
	r.shell.Store(started)
	r.noteRolesRun()
	return nil
}

// Leave says Goodbye to all validators, and tells gone when it is said; with finish,
// when what the runner accepted is over on chain. The process continues: Stop ends
// it.
func (r *Runner) Leave(finish bool, gone func()) {
	if !r.Started() {
		gone()
		return
	}
	r.shell.Load().Leave(finish, gone)
}

// Stop ends the process at once, or what Kill or a failure has left of it. Its last
// status stays readable.
func (r *Runner) Stop() error {
	if r.noteEnding() {
		r.shell.Load().Stop()
	}
	return r.endLeftovers()
}

// Shell is the running runner, or the one that ran last; nil before the first.
func (r *Runner) Shell() *runners.Runner { return r.shell.Load() }
