package box

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
)

// machine is a node of any kind as the operator of a network finds it.
type machine struct {
	*node.Identity
	Engine
	network *Network
	kind    fault.Whose
	process process
	// restarts are those by supervision.
	restarts roles.Restarts
}

// process is what a kind of node runs on its machine.
type process interface {
	startNode() error
	stopNode() error // also what a crash or a failure has left
}

// Who implements network.Node
func (m *machine) Who() network.Identity {
	return network.Identity{Name: m.Name, Address: m.Address, Kind: m.kind}
}

// Phase implements network.Node.
func (m *machine) Phase() network.Phase {
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
func (m *machine) Start() error { return m.process.startNode() }

// Stop implements network.Node.
func (m *machine) Stop() error {
	m.Engine.Thaw()
	return m.process.stopNode()
}

// Kill implements network.Node: the roles stop after their step, nothing more is written, and the peers get no closing frame. A validator
// sends nothing more; the connections of a runner close with it.
func (m *machine) Kill(*fault.Counts) error {
	if m.kind == fault.Validators {
		m.network.links.silenceNode(m.Name)
	}
	m.Engine.Kill()
	m.Engine.Thaw()
	return m.process.stopNode()
}

// Thaw implements network.Node.
func (m *machine) Thaw() error {
	if !m.Engine.Thaw() {
		return fmt.Errorf("%s is not frozen", m.Name)
	}
	return nil
}
