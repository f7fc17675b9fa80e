package sim

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
)

// behaviour is the masks of a network's validators: one for each process, so
// that a validator that restarts is honest again.
type behaviour struct {
	masks map[string]*worn // looked up only
}

// worn is a mask, and the receipt of the fault that chose its behaviour.
type worn struct {
	mask    *byzantine.Mask
	receipt *Effect // nil while it is honest
}

// masked puts a new process behind a mask.
func (n *Network) masked(name string, node env.Validator) env.Validator {
	n.unmask(name)
	mask := byzantine.NewMask(n.config.ChainID, node.Signer)
	if n.masks == nil {
		n.masks = map[string]*worn{}
	}
	n.masks[name] = &worn{mask: mask}
	node.Mesh = mask.Wrap(node.Mesh)
	node.Programs = mask.WrapPrograms(node.Programs)
	node.Connections = mask.WrapConnections(node.Connections)
	return node
}

// unmask ends what a validator does wrong.
func (n *Network) unmask(name string) {
	w := n.masks[name]
	if w == nil || w.receipt == nil {
		return
	}
	w.mask.Honest()
	w.receipt.Until, w.receipt = n.now, nil
}

// Misbehave makes a running validator lie to the others, with its own key, until
// it restarts or is told to misbehave as "honest". The kinds are those of
// package byzantine; what a kind needs that is not there it says by name.
func (n *Network) Misbehave(name, kind string) (*Effect, error) {
	if err := fault.CheckKind(kind); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !n.Running(name) {
		return nil, fmt.Errorf("%s does not run: restart it first", name)
	}
	n.unmask(name)
	if kind == fault.Honest {
		n.trace.fault(n.now, "honest "+name)
		return nil, nil
	}
	r := n.receipt("misbehave", name+" "+kind)
	r.counts = new(fault.Counts)
	n.masks[name].receipt = r
	n.Judge.Excuse(n.keys[name].Address())
	return r, n.masks[name].mask.Behave(kind, r.counts)
}

// Honest says whether a validator does what the protocol wants, as far as it
// runs.
func (n *Network) Honest(name string) bool {
	return n.masks[name] == nil || n.masks[name].receipt == nil
}

// Restart starts a validator that crashed, was stopped or stopped by itself; it
// goes on from its disk.
func (n *Network) Restart(name string) error {
	death := n.find(name).death
	err := n.Boot(name)
	if err == nil && death != nil {
		death.Until = min(death.Until, n.now)
	}
	return err
}
