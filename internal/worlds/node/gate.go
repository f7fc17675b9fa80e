package node

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// What the gate of a frozen node keeps for it.
const (
	MaxHeld      = 4096 // frames
	MaxHeldBytes = 64 << 20
)

// gate is where frames come into a process, whatever brings them. It can keep back
// what arrives.
type gate struct {
	mu     sync.Mutex
	frozen *fault.Counts // nil while the gate is open
	held   []arrival
	bytes  int
}

// arrival is a frame that was kept back, and for whom.
type arrival struct {
	receive func(types.Address, []byte)
	from    types.Address
	frame   []byte
}

// arrive lets a frame in, or keeps it back, or loses it.
func (g *gate) arrive(receive func(types.Address, []byte), from types.Address, frame []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.frozen == nil:
		receive(from, frame)
	case len(g.held) >= MaxHeld || g.bytes+len(frame) > MaxHeldBytes:
		g.frozen.Dropped.Add(1)
	default:
		g.frozen.Held.Add(1)
		g.held = append(g.held, arrival{receive, from, frame})
		g.bytes += len(frame)
	}
}

// freeze keeps back what arrives from now on.
func (g *gate) freeze(counts *fault.Counts) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.frozen = counts
}

// thaw lets in what was kept, in order, and then what comes.
func (g *gate) thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.held {
		a.receive(a.from, a.frame)
	}
	g.frozen, g.held, g.bytes = nil, nil, 0
}

// mesh puts the gate before a mesh.
func (g *gate) mesh(m env.Mesh) env.Mesh { return gatedMesh{m, g} }

// gatedMesh is a mesh behind a gate.
type gatedMesh struct {
	env.Mesh
	gate *gate
}

// Start implements env.Mesh.
func (m gatedMesh) Start(receive func(types.Address, []byte)) error {
	return m.Mesh.Start(func(from types.Address, frame []byte) { m.gate.arrive(receive, from, frame) })
}
