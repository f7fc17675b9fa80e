package box

import (
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/readmodel"
)

// readers is how the final state and the history of each validator are read.
type readers struct {
	nodes   *nodeList
	runners *runnerList
	views   *readmodel.Source
}

// Reader implements api.Backend.
func (r *readers) Reader(name string) (api.Reader, error) {
	if name != "" && r.runners.findRunner(name) != nil {
		return nil, api.NoState(name)
	}
	if name != "" {
		node, err := r.nodes.findRunning(name)
		if err != nil {
			return nil, err
		}
		return r.views.Of(node.Validator()), nil
	}
	node := r.nodes.Best()
	v := node.Validator()
	if v == nil {
		return nil, refusal.New("node_stopped", "%s is not running", node.Name).At("node")
	}
	return r.views.Of(v), nil
}
