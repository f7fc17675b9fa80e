package box

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/readmodel"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Node is one validator of the network.
type Node struct {
	*node.Identity
	remote.ValidatorNode
	network *Network
	key     *crypto.Key
}

func newNode(n *Network, name string) (*Node, error) {
	one := &Node{network: n, key: n.validatorKey(name)}
	if n.config.Elsewhere != nil {
		validator, err := n.openElsewhere(name, one.key)
		if err != nil {
			return nil, err
		}
		one.ValidatorNode, one.Identity = validator, &node.Identity{Name: name, Address: one.key.Address()}
		return one, nil
	}
	supervised := &supervisedNode{node: one}
	validator, err := n.openLocalValidator(name, one.key, n.roleWatcher(supervised))
	if err != nil {
		return nil, err
	}
	one.ValidatorNode, one.Identity, supervised.machine = validator, &validator.Identity, &validator.Machine
	return one, nil
}

// Start implements network.Node: what the node's disk keeps must let it follow the others.
func (node *Node) Start() error {
	n := node.network
	if err := node.Open(); err != nil {
		return n.files.withRemedy(node.Name, err)
	}
	if err := n.files.mustFollow(node); err != nil {
		return errors.Join(err, node.Stop())
	}
	if err := node.ValidatorNode.Start(); err != nil {
		return n.files.withRemedy(node.Name, err)
	}
	n.Tell(node.Validator())
	return nil
}

// Wipe implements network.Node.
func (node *Node) Wipe(counts *fault.Counts) error {
	if err := node.network.files.refuseFromGenesis(node.Name, "be wiped"); err != nil {
		return err
	}
	return node.ValidatorNode.Wipe(counts)
}

// Running reports whether the node takes part, frozen or not.
func (node *Node) Running() bool { return node.Phase().Up() }

// Frozen reports whether the node runs and does nothing.
func (node *Node) Frozen() bool { return node.Phase() == network.Frozen }

// Validator is the running validator, or the one that ran last; nil before the first.
func (node *Node) Validator() remote.Shell { return node.Shell() }

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
func (node *Node) describeNode(best *ledger.State) answers.Node {
	out := answers.Node{Name: node.Name, Running: node.Running(),
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
		readmodel.AddStatus(&out, &status, node.Validator().Connections())
		out.Counts = countsOf(&status)
		if status.Twin != "" {
			out.Missing = append(out.Missing, "twin: "+status.Twin)
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
