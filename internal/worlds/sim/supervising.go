package sim

import (
	"errors"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// supervisedActors are the actors of a process: a validator's, or a runner's.
type supervisedActors struct {
	supervisor
	contracts *fault.Contracts // nil of a runner
}

// supervisor is a validator, or a runner.
type supervisor interface {
	Upset(role string, hang time.Duration, order *roles.Ordered) error
}

// Contracts implements byzantine.Actors.
func (s *supervisedActors) Contracts() *fault.Contracts { return s.contracts }

// onNodeEnded is told that a node stopped by itself. A node that a role took along ends as at a crash, and starts anew if its strategy says
// so.
func (n *Network) onNodeEnded(name string, err error) { n.runnerNodes.onNodeEnded(name, err) }

// onNodeEnded is Network.onNodeEnded.
func (c *runnerNodes) onNodeEnded(name string, err error) {
	var along *roles.Failure
	if !errors.As(err, &along) {
		c.keepFailure(err)
		return
	}
	if roles.OrderOf(along.Reason) == nil {
		c.keepFailure(err) // a bug: the run has failed
		return
	}
	process := c.findNode(name).process
	c.After(0, func() { // between steps
		one := c.findNode(name)
		if process == nil || one.process != process {
			return
		}
		one.crashBetweenSteps()
		c.orders.ProcessEnded(name)
		if along.Strategy != roles.Restart || !one.restarts.Allow(c.now) {
			return
		}
		if err := c.Boot(name); err != nil {
			c.keepFailure(err)
		}
	})
}
