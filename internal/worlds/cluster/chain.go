package cluster

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// maxResults bounds the results that are remembered: a validator that is further behind
// has its blocks executed again.
const maxResults = 4096

// chain executes here, once each, the blocks that nodes made final. The shown state of
// a node thus follows from its blocks, and not from its own reports. It is safe for
// concurrent use.
type chain struct {
	executor ledger.Executor

	mu      sync.Mutex
	results map[types.Hash]*executed // by block
	order   []types.Hash             // of results, oldest first
}

// executed is what executing a block gave.
type executed struct {
	*ledger.Result
	writes *history.BlockWrites // that it leaves in a store; nil until one is written
}

func newChain(x ledger.Executor) *chain {
	return &chain{executor: x, results: map[types.Hash]*executed{}}
}

// applyBlock executes a block on its parent's state. Its error is a *ledger.Invalid, the
// fault of the node with that final block, or a *ledger.EnvironmentError, a fault of
// this machine.
func (c *chain) applyBlock(parent *ledger.State, block *types.Block) (*ledger.Result, error) {
	hash := block.Hash()
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.results[hash]; known != nil && block.Header.Parent == parent.Hash() {
		return known.Result, nil
	}
	result, err := c.executor.Apply(parent, block)
	if err != nil {
		return nil, err
	}
	if len(c.order) == maxResults {
		delete(c.results, c.order[0])
		c.order = c.order[1:]
	}
	c.results[hash], c.order = &executed{Result: result}, append(c.order, hash)
	return result, nil
}

// shareWrites gives what a result leaves in a store, made once.
func (c *chain) shareWrites(result *ledger.Result, make func() *history.BlockWrites) *history.BlockWrites {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.results[result.Hash]
	if known == nil || known.Result != result {
		return make()
	}
	if known.writes == nil {
		known.writes = make()
	}
	return known.writes
}
