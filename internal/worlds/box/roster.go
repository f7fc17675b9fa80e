package box

import (
	"context"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// roster is the nodes of both kinds, by name. They are started, stopped, added and
// faulted one at a time, while all others stay as they are, until the network is
// closed.
type roster struct {
	origin  *origin
	nodes   *nodeList
	runners *runnerList
	turn    *network.Turn // of starting and stopping nodes
}

// doAlone runs do while no other caller starts or stops a node. It refuses by network.ErrClosed.
func (r *roster) doAlone(do func() error) error { return r.turn.Do(context.Background(), do) }

// stopRunners ends all runners in good order.
func (r *roster) stopRunners() (errs []error) {
	leaveAll(r.runners.RunnerList())
	for _, one := range r.runners.RunnerList() {
		errs = append(errs, one.Stop())
	}
	return errs
}

// stopNodes ends all validators in good order.
func (r *roster) stopNodes() (errs []error) {
	for _, node := range r.nodes.List() {
		errs = append(errs, node.Stop())
	}
	return errs
}

// refuseUnknownName refuses a name that no node has, and says which there are.
func (r *roster) refuseUnknownName(name string) error {
	if here := r.origin.config.Here; here != nil {
		return refusal.New("unknown_node", "no node called %q runs in this process, which runs only %s", name, here.Name).
			Hint("Ask the HTTP API of the process that runs it.").At("node")
	}
	nodes := r.nodes.List()
	there := fmt.Sprintf("%s to %s", nodes[0].Name, nodes[len(nodes)-1].Name)
	if all := r.runners.RunnerList(); len(all) > 0 {
		there += fmt.Sprintf(" and %s to %s", all[0].Name, all[len(all)-1].Name)
	}
	return refusal.New("unknown_node", "no node is called %q", name).
		Hint("They are %s; GET /ready lists them.", there).At("node")
}
