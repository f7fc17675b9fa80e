package box

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// backend is a network as its operator finds it.
type backend struct {
	*scheduler
	network *Network
}

var (
	_ network.Backend  = backend{}
	_ network.Operated = backend{}
)

// Capabilities implements network.Backend.
func (b backend) Capabilities() network.Capabilities {
	o := b.network.origin
	c := network.Capabilities{Can: network.Live, Strict: o.config.Strict, Here: o.hereName()}
	if c.Here != "" {
		c.Can = network.Alone
	}
	if whole := o.whole.Load(); whole != nil {
		c.Whole = *whole
	}
	return c
}

// Unknown implements network.Backend.
func (b backend) Unknown(name string) error { return b.network.refuseUnknownName(name) }

// Node implements network.Backend.
func (b backend) Node(name string) network.Node {
	if node := b.network.findNode(name); node != nil {
		return node
	}
	if runner := b.network.findRunner(name); runner != nil {
		return runner
	}
	return nil
}

// Nodes implements network.Backend.
func (b backend) Nodes() (all []network.Node) {
	for _, node := range b.network.List() {
		all = append(all, node)
	}
	for _, runner := range b.network.RunnerList() {
		all = append(all, runner)
	}
	return all
}

// Height implements network.Backend.
func (b backend) Height() types.Height { return b.network.Best().finalHeight() }

// SetLinks implements network.Backend.
func (b backend) SetLinks(rules *network.LinkRules) { b.network.links.followRules(rules) }

// Count implements network.Backend: nodes elsewhere are asked.
func (b backend) Count() {
	if other := b.network.config.Elsewhere; other != nil {
		other.Count()
	}
}

// Wipe implements network.Node.
func (node *Node) Wipe(counts *fault.Counts) error {
	if err := node.network.files.refuseFromGenesis(node.Name, "be wiped"); err != nil {
		return err
	}
	return node.Engine.Wipe(counts)
}

// Peers implements network.Node: only validators, since a connection belongs to its runner.
func (node *Node) Peers() []types.Address {
	if v := node.Validator(); v != nil {
		return v.Status().Connected
	}
	return nil
}

// Peers implements network.Node.
func (r *Runner) Peers() []types.Address { return r.Status().Connected }

// Leave implements network.Node: a validator leaves by an instruction of the system key.
func (node *Node) Leave(_ bool, gone func()) { gone() }

// Honest says whether a node does what the protocol wants, as far as it runs.
func (node *Node) Honest() bool { return !node.validator.Misbehaves() }
