package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
)

// supervised are the actors of a process: a validator's, or a runner's.
type supervised struct {
	supervisor
	contracts *fault.Contracts // nil of a runner
}

// supervisor is a validator, or a runner.
type supervisor interface {
	Upset(role string, hang time.Duration, order *roles.Ordered) error
}

// Contracts implements byzantine.Actors.
func (s *supervised) Contracts() *fault.Contracts { return s.contracts }

// Upset has an actor of a node that runs panic or hang: a role, the parent of its roles,
// or a contract with its next message.
func (n *Network) Upset(o *fault.Order) (*Effect, error) {
	process := n.find(o.Node).process
	if process == nil {
		return nil, fmt.Errorf("%s does not run", o.Node)
	}
	r := n.receipt(o.Verb, o.Detail())
	r.counts = new(fault.Counts)
	err := byzantine.Upset(&process.supervised, o, r.counts, func(after time.Duration) { r.Until = min(r.Until, n.now.Add(after)) })
	if err != nil {
		return nil, n.unmade(err)
	}
	return r, nil
}

// unmade takes the latest receipt back, of a fault that was refused.
func (e *effects) unmade(why error) error {
	e.receipts = e.receipts[:len(e.receipts)-1]
	return why
}

// ended is told that a node stopped by itself. A node that a role took along ends as
// at a crash, and is started again if its strategy is Restart.
func (n *Network) ended(name string, err error) { n.crew.ended(name, err) }

// ended is Network.ended.
func (c *crew) ended(name string, err error) {
	var along *roles.Failure
	if !errors.As(err, &along) {
		c.failed(err)
		return
	}
	if roles.OrderOf(along.Reason) == nil {
		c.failed(err) // a bug: the run has failed
		return
	}
	process := c.find(name).process
	c.After(0, func() { // between steps
		one := c.find(name)
		if process == nil || one.process != process {
			return
		}
		if slices.Contains(c.runners, name) {
			c.fell(one)
		} else {
			c.trace.plain(c.now, kindCrash, one)
			process.kill()
			c.reap()
		}
		if along.Strategy != roles.Restart || !one.restarts.Allow(c.now) {
			return
		}
		if err := c.Restart(name); err != nil {
			c.failed(err)
		}
	})
}
