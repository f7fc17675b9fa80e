package box

import (
	"github.com/cowboyinc/devnet/internal/base/types"
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
