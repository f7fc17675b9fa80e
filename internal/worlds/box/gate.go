package box

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// What a frozen node's transport keeps for it.
const (
	MaxHeld      = 4096 // frames
	MaxHeldBytes = 64 << 20
)

// gate is a transport that can keep back what arrives.
type gate struct {
	env.Transport

	mu      sync.Mutex
	receive func(types.Address, []byte)
	frozen  *fault.Counts // nil while the gate is open
	held    []arrival
	bytes   int
}

type arrival struct {
	from  types.Address
	frame []byte
}

// Start implements env.Transport.
func (g *gate) Start(receive func(types.Address, []byte)) error {
	g.mu.Lock()
	g.receive = receive
	g.mu.Unlock()
	return g.Transport.Start(g.arrive)
}

func (g *gate) arrive(from types.Address, frame []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.frozen == nil:
		g.receive(from, frame)
	case len(g.held) >= MaxHeld || g.bytes+len(frame) > MaxHeldBytes:
		g.frozen.Dropped.Add(1)
	default:
		g.frozen.Held.Add(1)
		g.held = append(g.held, arrival{from, frame})
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
		g.receive(a.from, a.frame)
	}
	g.frozen, g.held, g.bytes = nil, nil, 0
}
