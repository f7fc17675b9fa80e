package box

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// machineOf returns the machine of a node of either kind, or nil.
func (r *roster) machineOf(name string) *machine {
	if node := r.nodes.findNode(name); node != nil {
		return &node.machine
	}
	if runner := r.runners.findRunner(name); runner != nil {
		return &runner.machine
	}
	return nil
}

// onRoleTookNodeAlong is told that a role took a node along, in one of its lives: the node fails, or
// ends as at a crash and starts again from its disk, as the strategy says.
func (r *roster) onRoleTookNodeAlong(name string, life uint64, f *roles.Failure) {
	if f.Strategy != roles.Restart {
		if m := r.machineOf(name); m != nil {
			m.Fail(f)
		}
		return
	}
	go func() { // who is told is a role of that node
		_ = r.doAlone(func() error {
			if m := r.machineOf(name); m != nil && m.isLifeUnderWay(life) {
				m.restartOrFail(f)
			}
			return nil
		})
	}()
}

// isLifeUnderWay reports whether a life of the node is the one under way. A node elsewhere has its
// own supervision.
func (m *machine) isLifeUnderWay(life uint64) bool {
	local, is := m.Engine.(interface{ Life() uint64 })
	return is && m.Started() && local.Life() == life
}

// restartOrFail restarts a node that a role took along, or fails it if that happened too often.
// During the call no node is started or stopped.
func (m *machine) restartOrFail(f *roles.Failure) {
	if !m.restarts.Allow(m.network.clock.Now()) {
		m.Fail(fmt.Errorf("%w; it was started again %d times within %v", f, roles.MaxRestarts, roles.RestartWindow))
		return
	}
	m.network.links.silenceNode(m.Name)
	err := m.Kill(nil)
	m.network.ProcessEnded(m.Name)
	if err == nil {
		err = m.process.startNode()
	}
	if err != nil {
		m.Fail(err)
		m.network.log.Error("a node that a role took along does not start again", "node", m.Name, "error", err)
		return
	}
	m.network.log.Warn("a node was started again: a role had taken it along", "node", m.Name, "why", f)
}
