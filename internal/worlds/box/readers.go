package box

import (
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/readmodel"
	"github.com/cowboyinc/devnet/internal/base/refusal"
)

// readers is how the final state and the history of each validator are read.
type readers struct {
	nodes   *nodeList
	runners *runnerList
	views   *readmodel.Source
}

// Reader implements api.Backend.
func (r *readers) Reader(name string) (answers.Reader, error) {
	if name != "" && r.runners.findRunner(name) != nil {
		return nil, answers.NoState(name)
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
