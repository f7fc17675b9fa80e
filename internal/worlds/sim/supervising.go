package sim

import (
	"errors"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
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

// ended is told that a node stopped by itself. A node that a role took along ends as at a crash, and starts anew if its strategy says so.
func (n *Network) ended(name string, err error) { n.runnerNodes.ended(name, err) }

// ended is Network.ended.
func (c *runnerNodes) ended(name string, err error) {
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
		one.fall()
		c.orders.ProcessEnded(name)
		if along.Strategy != roles.Restart || !one.restarts.Allow(c.now) {
			return
		}
		if err := c.Boot(name); err != nil {
			c.failed(err)
		}
	})
}
