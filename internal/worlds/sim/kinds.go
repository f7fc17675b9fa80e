package sim

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// baseEnv is the world as one process of any kind sees it.
func (l *process) baseEnv() env.Base {
	parts := &l.node.parts
	return env.Base{Work: l, Clock: clock{l}, Loops: l, Signer: signer{parts.Signer, l}, Verifier: parts.Verifier, Log: &nodeLog{l}}
}

// validatorEnv is the world as a validator sees it.
func (l *process) validatorEnv() env.Validator {
	l.contracts = &fault.Contracts{Wait: l.node.waitForHost}
	return env.Validator{Base: l.baseEnv(), Life: l.lifeName(),
		Contracts: l.contracts, Mesh: &transport{l}, Store: &nodeStore{l}, Programs: l.node.programHost(),
		Connections: l.newGatewayEnd()}
}

// lifeName names the process: each has another, by the seed.
func (l *process) lifeName() types.Life {
	drawn := types.Keccak(fmt.Appendf(nil, "life %d %s %d", l.node.world.seed, l.node.name, l.number))
	return types.Life(drawn[:16])
}

// AddNode adds a machine for a validator; World.Boot starts a process on it. The
// name and the signer's address are unique in the world.
func (w *World) AddNode(name string, parts Parts, boot Boot[env.Validator]) error {
	if err := addMachine(w, name, fault.Validators, parts, (*process).validatorEnv, boot); err != nil {
		return err
	}
	w.hosts = append(w.hosts, w.byName[name])
	return nil
}

// runnerEnv is the world as a runner sees it.
func (l *process) runnerEnv() env.Runner {
	base := l.baseEnv()
	base.Log = nil
	return env.Runner{Base: base, Connections: l.newRunnerEnd(l.node.parts.MaxJobs), Chain: l.newView(), Executor: l.newExecutor(),
		Polls: &polls{process: l}}
}

// AddRunner adds a machine for a runner, as AddNode does for a validator. It asks
// the validators that existed before it for heads.
func (w *World) AddRunner(name string, parts Parts, boot Boot[env.Runner]) error {
	return addMachine(w, name, fault.Runners, parts, (*process).runnerEnv, boot)
}

// addMachine adds a machine for a node of any kind: given is the world as a process of
// that kind sees it. The code of machines and their faults is the same for every kind.
func addMachine[E any](w *World, name string, kind fault.Whose, parts Parts, given func(*process) E, boot Boot[E]) error {
	address := parts.Signer.Address()
	if err := w.whyNotAddable(name, address); err != nil {
		return err
	}
	n := &node{world: w, index: len(w.nodes), name: name, kind: kind, parts: parts, address: address, links: map[*node]*linkState{}}
	n.boot = func(l *process) (func(), error) { return boot(given(l)) }
	n.disk = newDisk(n, w.disk)
	if parts.Programs != nil {
		n.programs = &fault.Programs{Host: Unhurried{parts.Programs}, Wait: n.waitForHost}
	}
	w.enterNode(n)
	return nil
}
