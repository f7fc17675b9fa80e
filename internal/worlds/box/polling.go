package box

import (
	"context"
	"net/http"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/readmodel"
	"github.com/cowboyinc/devnet/validators/gateway"
)

// saw notes what the gateway of a validator reports, for the next block.
func (n *Network) saw(validator types.Address) func(string, gateway.Report) {
	return func(name string, report gateway.Report) {
		if n.config.tellRunners != nil {
			n.config.tellRunners(name, report)
		}
		n.finality.between(func(next types.Height) { n.sightings.Saw(next, validator, report) })
	}
}

// BringHeartbeat implements api.Backend.
func (n *Network) BringHeartbeat(ctx context.Context, name string, runner types.Address, ping *push.HeartbeatPing) (types.Hash, error) {
	node, err := n.running(name)
	if err != nil {
		return types.Hash{}, err
	}
	type answer struct {
		hash types.Hash
		err  error
	}
	a, err := awaited(ctx, node, func(done func(answer)) {
		node.Validator().BringHeartbeat(runner, ping, func(hash types.Hash, err error) { done(answer{hash, err}) })
	})
	if err == nil {
		err = readmodel.Refusal(a.err)
	}
	return a.hash, err
}

// BringResult implements api.Backend.
func (n *Network) BringResult(ctx context.Context, name string, runner types.Address, result *push.JobResult) error {
	node, err := n.running(name)
	if err != nil {
		return err
	}
	refused, err := awaited(ctx, node, func(done func(error)) { node.Validator().BringResult(runner, result, done) })
	if err == nil {
		err = readmodel.Refusal(refused)
	}
	return err
}

// running is the node of a name, or for "" the best, where its validator runs.
func (n *Network) running(name string) (*Node, error) {
	node := n.Best()
	if name != "" {
		i := slices.IndexFunc(n.List(), func(node *Node) bool { return node.Name == name })
		if i < 0 {
			return nil, api.Refuse(http.StatusNotFound, "unknown_node", "no node is called %q", name).
				Hint("GET /validators lists them.").At("node")
		}
		node = n.List()[i]
	}
	if node.Validator() == nil || !node.Running() {
		return nil, api.Refuse(http.StatusServiceUnavailable, "node_stopped", "%s is not running", node.Name).At("node")
	}
	return node, nil
}

// awaited waits for a node's answer, but not for ever.
func awaited[T any](ctx context.Context, node *Node, ask func(done func(T))) (answer T, err error) {
	answers := make(chan T, 1)
	ask(func(a T) { answers <- a })
	wait, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	select {
	case answer = <-answers:
		return answer, nil
	case <-wait.Done():
		return answer, api.Refuse(http.StatusServiceUnavailable, "no_answer", "%s did not answer: %v", node.Name, wait.Err())
	}
}
