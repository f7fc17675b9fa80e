package box

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/worlds/node"
)

// machine is a node of any kind as the faults of a network find it: each is
// written here, once, and leaves its receipt.
type machine struct {
	*node.Identity
	Engine
	network *Network
	process process
	ice     *Fault // nil unless it is frozen
	death   *Fault // of its crash while it is down, or nil
	// restarts are those by supervision.
	restarts roles.Restarts
}

// process is what a kind of node runs on its machine.
type process interface {
	start() error
	stop() error      // also the remains of a crash, or of its own failure
	connections() int // that end when it dies
}

// crash ends the process as kill -9 does: its roles stop after the step they are in
// and are not notified, nothing more is written or sent, and its peers get no
// goodbye.
func (m *machine) crash(o *fault.Order) (*Fault, error) {
	if !m.Started() {
		return nil, fmt.Errorf("%s does not run", m.Name)
	}
	cut := m.process.connections()
	m.network.links.kill(m.Name)
	m.Kill()
	err := m.process.stop()
	m.death = m.network.faults.add(o)
	m.death.counts.Ended.Add(1)
	m.death.counts.Cut.Add(int64(cut))
	return m.death, err
}

// restart starts a process if none runs any more.
func (m *machine) restart() error {
	switch {
	case m.Running():
		return fmt.Errorf("%s runs", m.Name)
	case m.Started(): // it stopped by itself: its roles are gone
		if err := m.process.stop(); err != nil {
			return err
		}
	}
	if err := m.process.start(); err != nil {
		return err
	}
	if m.death != nil {
		m.death.end()
		m.death = nil
	}
	return nil
}

// freeze stops the process after the step its roles are in.
func (m *machine) freeze(o *fault.Order) (*Fault, error) {
	f := &Fault{verb: o.Verb, detail: o.Detail()}
	if err := m.Freeze(&f.counts); err != nil {
		return nil, err
	}
	m.network.faults.enter(f)
	m.ice = f
	return f, nil
}

// thaw resumes a frozen process; it reports whether it was frozen.
func (m *machine) thaw() bool {
	if !m.Thaw() {
		return false
	}
	m.ice.end()
	m.ice = nil
	return true
}

// wipe loses the files of a node that does not run.
func (m *machine) wipe(o *fault.Order) (*Fault, error) {
	f := &Fault{verb: o.Verb, detail: o.Detail()}
	if err := m.Wipe(&f.counts); err != nil {
		return nil, err
	}
	m.network.faults.enter(f)
	f.end()
	return f, nil
}
