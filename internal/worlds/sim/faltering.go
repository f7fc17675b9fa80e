package sim

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
)

// face is the mask of a runner's process, and the receipts of the faults that it does.
// A new process is sound.
type face struct {
	*byzantine.RunnerMask
	by map[string]*Effect // the faults in force, by verb; looked up only, and each ended alike
}

// faced puts a new process of a runner behind a mask.
func (n *Network) faced(name string, node env.Runner) env.Runner {
	n.unface(name)
	mask, node := byzantine.NewRunnerMask(n.config.ChainID, node)
	n.faces[name] = &face{mask, map[string]*Effect{}}
	return node
}

// unface ends what a runner's process did wrong.
func (n *Network) unface(name string) {
	if f := n.faces[name]; f != nil {
		for _, r := range f.by { // order: each is ended alike
			r.Until = min(r.Until, n.now)
		}
		clear(f.by)
	}
}

// begins is the receipt of a fault of a running runner, in place of the one of that
// verb before.
func (n *Network) begins(o *fault.Order) (*face, *Effect, error) {
	if !n.Running(o.Node) {
		return nil, nil, fmt.Errorf("%s does not run: restart it first", o.Node)
	}
	f := n.faces[o.Node]
	n.ends(f, o.Verb)
	r := n.receipt(o.Verb, o.Detail())
	r.counts = new(fault.Counts)
	f.by[o.Verb] = r
	return f, r, nil
}

// ends ends the fault of a verb, and returns its receipt; nil where there is none.
func (n *Network) ends(f *face, verb string) *Effect {
	r := f.by[verb]
	if r != nil {
		r.Until = min(r.Until, n.now)
		delete(f.by, verb)
	}
	return r
}

// falter does an order of a runner. The receipt is nil where the verb leaves none.
func (n *Network) falter(o *fault.Order) (*Effect, error) {
	switch o.Verb {
	case "drop":
		return n.Drop(o.Node)
	case "rejoin":
		return n.Rejoin(o)
	case "restart":
		return nil, n.Restart(o.Node)
	}
	if !n.Running(o.Node) {
		return nil, fmt.Errorf("%s does not run: restart it first", o.Node)
	}
	if mends(o) {
		return n.recover(o), nil
	}
	f, r, err := n.begins(o)
	if err != nil {
		return nil, err
	}
	switch o.Verb {
	case "blackhole":
		f.Swallow(r.counts)
	case "saturate":
		f.Saturate(r.counts)
		n.working[o.Node].Drain(true, "saturated")
	case "slow":
		f.Slow(o.Delay, r.counts)
	case "flap":
		f.Flap(o.Up, o.Down, o.Times, r.counts, func() { n.ends(f, o.Verb) })
	case "misbehave":
		return r, f.Behave(o.Kind, r.counts)
	}
	return r, nil
}

// mends says whether an order ends what others of its verb did.
func mends(o *fault.Order) bool {
	switch o.Verb {
	case "blackhole", "saturate":
		return !o.On
	case "slow":
		return o.Delay == 0
	case "misbehave":
		return o.Kind == fault.Honest
	}
	return false
}

// recover ends a fault of a runner, and returns what that did.
func (n *Network) recover(o *fault.Order) *Effect {
	f := n.faces[o.Node]
	switch o.Verb {
	case "blackhole":
		f.Swallow(nil)
	case "saturate":
		f.Saturate(nil)
		n.working[o.Node].Drain(false, "")
	case "slow":
		f.Slow(0, nil)
	case "misbehave":
		f.Honest()
	}
	n.trace.fault(n.now, o.String()+" ends")
	return n.ends(f, o.Verb)
}

// Drop ends a runner's process; its connections close, without a Goodbye.
func (n *Network) Drop(name string) (*Effect, error) {
	one := n.find(name)
	if one.process == nil {
		return nil, fmt.Errorf("%s does not run", name)
	}
	r := n.receipt("drop", name)
	r.Cut, r.Ended = one.process.live(), 1
	one.death = r
	for s := one.process.connections.first; s != nil; s = s.next {
		s.close(connection.CodeDone, "")
	}
	one.process.connections.closed = true // who closes says no more
	n.trace.plain(n.now, kindCrash, one)
	n.kill(one.process)
	n.reap()
	n.unface(name)
	return r, nil
}

// rejoining is a runner that comes back when a height is final.
type rejoining struct {
	name  string
	at    types.Height
	fresh bool // under another key
}

// Rejoin ends a runner's process and starts it again so many blocks later.
func (n *Network) Rejoin(o *fault.Order) (*Effect, error) {
	r, err := n.Drop(o.Node)
	if err != nil {
		return nil, err
	}
	r.Verb, r.Detail = o.Verb, o.Detail()
	n.rejoins = append(n.rejoins, rejoining{o.Node, n.tip + types.Height(o.AfterBlocks), o.NewIdentity})
	return r, nil
}

// rejoined starts those whose time has come.
func (n *Network) rejoined() {
	left := n.rejoins[:0]
	for _, one := range n.rejoins {
		if one.at > n.tip {
			left = append(left, one)
			continue
		}
		n.After(0, func() {
			if err := n.comeBack(one); err != nil && n.failure == nil {
				n.failure = err
			}
		})
	}
	n.rejoins = left
}

func (n *Network) comeBack(one rejoining) error {
	if n.Running(one.name) { // somebody restarted it
		return nil
	}
	if one.fresh {
		n.renew(one.name)
	}
	return n.Restart(one.name)
}

// renew gives a runner that is down its next key, and has it registered.
func (n *Network) renew(name string) {
	node, i := n.find(name), 0
	for n.byAddress[wallet.RunnerIdentity(n.config.World.Seed, name, i).Address()] != nil {
		i++
	}
	key := wallet.RunnerIdentity(n.config.World.Seed, name, i)
	n.keys[name], n.nonces[name] = key, 0
	node.parts.Signer, node.address = n.scheme.Signer(key), key.Address()
	n.byAddress[node.address] = node
	n.register(name)
}
