package gateway

import "fmt"

// Check returns what does not hold of the machine, nil where all does.
func (m *Machine) Check() error {
	lives, bytes := 0, 0
	for _, p := range m.order {
		if p.stage == over {
			continue
		}
		if m.peers[p.id] != p {
			return fmt.Errorf("gateway: connection %d is not over and not known", p.id)
		}
		if (p.stage == live) != (m.live[p.key] == p) {
			return fmt.Errorf("gateway: connection %d is at stage %d, and another of its runner is live", p.id, p.stage)
		}
		if p.stage == live {
			lives++
		}
		if len(p.deliveries) > MaxJobStreams || len(p.changed.capabilities) > MaxRuntimeChanges {
			return fmt.Errorf("gateway: connection %d holds %d deliveries, %d capabilities", p.id, len(p.deliveries), len(p.changed.capabilities))
		}
	}
	for _, h := range m.heldOrder {
		bytes += len(h.result.ResultData)
	}
	switch {
	case lives != len(m.live):
		return fmt.Errorf("gateway: %d connections are live, of %d", lives, len(m.live))
	case len(m.peers) > MaxConnections || len(m.order) > 2*len(m.peers)+1:
		return fmt.Errorf("gateway: %d connections, %d in order", len(m.peers), len(m.order))
	case bytes != m.heldBytes || bytes > MaxHeldBytes || len(m.held) != len(m.heldOrder):
		return fmt.Errorf("gateway: %d results of %d bytes, counted as %d of %d", len(m.heldOrder), bytes, len(m.held), m.heldBytes)
	}
	return nil
}
