package box

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/validators"
)

// localValidator is a validator of this process.
type localValidator struct {
	*node.Validator
	network  *Network
	mask     *byzantine.Mask
	programs *fault.Programs
	twin     atomic.Pointer[byzantine.Twin] // of the process that runs, or ran last
}

var _ remote.ValidatorNode = (*localValidator)(nil)

// openLocalValidator makes a validator of this process. along is told that a role takes it along.
func (n *Network) openLocalValidator(name string, key *crypto.Key, along func(uint64, *roles.Failure)) (*localValidator, error) {
	signer := n.verifier.Signer(key)
	v := &localValidator{network: n, mask: byzantine.NewMask(n.genesis.ChainID, signer),
		programs: &fault.Programs{Host: n.programs, Wait: func(d time.Duration) { <-time.After(d) }}}
	config := node.Config{
		Parts: node.Parts{Name: name, Signer: signer, Verifier: n.verifier, Clock: n.clock, Durability: n.config.Durability,
			Overhear: n.config.Overhear, Along: along},
		Shell: validators.Config{Genesis: n.genesis, Strategy: n.config.Strategy, Unfit: n.unfit, Python: n.python, Memo: n.memo,
			History: n.config.History,
			Booted:  n.reports.bootReporter(signer.Address()), Observe: n.reports.handOnFinal, Tell: n.reports.handOnReport,
			TellRunners: n.reports.gatewayReporter(signer.Address()), Dropped: n.reports.handOnDrop},
		Runtime: n.runtime, Book: n.book, Programs: v.programs, Log: n.log, Turns: n.meshTurns, WrapConn: lossyOf(n, name),
		Wrap: v.mask.Before, Twin: v.makeTwin,
	}
	if here := n.config.Here; here != nil {
		config.Listen, config.Announced = here.Listen, here.Endpoint()
	}
	if n.home != nil {
		config.Files = func() (home.Node, error) { return n.home.Node(name) }
	}
	watch, err := connections.NewCapture(n.config.Qlog, name, n.config.KeyLog, n.log)
	if err != nil {
		return nil, err
	}
	config.Capture = watch
	v.Validator, err = node.NewValidator(config)
	return v, err
}

func (v *localValidator) makeTwin(given env.Validator, start node.StartTwin) (env.Validator, func()) {
	first, second := byzantine.NewTwin(given, byzantine.StartTwin(start))
	v.twin.Store(second)
	return first, second.End
}

// lossy puts the rules of links in front of a node's socket. With strict, or for one node of a network without a supervisor, no fault of
// links can be ordered.
func lossyOf(n *Network, name string) func(net.PacketConn) net.PacketConn {
	if n.config.Strict || n.config.Here != nil && !n.config.Here.Driven {
		return nil
	}
	return func(open net.PacketConn) net.PacketConn {
		conn := lossy.Wrap(open, n.seed)
		n.links.enterSocket(name, &socket{open.LocalAddr().(*net.UDPAddr).AddrPort(), conn.SetRules, conn})
		return conn
	}
}

// Who implements network.Node.
func (v *localValidator) Who() network.Identity { return identityOf(&v.Machine, fault.Validators) }

func identityOf(m *node.Machine, kind fault.Whose) network.Identity {
	return network.Identity{Name: m.Name, Address: m.Address, Kind: kind}
}

// Phase implements network.Node.
func (v *localValidator) Phase() network.Phase { return phaseOf(&v.Machine) }

func phaseOf(m *node.Machine) network.Phase {
	switch {
	case !m.Started():
		return network.Stopped
	case !m.Running():
		return network.Failed
	case m.Frozen():
		return network.Frozen
	}
	return network.Running
}

// Start implements network.Node.
func (v *localValidator) Start() error { return v.Validator.Start(v.network.bootstrapMembers()) }

// Stop implements network.Node. Its next process is honest.
func (v *localValidator) Stop() error {
	v.mask.Honest()
	return v.Validator.Stop()
}

// Kill implements network.Node: the roles stop after their step, nothing more is written or
// sent, and the peers get no closing frame.
func (v *localValidator) Kill(*fault.Counts) error {
	v.network.links.silenceNode(v.Name)
	v.Validator.Kill()
	return v.Stop()
}

// Leave implements network.Node: a validator leaves by an instruction of the system key.
func (v *localValidator) Leave(_ bool, gone func()) { gone() }

// Do implements network.Node.
func (v *localValidator) Do(o *fault.Order, counts *fault.Counts, over func(time.Duration)) error {
	return (&byzantine.ValidatorProcess{Mask: v.mask, Programs: v.programs, Shell: v.Validator.Shell(),
		Contracts: v.Contracts(), Twin: v.twin.Load()}).Do(o, counts, over)
}

// Peers implements network.Node: only validators, since a connection belongs to its runner.
func (v *localValidator) Peers() []types.Address {
	if shell := v.Shell(); shell != nil {
		return shell.Status().Connected
	}
	return nil
}

// Shell implements ValidatorNode.
func (v *localValidator) Shell() remote.Shell {
	if shell := v.Validator.Shell(); shell != nil {
		return shell
	}
	return nil
}

// Endpoint implements ValidatorNode: the book tells.
func (v *localValidator) Endpoint() (string, error) { return "", nil }

// Honest implements ValidatorNode.
func (v *localValidator) Honest() bool { return !v.mask.Misbehaves() }
