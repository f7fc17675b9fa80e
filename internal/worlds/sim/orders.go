package sim

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

var _ fault.World = (*Network)(nil)

// Do implements fault.World.
func (n *Network) Do(o fault.Order) (fault.Effect, error) {
	if err := o.Check(); err != nil {
		return fault.Effect{}, err
	}
	for _, name := range o.Nodes() {
		if n.byName[name] == nil {
			return fault.Effect{}, fmt.Errorf("no node is called %q", name)
		}
	}
	kind, do := fault.Validators, n.do
	if slices.Contains(n.runners, o.Node) {
		kind = fault.Runners
	}
	if err := o.CheckOf(kind); err != nil {
		return fault.Effect{}, err
	}
	if kind == fault.Runners && !ofMachine[o.Verb] {
		do = n.falter
	}
	r, err := do(&o)
	switch {
	case err != nil:
		return fault.Effect{}, err
	case r == nil:
		return o.Done(), nil
	case r.order == nil: // one that ends a fault returns what that did
		r.order = &o
	}
	return r.effect(n.now), nil
}

// ofMachine are the verbs that do the same to a node of any kind, or to links.
var ofMachine = map[string]bool{"freeze": true, "thaw": true, "bridge": true, "panic": true, "hang": true}

// do executes a sound order about existing nodes. The receipt is nil where the verb
// leaves none.
func (n *Network) do(o *fault.Order) (*Effect, error) {
	switch o.Verb {
	case "crash":
		if r := n.Crash(o.Node); r != nil {
			return r, nil
		}
		return nil, fmt.Errorf("%s does not run", o.Node)
	case "restart":
		return nil, n.Restart(o.Node)
	case "freeze":
		return n.Freeze(o.Node)
	case "thaw":
		return nil, n.Thaw(o.Node)
	case "wipe":
		return n.Wipe(o.Node)
	case "disk_fail":
		return n.DiskFail(o.Node, o.On), nil
	case "disk_slow":
		return n.DiskSlow(o.Node, o.Delay), nil
	case "cpu_slow":
		return n.CPUSlow(o.Node, o.Delay), nil
	case "sync_lies":
		return n.SyncLies(o.Node, o.On), nil
	case "host_fail":
		return n.HostFail(o.Node, o.Actor, o.How)
	case "panic", "hang":
		return n.Upset(o)
	case "clock_skew":
		return n.ClockSkew(o.Node, o.Skew), nil
	case "misbehave":
		return n.Misbehave(o.Node, o.Kind)
	case "partition":
		return n.Partition(o.Groups...), nil
	case "bridge":
		return n.Bridge(o.Node, o.Left, o.Right), nil
	case "link":
		return n.Link(o.A, o.B, o.Link), nil
	case "heal":
		n.Heal()
		return nil, nil
	}
	return nil, &fault.Unsupported{Verb: o.Verb, Why: "the simulator does not have it"}
}

// Faults implements fault.World. Configured links are not faults.
func (w *World) Faults() (all []fault.Effect) {
	for _, r := range w.receipts {
		if r != w.defaults.receipt {
			all = append(all, r.effect(w.now))
		}
	}
	return all
}

// effect is what a receipt says, to faces.
func (r *Effect) effect(now types.Time) fault.Effect {
	return fault.Effect{Verb: r.Verb, Detail: r.Detail, Did: r.did(), Idle: r.Idle(), Ended: r.Until <= now, Order: r.order}
}
