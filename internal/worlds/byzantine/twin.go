package byzantine

import (
	"fmt"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Twin is a second process with a validator's key, as an operator starts one by mistake. It
// begins with an empty home, and shares machine and address with the first: each frame for
// the key reaches both, and the frames of both leave by the same connections.
type Twin struct {
	given env.Validator // the first's
	mesh  *sharedMesh
	start StartTwin

	mu     sync.Mutex
	starts byte
	runs   *validators.Validator // nil while none runs
}

// StartTwin starts a second process by a configuration in which only the reports are set, on
// an empty log and an empty store.
type StartTwin func(validators.Config, env.Validator) (*validators.Validator, error)

// NewTwin returns what the first process of a key is given, and the second, which does not run
// yet.
func NewTwin(given env.Validator, start StartTwin) (env.Validator, *Twin) {
	mesh := &sharedMesh{Mesh: given.Mesh}
	t := &Twin{given: given, mesh: mesh, start: start}
	given.Mesh = mesh
	return given, t
}

// Begin starts the second process. What becomes of it is added to counts.
func (t *Twin) Begin(counts *fault.Counts) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs != nil {
		return fmt.Errorf("a second process with its key runs already")
	}
	t.starts++
	given := t.given
	given.Mesh, given.Connections, given.Contracts, given.Lied = secondMesh{t.mesh}, nil, nil, nil
	given.Loops = twinLoops{t.given.Loops, t.starts}
	if !t.given.Life.IsZero() {
		digest := types.Keccak(t.given.Life[:], []byte{t.starts})
		copy(given.Life[:], digest[:])
	}
	runs, err := t.start(validators.Config{Tell: func(_ string, report simplex.Report) {
		switch report.(type) {
		case simplex.Waits:
			counts.Waited.Add(1)
		case simplex.Settled:
			counts.Settled.Add(1)
		}
	}}, given)
	if err != nil {
		return err
	}
	counts.Begun.Add(1)
	t.runs = runs
	return nil
}

// End stops the second process, if one runs.
func (t *Twin) End() {
	t.mu.Lock()
	runs := t.runs
	t.runs = nil
	t.mu.Unlock()
	if runs != nil {
		runs.Stop()
	}
}

// twinLoops names the roles of a second process apart from those of the first.
type twinLoops struct {
	env.Loops
	start byte
}

// Loop implements env.Loops.
func (l twinLoops) Loop(role string) actor.Dispatcher {
	return l.Loops.Loop(fmt.Sprintf("twin %d %s", l.start, role))
}

// sharedMesh gives what arrives for the first process to the second as well.
type sharedMesh struct {
	env.Mesh
	mu     sync.Mutex
	second func(from types.Address, frame []byte) // nil while none runs
}

// Start implements env.Mesh.
func (m *sharedMesh) Start(receive func(types.Address, []byte)) error {
	return m.Mesh.Start(func(from types.Address, frame []byte) {
		receive(from, frame)
		m.mu.Lock()
		second := m.second
		m.mu.Unlock()
		if second != nil {
			second(from, frame)
		}
	})
}

func (m *sharedMesh) setSecond(receive func(types.Address, []byte)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.second = receive
}

// secondMesh is the mesh of the second process.
type secondMesh struct{ shared *sharedMesh }

// Start implements env.Mesh.
func (m secondMesh) Start(receive func(types.Address, []byte)) error {
	m.shared.setSecond(receive)
	return nil
}

// Send implements env.Mesh.
func (m secondMesh) Send(to types.Address, frame []byte) { m.shared.Mesh.Send(to, frame) }

// SetPeers implements env.Mesh: the first names the peers of both.
func (m secondMesh) SetPeers([]types.Validator) {}

// Connected implements env.Mesh.
func (m secondMesh) Connected() []types.Address { return m.shared.Connected() }

// Close implements env.Mesh: the connections are the first's.
func (m secondMesh) Close() error {
	m.shared.setSecond(nil)
	return nil
}
