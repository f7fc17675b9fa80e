package box

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

var _ fault.World = (*Network)(nil)

// Do implements fault.World. A network without cheats refuses, and so does one that
// has no node of a name: by an *api.Error.
func (n *Network) Do(o fault.Order) (fault.Effect, error) {
	f, err := n.order(&o)
	switch {
	case err != nil:
		return fault.Effect{}, err
	case f == nil:
		return o.Done(), nil
	}
	return f.Effect(), nil
}

// order judges an order and does it.
func (n *Network) order(o *fault.Order) (*Fault, error) {
	if n.config.Strict {
		return nil, strict("a fault")
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	if why := fault.Lookup(o.Verb).NotLive; why != "" {
		return nil, &fault.Unsupported{Verb: o.Verb, Why: why}
	}
	if !fault.Lookup(o.Verb).OfNode() {
		if err := n.elsewhere("a fault of links"); err != nil {
			return nil, err
		}
	}
	for _, name := range o.Nodes() {
		if n.find(name) == nil && n.findRunner(name) == nil {
			return nil, n.unknown(name)
		}
	}
	if fault.Lookup(o.Verb).OfNode() && n.findRunner(o.Node) != nil {
		if err := o.CheckOf(fault.Runners); err != nil {
			return nil, err
		}
		return n.falter(o)
	}
	if err := o.CheckOf(fault.Validators); err != nil {
		return nil, err
	}
	return n.do(o)
}

// do does an order that is sound, of nodes that are there. The fault is nil where
// the verb leaves none.
func (n *Network) do(o *fault.Order) (*Fault, error) {
	switch o.Verb {
	case "crash":
		return n.onNode(o, func(node *Node) (*Fault, error) { return node.crash(o) })
	case "restart":
		return n.onNode(o, func(node *Node) (*Fault, error) { return nil, node.restart() })
	case "freeze":
		return n.onNode(o, func(node *Node) (*Fault, error) { return node.freeze(o) })
	case "thaw":
		return n.onNode(o, func(node *Node) (*Fault, error) {
			if !node.thaw() {
				return nil, fmt.Errorf("%s is not frozen", node.Name)
			}
			return nil, nil
		})
	case "wipe":
		return n.onNode(o, func(node *Node) (*Fault, error) {
			if node.Started() {
				return nil, fmt.Errorf("%s runs: crash it first", node.Name)
			}
			if err := n.refuseBounded(node.Name, "be wiped"); err != nil {
				return nil, err
			}
			return node.wipe(o)
		})
	case "host_fail":
		return n.onNode(o, func(node *Node) (*Fault, error) { return node.failHost(o), nil })
	case "misbehave":
		return n.onNode(o, func(node *Node) (*Fault, error) { return node.misbehave(o) })
	case "partition":
		side := fault.SideOf(o.Groups...)
		return n.sever(n.faults.add(o), func(a, b string) bool { return side(a) != side(b) }), nil
	case "bridge":
		side := fault.SideOf(o.Left, o.Right)
		return n.sever(n.faults.add(o), func(a, b string) bool { return side(a)*side(b) == 2 }), nil
	case "link":
		f := n.faults.add(o)
		n.links.set(f, o.A, o.B, o.Link)
		return f, nil
	case "heal":
		n.links.heal()
		return nil, nil
	}
	return nil, &fault.Unsupported{Verb: o.Verb, Why: "a live network does not have it"}
}

// onNode runs do on an order's node, with all others standing as they are.
func (n *Network) onNode(o *fault.Order, do func(*Node) (*Fault, error)) (f *Fault, err error) {
	err = n.change(o.Node, func(node *Node) (err error) {
		f, err = do(node)
		return err
	})
	return f, err
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

// failHost has a node's host of programs fail over an actor until it is told that
// it works, which returns the fault that this ends; a restart does not mend it.
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
