package sim

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// machines are the machines of a world, which outlive the processes on them.
type machines struct {
	nodes     []*node
	hosts     []*node                 // that runners' views may ask
	byName    map[string]*node        // looked up only
	byAddress map[types.Address]*node // looked up only
}

// findNode returns a node by name. That a test names a node that is not there is
// its own mistake, so it panics.
func (m *machines) findNode(name string) *node {
	n := m.byName[name]
	if n == nil {
		panic(fmt.Sprintf("sim: there is no node %q", name))
	}
	return n
}

// Running says whether a process runs on a node, frozen or not.
func (m *machines) Running(name string) bool { return m.findNode(name).process != nil }

// Frozen says whether a node is frozen.
func (m *machines) Frozen(name string) bool { return m.findNode(name).frozen != nil }

// eachSide goes over all connections of all processes that run.
func (m *machines) eachSide(do func(*side)) {
	for _, n := range m.nodes {
		if n.process == nil || n.process.connections == nil {
			continue
		}
		for s := n.process.connections.first; s != nil; s = s.next {
			do(s)
		}
	}
}

// whyNotAddable is why no machine of a name and an address can be added, or nil.
func (m *machines) whyNotAddable(name string, address types.Address) error {
	switch {
	case m.byName[name] != nil:
		return fmt.Errorf("sim: there is a node %s already", name)
	case m.byAddress[address] != nil:
		return fmt.Errorf("sim: node %s has the address of %s", name, m.byAddress[address].name)
	case len(m.nodes) == MaxNodes:
		return fmt.Errorf("sim: a world has at most %d nodes", MaxNodes)
	}
	return nil
}

// enterNode makes a machine known.
func (m *machines) enterNode(n *node) {
	m.nodes = append(m.nodes, n)
	m.byName[n.name], m.byAddress[n.address] = n, n
}
