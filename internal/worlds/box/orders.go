package box

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

var _ fault.World = (*orders)(nil)

// orders does what it is told by orders of faults, and keeps the faults that it made.
type orders struct {
	origin *origin
	roster *roster
	files  *files
	links  *links
	faults *faults
}

// Do implements fault.World. A network without cheats refuses, and so does one that
// has no node of a name: by an *api.Error.
func (w *orders) Do(o fault.Order) (fault.Effect, error) {
	f, err := w.order(&o)
	w.count()
	switch {
	case err != nil:
		return fault.Effect{}, err
	case f == nil:
		return o.Done(), nil
	}
	return f.Effect(), nil
}

// Faults implements fault.World.
func (w *orders) Faults() []fault.Effect {
	w.count()
	return w.faults.effects()
}

// SetUsualLink sets how the packets of all links fare that no fault has set, also of
// nodes that join later. It is not a fault: it is not listed, and heal leaves it.
func (w *orders) SetUsualLink(to fault.Link) error {
	if err := to.Check(); err != nil {
		return err
	}
	w.links.usually(to)
	return nil
}

// count asks for the effects of faults that nodes elsewhere have.
func (w *orders) count() {
	if other := w.origin.config.Elsewhere; other != nil {
		other.Count()
	}
}

// order judges an order and does it.
func (w *orders) order(o *fault.Order) (*Fault, error) {
	if err := w.origin.strict("a fault"); err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	if why := fault.Lookup(o.Verb).NotLive; why != "" {
		return nil, &fault.Unsupported{Verb: o.Verb, Why: why}
	}
	if !fault.Lookup(o.Verb).OfNode() {
		if err := w.origin.elsewhere("a fault of links"); err != nil {
			return nil, err
		}
	}
	for _, name := range o.Nodes() {
		if w.roster.nodes.find(name) == nil && w.roster.runners.findRunner(name) == nil {
			return nil, w.roster.unknown(name)
		}
	}
	if fault.Lookup(o.Verb).OfNode() && w.roster.runners.findRunner(o.Node) != nil {
		if err := o.CheckOf(fault.Runners); err != nil {
			return nil, err
		}
		return w.onRunner(o)
	}
	if err := o.CheckOf(fault.Validators); err != nil {
		return nil, err
	}
	return w.do(o)
}

// do executes a sound order about existing nodes. The fault is nil where the verb
// leaves none.
func (w *orders) do(o *fault.Order) (*Fault, error) {
	switch o.Verb {
	case "crash":
		return w.onNode(o, func(node *Node) (*Fault, error) { return node.crash(o) })
	case "restart":
		return w.onNode(o, func(node *Node) (*Fault, error) { return nil, node.restart() })
	case "freeze":
		return w.onNode(o, func(node *Node) (*Fault, error) { return node.freeze(o) })
	case "thaw":
		return w.onNode(o, func(node *Node) (*Fault, error) {
			if !node.thaw() {
				return nil, fmt.Errorf("%s is not frozen", node.Name)
			}
			return nil, nil
		})
	case "panic", "hang":
		return w.onNode(o, func(node *Node) (*Fault, error) { return node.upset(o) })
	case "wipe":
		return w.onNode(o, func(node *Node) (*Fault, error) {
			if node.Started() {
				return nil, fmt.Errorf("%s runs: crash it first", node.Name)
			}
			if err := w.files.refuseBounded(node.Name, "be wiped"); err != nil {
				return nil, err
			}
			return node.wipe(o)
		})
	case "host_fail":
		return w.onNode(o, func(node *Node) (*Fault, error) { return node.failHost(o), nil })
	case "misbehave":
		return w.onNode(o, func(node *Node) (*Fault, error) { return node.misbehave(o) })
	case "partition":
		side := fault.SideOf(o.Groups...)
		return w.sever(w.faults.add(o), func(a, b string) bool { return side(a) != side(b) }), nil
	case "bridge":
		side := fault.SideOf(o.Left, o.Right)
		return w.sever(w.faults.add(o), func(a, b string) bool { return side(a)*side(b) == 2 }), nil
	case "link":
		f := w.faults.add(o)
		w.links.set(f, o.A, o.B, o.Link)
		return f, nil
	case "heal":
		w.links.heal()
		return nil, nil
	}
	return nil, &fault.Unsupported{Verb: o.Verb, Why: "a live network does not have it"}
}

// onRunner does an order of a runner.
func (w *orders) onRunner(o *fault.Order) (f *Fault, err error) {
	err = w.roster.changeRunner(o.Node, func(r *Runner) (err error) {
		f, err = r.do(o)
		return err
	})
	return f, err
}

// onNode runs do on an order's node, while no other node is started or stopped.
func (w *orders) onNode(o *fault.Order, do func(*Node) (*Fault, error)) (f *Fault, err error) {
	err = w.roster.change(o.Node, func(node *Node) (err error) {
		f, err = do(node)
		return err
	})
	return f, err
}

// sever cuts the links between the pairs that apart names, in place of those that
// were cut before.
func (w *orders) sever(f *Fault, apart func(a, b string) bool) *Fault {
	names := map[types.Address]string{}
	for _, node := range w.roster.nodes.List() {
		names[node.Address] = node.Name
	}
	for _, r := range w.roster.runners.RunnerList() {
		for _, peer := range r.Status().Connected {
			if apart(r.Name, names[peer]) {
				f.counts.Cut.Add(1)
			}
		}
	}
	for _, node := range w.roster.nodes.List() {
		if !node.Running() {
			continue
		}
		for _, peer := range node.Validator().Status().Connected {
			if other := names[peer]; node.Name < other && apart(node.Name, other) {
				f.counts.Cut.Add(1)
			}
		}
	}
	w.links.sever(f, apart)
	return f
}

// misbehave makes a running node lie to the others, with its own key, until it
// restarts or is told to be honest, which returns the fault that this ends.
func (node *Node) misbehave(o *fault.Order) (*Fault, error) {
	if !node.Running() {
		return nil, fmt.Errorf("%s does not run: restart it first", node.Name)
	}
	before := node.lie
	node.unmask()
	if o.Kind == fault.Honest {
		return before, nil
	}
	f := node.network.faults.add(o)
	node.lie = f
	return f, node.mask.Behave(o.Kind, &f.counts)
}

// failHost makes a node's host of programs fail on an actor until an order that it
// works, which returns the fault that this ends; a restart does not end it.
func (node *Node) failHost(o *fault.Order) *Fault {
	before := node.broken[o.Actor]
	if before != nil {
		before.end()
		delete(node.broken, o.Actor)
	}
	if o.How == fault.HostWorks {
		node.programs.Fail(o.Actor, o.How, nil)
		return before
	}
	f := node.network.faults.add(o)
	node.broken[o.Actor] = f
	node.programs.Fail(o.Actor, o.How, &f.counts)
	return f
}
