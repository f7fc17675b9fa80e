package gateway

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Check returns what does not hold of the machine, nil where all does.
func (m *Machine) Check() error {
	if err := m.connections.check(); err != nil {
		return err
	}
	return m.results.check()
}

func (c *connections) check() error {
	lives := 0
	for _, p := range c.order {
		if p.stage == over {
			continue
		}
		if c.peers[p.id] != p {
			return fmt.Errorf("gateway: connection %d is not over and not known", p.id)
		}
		if (p.stage == live) != (c.live[p.key] == p) {
			return fmt.Errorf("gateway: connection %d is at stage %d, and another of its runner is live", p.id, p.stage)
		}
		if p.stage == live {
			lives++
		}
		if len(p.deliveries) > MaxJobStreams || len(p.changed.capabilities) > MaxRuntimeChanges {
			return fmt.Errorf("gateway: connection %d holds %d deliveries, %d capabilities", p.id, len(p.deliveries), len(p.changed.capabilities))
		}
	}
	switch {
	case lives != len(c.live):
		return fmt.Errorf("gateway: %d connections are live, of %d", lives, len(c.live))
	case len(c.peers) > MaxConnections || len(c.order) > 2*len(c.peers)+1:
		return fmt.Errorf("gateway: %d connections, %d in order", len(c.peers), len(c.order))
	}
	return nil
}

func (r *results) check() error {
	bytes, of := 0, map[types.Address]int{}
	for _, h := range r.index.all { // order: sums
		bytes += h.heldBytes()
		of[h.runner] += h.heldBytes()
	}
	for runner, held := range r.of { // order: any that is wrong will do
		if of[runner] != held {
			return fmt.Errorf("gateway: %d bytes of results are held of runner %s, counted as %d", of[runner], runner, held)
		}
	}
	if bytes != r.bytes || bytes > MaxHeldBytes {
		return fmt.Errorf("gateway: %d bytes of results are held, counted as %d", bytes, r.bytes)
	}
	return r.index.check()
}

// check compares the parts of the index, and that none holds what was dropped.
func (x *resultIndex) check() error {
	jobs := 0
	for job, of := range x.jobs { // order: any that is wrong will do
		jobs += len(of)
		for _, h := range of {
			if x.all[h.resultID] != h || h.Job != job {
				return fmt.Errorf("gateway: job %s has a result that is not held", job)
			}
		}
	}
	for i, h := range x.dues {
		if x.all[h.resultID] != h || h.at != i || h.due == 0 {
			return fmt.Errorf("gateway: the result due at height %d is not held", h.due)
		}
	}
	for _, h := range x.lost {
		if x.all[h.resultID] != h || !h.lost {
			return fmt.Errorf("gateway: a lost result of job %s is not held", h.Job)
		}
	}
	if jobs != len(x.all) || len(x.dues) > jobs || len(x.lost) > jobs {
		return fmt.Errorf("gateway: %d results are held: %d by job, %d by height, %d lost", len(x.all), jobs, len(x.dues), len(x.lost))
	}
	return nil
}
