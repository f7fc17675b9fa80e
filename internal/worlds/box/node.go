package box

import (
	"errors"
	"fmt"
	"net"
	"strings"
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
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/readmodel"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Node is one validator of the network.
type Node struct {
	machine
	validator Validating
	key       *crypto.Key
}

func newNode(n *Network, name string) (*Node, error) {
	key := n.validatorKey(name)
	one := &Node{key: key}
	if n.config.Elsewhere != nil {
		return remoteNode(n, name, one)
	}
	signer := n.verifier.Signer(key)
	mask := byzantine.NewMask(n.genesis.ChainID, signer)
	programs := &fault.Programs{Host: n.programs, Wait: func(d time.Duration) { <-time.After(d) }}
	config := node.Config{
		Parts: node.Parts{Name: name, Signer: signer, Verifier: n.verifier, Clock: n.clock, Durability: n.config.Durability,
			Overhear: n.config.Overhear, Along: func(life uint64, f *roles.Failure) { n.onRoleTookNodeAlong(name, life, f) }},
		Shell: validators.Config{Genesis: n.genesis, Strategy: n.config.Strategy, Unfit: n.unfit, Python: n.python, Memo: n.memo,
			History: n.config.History,
			Booted:  n.reports.bootReporter(signer.Address()), Observe: n.reports.handOnFinal, Tell: n.reports.handOnReport,
			TellRunners: n.reports.gatewayReporter(signer.Address()), Dropped: n.reports.handOnDrop},
		Runtime: n.runtime, Book: n.book, Programs: programs, Log: n.log, Turns: n.meshTurns, WrapConn: lossyOf(n, name),
		Wrap: mask.Before,
	}
	var twin atomic.Pointer[byzantine.Twin]
	config.Twin = func(given env.Validator, start node.StartTwin) (env.Validator, func()) {
		first, second := byzantine.NewTwin(given, byzantine.StartTwin(start))
		twin.Store(second)
		return first, second.End
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
	validator, err := node.NewValidator(config)
	if err != nil {
		return nil, err
	}
	local := localValidator{validator, mask, programs, &twin}
	one.validator = local
	one.machine = machine{Identity: local.Who(), Engine: local, network: n, kind: fault.Validators, process: one}
	return one, nil
}

// lossy puts the rules of links in front of a node's socket. With strict, or for one node of a network without a supervisor, no fault of
// links can be ordered.
func lossyOf(n *Network, name string) func(net.PacketConn) net.PacketConn {
	if n.config.Strict || n.config.Here != nil && !n.config.Here.Driven {
		return nil
	}
	return func(socket net.PacketConn) net.PacketConn {
		conn := lossy.Wrap(socket, n.seed)
		n.links.enterSocket(name, conn, socket.LocalAddr().(*net.UDPAddr).AddrPort())
		return conn
	}
}

func (node *Node) startNode() error {
	n := node.network
	if err := node.validator.Open(); err != nil {
		return n.files.withRemedy(node.Name, err)
	}
	if err := n.files.mustFollow(node); err != nil {
		return errors.Join(err, node.stopNode())
	}
	if err := node.validator.Start(n.bootstrapMembers()); err != nil {
		return n.files.withRemedy(node.Name, err)
	}
	node.enterSocket()
	n.Tell(node.Validator())
	return nil
}

// stopNode ends the node. Its last head stays readable if it is in memory.
func (node *Node) stopNode() error {
	node.Engine.Thaw()
	return node.validator.Stop()
}

// Validator is the running validator, or the one that ran last; nil before the first.
func (node *Node) Validator() Shell { return node.validator.Shell() }

func (node *Node) finalHeight() types.Height {
	if v := node.Validator(); v != nil {
		return v.Head().Block.Header.Height
	}
	return 0
}

// statusIn is a node's status.
func (node *Node) statusIn(best *ledger.State) string { return node.network.Status(best, node.Who()) }

// trustLevel says how well a node can answer for the network.
func (node *Node) trustLevel() int { return network.Trust(node.Phase(), node.Honest()) }

// describeNode is the status of a node, compared with the best final state.
func (node *Node) describeNode(best *ledger.State) api.Node {
	out := api.Node{Name: node.Name, Running: node.Running(),
		Validator: types.Validator{Address: node.Address, PublicKey: node.key.PublicKey(),
			Endpoint: node.network.book.Endpoint(types.Validator{Address: node.Address})}}
	out.Status = node.statusIn(best)
	if v := node.Validator(); v != nil {
		head := v.Head()
		out.Height, out.StateRoot = head.Block.Header.Height, head.State.Root()
	}
	switch {
	case out.Status == history.StatusLeft:
	case node.Failure() != nil:
		out.Missing = append(out.Missing, strings.TrimPrefix(node.Failure().Error(), node.Name+": "))
	case !out.Running:
		out.Missing = append(out.Missing, "the node is stopped")
	case node.Frozen():
		out.Missing = append(out.Missing, "the node is frozen")
	default:
		status := node.Validator().Status()
		out.View, out.Connections, out.Pooled = status.Round.View, len(status.Connected), status.Pool
		out.Counts = countsOf(&status)
		if status.Twin != "" {
			out.Missing = append(out.Missing, "twin: "+status.Twin)
		}
		out.DeadLetters, out.Restarted = status.Roles.DeadLetters, status.Roles.Restarted+status.Roles.Contracts
		for _, c := range node.Validator().Connections() {
			out.Runners = append(out.Runners, api.Connected{Runner: c.Runner, Accepting: c.Accepting, Changes: readmodel.Changes(c.Changes)})
		}
		if out.Height == 0 && !node.network.config.Auto { // with auto no block is made before there is something to do
			out.Missing = append(out.Missing, "the first block is not final here")
		}
		if status.Diverged != nil {
			out.Missing = append(out.Missing, status.Unfit)
		}
		if why := node.network.files.cutOff(out.Height); why != "" {
			out.Missing = append(out.Missing, why)
		}
		if need := QuorumPeers(len(best.Validators().Members)); out.Connections < need && out.Status != history.StatusJoining {
			out.Missing = append(out.Missing, "connections to other validators: "+fmt.Sprintf("%d of at least %d", out.Connections, need))
		}
	}
	return out
}
