// Package node is one node in this process: the machine it runs on, and what a
// node of each kind opens there. A live network is some of them and the book of
// their endpoints; a separate process can be one.
//
// A Machine does not know kinds of node. It has the loops of the roles, the disk and
// the gate through which frames come in, and so what can happen to a node whatever it
// is: it is frozen, killed, loses its files, or stops by itself. A Validator is opened
// on one from key, genesis, files, socket and peers, a Runner from key, socket, a view
// of the chain and an executor. A StateFeed shows the validators' final states to the
// runners in the same process.
//
// Nothing here decides about the protocol, and nothing is an ordered fault: a world
// counts those, and checks who may order them.
package node

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// Parts is what a machine is made of.
type Parts struct {
	Name     string // v0, v1, …: unique in the process
	Signer   env.Signer
	Verifier env.Verifier
	Clock    env.Clock
	// Files names its files, and makes their directory; nil: memory stands for them,
	// as long as the Machine lasts.
	Files      func() (home.Node, error)
	Durability store.Durability
	// Overhear is called for each frame that leaves the node, once for each peer. It
	// may keep the frame, must not change it, and is called on the loops that send:
	// it must be quick. It may be nil.
	Overhear func(from types.Address, frame []byte)
	// Along is told that a role takes the node along, and in which life (Life), on a loop
	// of the node: it must only hand on. Nil: the node has failed, whatever its strategy.
	Along func(life uint64, f *roles.Failure)
}

// Machine is what a node of any kind runs on. It outlives the processes that run
// there one after the other. Started, Running, Frozen and Failure may be asked by
// anybody; the rest is for one caller at a time.
type Machine struct {
	Identity

	parts   Parts
	disk    disk
	started atomic.Bool
	life    atomic.Uint64 // processes so far
	frozen  atomic.Bool
	failure atomic.Pointer[error]
	past    *error        // the failure of the process before, while one boots
	loops   *loops        // nil while no process runs
	over    chan struct{} // closed when the process that runs, or ran last, is to end; nil before the first
	gate    *gate         // of the process that runs, or ran last; nil before the first
}

// Identity is the identity of a node, wherever it runs.
type Identity struct {
	Name    string
	Address types.Address
	// Lost says that a node of this key has run before, and that its files are gone.
	Lost bool
}

// assembleParts makes the machine of a node, which has it in itself. Nothing is opened yet.
func (m *Machine) assembleParts(p Parts) {
	m.Name, m.Address, m.parts = p.Name, p.Signer.Address(), p
	m.disk = disk{name: p.Name, files: p.Files, durability: p.Durability}
}

// beginProcess begins a process: with new loops, and a gate that is open. The log must be
// open.
func (m *Machine) beginProcess() env.Base {
	m.past = m.failure.Swap(nil)
	m.life.Add(1)
	m.loops, m.gate, m.over = newLoops(), &gate{}, make(chan struct{})
	return env.Base{Clock: m.parts.Clock, Loops: m.loops, Signer: m.parts.Signer, Verifier: m.parts.Verifier, Log: m.disk.log}
}

// noteRolesRun says that the process's roles run.
func (m *Machine) noteRolesRun() {
	m.past = nil
	m.started.Store(true)
}

// noteEnding says that the process is to end, and whether its roles had begun.
func (m *Machine) noteEnding() (begun bool) {
	m.letGo()
	m.resumeFrozen()
	return m.started.Swap(false)
}

// endLeftovers ends what a process leaves when its roles have stopped: loops and files. A
// process that never began keeps the failure of the process before.
func (m *Machine) endLeftovers() error {
	if m.past != nil {
		m.failure.CompareAndSwap(nil, m.past)
		m.past = nil
	}
	if m.loops != nil {
		m.loops.closeAll()
		m.loops = nil
	}
	return m.disk.closeFiles()
}

// Started reports whether a process was started and not stopped since. It may have
// stopped by itself.
func (m *Machine) Started() bool { return m.started.Load() }

// Running reports whether the node takes part, frozen or not.
func (m *Machine) Running() bool { return m.Started() && m.failure.Load() == nil }

// Frozen reports whether the node is frozen.
func (m *Machine) Frozen() bool { return m.frozen.Load() }

// Fail notes why the node stops by itself: its disk failed, or a bug of ours.
func (m *Machine) Fail(err error) { m.failure.Store(&err) }

// Failure is why the node stopped by itself, or nil.
func (m *Machine) Failure() error {
	if err := m.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Life is the number of the process that runs, or ran last.
func (m *Machine) Life() uint64 { return m.life.Load() }

// letGo ends what waits for time to pass in the process.
func (m *Machine) letGo() {
	if m.over == nil {
		return
	}
	select {
	case <-m.over:
	default:
		close(m.over)
	}
}

// waiterUntilEnd returns what lets time pass in the process that boots, until that is to end.
func (m *Machine) waiterUntilEnd() func(time.Duration) {
	over := m.over
	return func(d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-over:
		}
	}
}

// stopNotifier returns what is told that the process that boots stops by itself.
func (m *Machine) stopNotifier() func(error) {
	life := m.Life()
	return func(err error) {
		var along *roles.Failure
		if m.parts.Along != nil && errors.As(err, &along) {
			m.parts.Along(life, along)
			return
		}
		m.Fail(err)
	}
}

// Kill ends the roles as kill -9 ends a process: after the step they are in, all at
// once, and they are not told. What the store has gathered in memory is lost. Its caller then
// stops the node, which writes and sends nothing any more.
func (m *Machine) Kill() {
	m.letGo()
	if m.loops != nil {
		m.loops.killAll()
	}
	if err := m.disk.abandon(); err != nil {
		m.failure.CompareAndSwap(nil, &err)
	}
}

// Freeze stops the roles after the step they are in. Frames wait for the node up to
// MaxHeld and MaxHeldBytes, and are lost beyond; both are counted. Its connections
// stay.
func (m *Machine) Freeze(counts *fault.Counts) error {
	switch {
	case !m.Running():
		return fmt.Errorf("%s does not run", m.Name)
	case m.frozen.Swap(true):
		return fmt.Errorf("%s is frozen already", m.Name)
	}
	m.gate.freezeArrivals(counts)
	m.loops.freezeAll()
	return nil
}

// Thaw resumes a frozen node: first with its interrupted work, then with the items
// that arrived meanwhile.
func (m *Machine) Thaw() error {
	if !m.resumeFrozen() {
		return fmt.Errorf("%s is not frozen", m.Name)
	}
	return nil
}

// resumeFrozen is Thaw, and reports whether the node was frozen.
func (m *Machine) resumeFrozen() bool {
	if !m.frozen.Swap(false) {
		return false
	}
	m.gate.deliverBacklog()
	m.loops.thawAll()
	return true
}

// Wipe loses the files of a node that does not run, and counts their bytes.
func (m *Machine) Wipe(counts *fault.Counts) error {
	if m.Started() {
		return fmt.Errorf("%s runs: crash it first", m.Name)
	}
	m.Lost = true
	lost, err := m.disk.wipeFiles()
	counts.Lost.Add(lost)
	return err
}
