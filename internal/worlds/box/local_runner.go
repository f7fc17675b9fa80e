package box

import (
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/executor/settings"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/runners"
)

// localRunner is a runner of this process.
type localRunner struct {
	*node.Runner
	key    *crypto.Key
	manual atomic.Pointer[custom.Manual]        // of the run under way
	mask   atomic.Pointer[byzantine.RunnerMask] // of the process that runs, or ran last
}

var _ remote.RunnerNode = (*localRunner)(nil)

// openLocalRunner makes a runner of this process. along is told that its role takes it along.
func (n *Network) openLocalRunner(name string, key *crypto.Key, along func(uint64, *roles.Failure)) *localRunner {
	r := &localRunner{key: key}
	watch, err := connections.NewCapture(n.config.Qlog, name, n.config.KeyLog, n.log)
	if err != nil {
		n.log.Warn("the connections of a runner are not written down", "node", name, "error", err)
	}
	r.Runner = node.NewRunner(node.RunnerConfig{
		Capture: watch,
		Parts:   node.Parts{Name: name, Signer: n.verifier.Signer(key), Verifier: n.verifier, Clock: n.clock, Along: along},
		Shell: runners.Config{ChainID: n.genesis.ChainID, MaxJobs: wallet.RunnerJobs, Tell: n.config.TellRunner,
			Strategy: n.config.Strategy},
		Runtime: n.runtime, Log: n.log, Turns: n.turns, WrapConn: socketOf(n, name),
		Wrap:  func(given env.Runner) env.Runner { return r.maskEnvironment(&n.config, given) },
		Chain: func() (env.ChainView, error) { return n.presence.feed.View(key.PublicKey()), nil },
		Executor: func() (env.Executor, error) {
			does, byHand := settings.Own()
			r.manual.Store(byHand)
			return does, nil
		},
		Polls: func() (env.Polls, error) { return node.NewPolls(key.Address(), n.pollOf(name)), nil },
	})
	return r
}

// maskEnvironment puts a mask before a runner's environment, unless faults cannot be ordered.
func (r *localRunner) maskEnvironment(c *Config, given env.Runner) env.Runner {
	if c.wrapRunner != nil {
		given = c.wrapRunner(given)
	}
	if c.Strict {
		return given
	}
	mask, given := byzantine.NewRunnerMask(given)
	r.mask.Store(mask)
	return given
}

// socketOf returns the wrapper of a runner's socket.
func socketOf(n *Network, name string) func(net.PacketConn) net.PacketConn {
	lossy, below := lossyOf(n, name), n.config.wrapSocket
	if below == nil {
		return lossy
	}
	return func(socket net.PacketConn) net.PacketConn {
		if lossy == nil {
			return below(socket)
		}
		return lossy(below(socket))
	}
}

// Who implements network.Node.
func (r *localRunner) Who() network.Identity { return identityOf(&r.Machine, fault.Runners) }

// Phase implements network.Node.
func (r *localRunner) Phase() network.Phase { return phaseOf(&r.Machine) }

// Kill implements network.Node: the role stops after its step, and its connections close.
func (r *localRunner) Kill(*fault.Counts) error {
	r.Runner.Kill()
	return r.Stop()
}

// Do implements network.Node.
func (r *localRunner) Do(o *fault.Order, counts *fault.Counts, over func(time.Duration)) error {
	return (&byzantine.RunnerProcess{Mask: r.mask.Load(), Shell: r.Shell()}).Do(o, counts, over)
}

// Peers implements network.Node.
func (r *localRunner) Peers() []types.Address { return r.Status().Connected }

// Status implements RunnerNode.
func (r *localRunner) Status() runners.Status {
	if shell := r.Shell(); shell != nil {
		return shell.Status()
	}
	return runners.Status{Name: r.Name, Address: r.Address, PublicKey: r.key.PublicKey()}
}

// Reload implements RunnerNode.
func (r *localRunner) Reload() error { return answers.NoSettings(r.Name) }

// Waiting implements RunnerNode.
func (r *localRunner) Waiting() []types.Hash {
	if manual := r.manual.Load(); manual != nil {
		return manual.Waiting()
	}
	return nil
}

// Answer implements RunnerNode.
func (r *localRunner) Answer(job types.Hash, given execution.Given) error {
	if manual := r.manual.Load(); manual != nil {
		return manual.Answer(job, given)
	}
	return fmt.Errorf("%s does not run", r.Name)
}
