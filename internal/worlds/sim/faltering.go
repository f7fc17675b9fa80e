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
func (c *crew) faced(name string, node env.Runner) env.Runner {
	c.unface(name)
	mask, node := byzantine.NewRunnerMask(node)
	c.faces[name] = &face{mask, map[string]*Effect{}}
	return node
}

// unface ends what a runner's process did wrong.
func (c *crew) unface(name string) {
	if f := c.faces[name]; f != nil {
		for _, r := range f.by { // order: each is ended alike
			r.Until = min(r.Until, c.now)
		}
		clear(f.by)
	}
}

// begins is the receipt of a fault of a running runner, in place of the one of that
// verb before.
func (c *crew) begins(o *fault.Order) (*face, *Effect, error) {
	if !c.Running(o.Node) {
		return nil, nil, fmt.Errorf("%s does not run: restart it first", o.Node)
	}
	f := c.faces[o.Node]
	c.ends(f, o.Verb)
	r := c.receipt(o.Verb, o.Detail())
	r.counts = new(fault.Counts)
	f.by[o.Verb] = r
	return f, r, nil
}

// ends ends the fault of a verb, and returns its receipt; nil if there is none.
func (c *crew) ends(f *face, verb string) *Effect {
	r := f.by[verb]
	if r != nil {
		r.Until = min(r.Until, c.now)
		delete(f.by, verb)
	}
	return r
}

// falter does an order of a runner. The receipt is nil where the verb leaves none.
func (c *crew) falter(o *fault.Order) (*Effect, error) {
	switch o.Verb {
	case "drop":
		return c.Drop(o.Node)
	case "rejoin":
		return c.Rejoin(o)
	case "restart":
		return nil, c.Restart(o.Node)
	}
	if !c.Running(o.Node) {
		return nil, fmt.Errorf("%s does not run: restart it first", o.Node)
	}
	if o.Mends() {
		return c.recover(o), nil
	}
	f, r, err := c.begins(o)
	if err != nil {
		return nil, err
	}
	switch o.Verb {
	case "blackhole":
		f.Swallow(r.counts)
	case "saturate":
		f.Saturate(r.counts)
		c.working[o.Node].Drain(true, "saturated")
	case "capability":
		f.Offer(*o, r.counts)
		c.working[o.Node].Change(o.Add, o.Remove)
	case "slow":
		f.Slow(o.Delay, r.counts)
	case "flap":
		f.Flap(o.Up, o.Down, o.Times, r.counts, func() { c.ends(f, o.Verb) })
	case "misbehave":
		return r, f.Behave(o.Kind, r.counts)
	}
	return r, nil
}

// recover ends a fault of a runner, and returns what that did.
func (c *crew) recover(o *fault.Order) *Effect {
	f := c.faces[o.Node]
	switch o.Verb {
	case "blackhole":
		f.Swallow(nil)
	case "saturate":
		f.Saturate(nil)
		c.working[o.Node].Drain(false, "")
	case "slow":
		f.Slow(0, nil)
	case "misbehave":
		f.Honest()
	}
	c.trace.fault(c.now, o.String()+" ends")
	return c.ends(f, o.Verb)
}

// Drop ends a runner's process; its connections close, without a Goodbye.
func (c *crew) Drop(name string) (*Effect, error) {
	one := c.find(name)
	if one.process == nil {
		return nil, fmt.Errorf("%s does not run", name)
	}
	r := c.receipt("drop", name)
	r.Cut, r.Ended = one.process.live(), 1
	one.death = r
	c.fell(one)
	return r, nil
}

// fell ends a runner's process, whose connections close without a Goodbye.
func (c *crew) fell(one *node) {
	for s := one.process.connections.first; s != nil; s = s.next {
		s.close(connection.CodeDone, "")
	}
	one.process.connections.closed = true // who closes says no more
	c.trace.plain(c.now, kindCrash, one)
	one.process.kill()
	c.reap()
	c.unface(one.name)
}

// rejoining is a runner that restarts when a height is final.
type rejoining struct {
	name  string
	at    types.Height
	fresh bool // under another key
}

// Rejoin ends a runner's process and starts it again the ordered number of blocks
// later.
func (c *crew) Rejoin(o *fault.Order) (*Effect, error) {
	r, err := c.Drop(o.Node)
	if err != nil {
		return nil, err
	}
	r.Verb, r.Detail = o.Verb, o.Detail()
	c.rejoins = append(c.rejoins, rejoining{o.Node, c.tip + types.Height(o.AfterBlocks), o.NewIdentity})
	return r, nil
}

// rejoined starts those whose time has come.
func (c *crew) rejoined() {
	left := c.rejoins[:0]
	for _, one := range c.rejoins {
		if one.at > c.tip {
			left = append(left, one)
			continue
		}
		c.After(0, func() {
			if err := c.comeBack(one); err != nil && c.failure == nil {
				c.failure = err
			}
		})
	}
	c.rejoins = left
}

func (c *crew) comeBack(one rejoining) error {
	if c.Running(one.name) { // it was restarted meanwhile
		return nil
	}
	if one.fresh {
		c.renew(one.name)
	}
	return c.Restart(one.name)
}

// renew gives a runner that is down its next key, and has it registered.
func (c *crew) renew(name string) {
	node, i := c.find(name), 0
	for c.byAddress[wallet.RunnerIdentity(c.config.World.Seed, name, i).Address()] != nil {
		i++
	}
	key := wallet.RunnerIdentity(c.config.World.Seed, name, i)
	c.keys[name], c.nonces[name] = key, 0
	node.parts.Signer, node.address = c.scheme.Signer(key), key.Address()
	c.byAddress[node.address] = node
	c.register(name)
}
