package box

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
)

// supervisedNode is a node of this process, as the supervision of its roles finds it. A node
// elsewhere has its own supervision.
type supervisedNode struct {
	node     network.Node
	machine  *node.Machine
	restarts roles.Restarts
}

// roleWatcher is told that a role took a node along, in one of its lives: the node fails, or
// ends as at a crash and starts again from its disk, as the strategy says.
func (n *Network) roleWatcher(s *supervisedNode) func(life uint64, f *roles.Failure) {
	return func(life uint64, f *roles.Failure) {
		if f.Strategy != roles.Restart {
			s.machine.Fail(f)
			return
		}
		go func() { // who is told is a role of that node
			_ = n.doAlone(func() error {
				if s.machine.Started() && s.machine.Life() == life {
					n.restartOrFail(s, f)
				}
				return nil
			})
		}()
	}
}

// restartOrFail restarts a node that a role took along, or fails it if that happened too often.
// During the call no node is started or stopped.
func (n *Network) restartOrFail(s *supervisedNode, f *roles.Failure) {
	name := s.machine.Name
	if !s.restarts.Allow(n.clock.Now()) {
		s.machine.Fail(fmt.Errorf("%w; it was started again %d times within %v", f, roles.MaxRestarts, roles.RestartWindow))
		return
	}
	n.links.silenceNode(name)
	err := s.node.Kill(nil)
	n.ProcessEnded(name)
	if err == nil {
		err = s.node.Start()
	}
	if err != nil {
		s.machine.Fail(err)
		n.log.Error("a node that a role took along does not start again", "node", name, "error", err)
		return
	}
	n.log.Warn("a node was started again: a role had taken it along", "node", name, "why", f)
}
