package node

import (
	"sync"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Limits of the queue of a frozen node's gate.
const (
	MaxHeld      = 4096 // frames
	MaxHeldBytes = 64 << 20
)

// gate is where what happens outside comes into a process, whatever brings it. It can
// keep back what arrives.
type gate struct {
	mu     sync.Mutex
	frozen *fault.Counts // nil while the gate is open
	held   []arrival
	bytes  int
}

// arrival delivers a queued item.
type arrival func()

// admitFrame lets a frame in, or keeps it back, or loses it.
func (g *gate) admitFrame(receive func(types.Address, []byte), from types.Address, frame []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.frozen == nil:
		receive(from, frame)
	case len(g.held) >= MaxHeld || g.bytes+len(frame) > MaxHeldBytes:
		g.frozen.Dropped.Add(1)
	default:
		g.bytes += len(frame)
		g.keepArrival(func() { receive(from, frame) })
	}
}

// admitLossless lets something in, or keeps it back: what its source bounds by itself, and may
// not be lost.
func (g *gate) admitLossless(comes arrival) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.frozen == nil {
		comes()
		return
	}
	g.keepArrival(comes)
}

func (g *gate) keepArrival(a arrival) {
	g.frozen.Held.Add(1)
	g.held = append(g.held, a)
}

// freezeArrivals keeps back what arrives from now on.
func (g *gate) freezeArrivals(counts *fault.Counts) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.frozen = counts
}

// deliverBacklog delivers the queued items, in order, and then new ones.
func (g *gate) deliverBacklog() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, comes := range g.held {
		comes()
	}
	g.frozen, g.held, g.bytes = nil, nil, 0
}

// gateMesh puts the gate before a mesh.
func (g *gate) gateMesh(m env.Mesh) env.Mesh { return gatedMesh{m, g} }

// gatedMesh is a mesh behind a gate.
type gatedMesh struct {
	env.Mesh
	gate *gate
}

// Start implements env.Mesh.
func (m gatedMesh) Start(receive func(types.Address, []byte)) error {
	return m.Mesh.Start(func(from types.Address, frame []byte) { m.gate.admitFrame(receive, from, frame) })
}

// gateConnections puts the gate before connections with runners, or with validators:
// without readers, these report only connection.MaxUntaken frames.
func (g *gate) gateConnections(c env.Connections) env.Connections { return gatedConnections{c, g} }

// gatedConnections are connections behind a gate.
type gatedConnections struct {
	env.Connections
	gate *gate
}

// Start implements env.Connections.
func (c gatedConnections) Start(receive func(connection.Event)) error {
	return c.Connections.Start(func(e connection.Event) { c.gate.admitLossless(func() { receive(e) }) })
}

// gatePolls puts the gate before the answers of validators.
func (g *gate) gatePolls(p env.Polls) env.Polls {
	if p == nil {
		return nil
	}
	return gatedPolls{p, g}
}

// gatedPolls are polls behind a gate.
type gatedPolls struct {
	env.Polls
	gate *gate
}

// Start implements env.Polls.
func (p gatedPolls) Start(receive func(polling.Answer)) error {
	return p.Polls.Start(func(a polling.Answer) { p.gate.admitLossless(func() { receive(a) }) })
}

// gateChainView puts the gate before a view of the chain. The newest head is all that waits.
func (g *gate) gateChainView(v env.ChainView) env.ChainView { return &gatedView{ChainView: v, gate: g} }

// gatedView is a view behind a gate.
type gatedView struct {
	env.ChainView
	gate   *gate
	newest atomic.Pointer[chainview.Head] // waiting at the gate; nil without one
}

// Start implements env.ChainView.
func (v *gatedView) Start(receive func(*chainview.Head)) error {
	return v.ChainView.Start(func(h *chainview.Head) {
		if v.newest.Swap(h) == nil {
			v.gate.admitLossless(func() { receive(v.newest.Swap(nil)) })
		}
	})
}
