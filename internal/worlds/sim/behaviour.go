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
	*watch
	masks map[string]*worn // looked up only
}

// worn is a mask, and the receipt of the fault that chose its behaviour.
type worn struct {
	mask    *byzantine.Mask
	receipt *Effect // nil while it is honest
}

// masked puts a new process behind a mask.
func (b *behaviour) masked(name string, node env.Validator) env.Validator {
	b.unmask(name)
	mask := byzantine.NewMask(b.chainID, node.Signer)
	if b.masks == nil {
		b.masks = map[string]*worn{}
	}
	b.masks[name] = &worn{mask: mask}
	node.Mesh = mask.Wrap(node.Mesh)
	node.Programs = mask.WrapPrograms(node.Programs)
	node.Connections = mask.WrapConnections(node.Connections)
	return node
}

// unmask ends what a validator does wrong.
func (b *behaviour) unmask(name string) {
	w := b.masks[name]
	if w == nil || w.receipt == nil {
		return
	}
	w.mask.Honest()
	w.receipt.Until, w.receipt = b.now, nil
}

// Misbehave makes a running validator lie to the others, with its own key, until
// it restarts or is told to misbehave as "honest". The kinds are those of package
// byzantine; if a kind lacks something, the error names it.
func (b *behaviour) Misbehave(name, kind string) (*Effect, error) {
	if err := fault.CheckKind(kind); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !b.Running(name) {
		return nil, fmt.Errorf("%s does not run: restart it first", name)
	}
	b.unmask(name)
	if kind == fault.Honest {
		b.trace.fault(b.now, "honest "+name)
		return nil, nil
	}
	r := b.receipt("misbehave", name+" "+kind)
	r.counts = new(fault.Counts)
	b.masks[name].receipt = r
	b.excuse(name)
	return r, b.masks[name].mask.Behave(kind, r.counts)
}

// Honest says whether a validator does what the protocol wants, as far as it
// runs.
func (b *behaviour) Honest(name string) bool {
	return b.masks[name] == nil || b.masks[name].receipt == nil
}
