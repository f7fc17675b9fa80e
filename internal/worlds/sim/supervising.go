package sim

import (
	"errors"

	"github.com/cowboyinc/devnet/internal/environment/roles"
)

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
