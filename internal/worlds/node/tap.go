package node

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// tap is a mesh whose frames are passed to a listener, as they leave the node.
type tap struct {
	env.Mesh
	from types.Address
	hear func(from types.Address, frame []byte)
}

// Send implements env.Mesh.
func (t tap) Send(to types.Address, frame []byte) {
	t.hear(t.from, frame)
	t.Mesh.Send(to, frame)
}

// tapMesh lets Parts.Overhear hear what the node sends through a mesh.
func (m *Machine) tapMesh(mesh env.Mesh) env.Mesh {
	if hear := m.parts.Overhear; hear != nil {
		return tap{mesh, m.Address, hear}
	}
	return mesh
}
