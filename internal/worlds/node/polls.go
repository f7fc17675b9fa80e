package node

import (
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Answering answers what a runner asks a validator of the same process, or leaves it
// without an answer.
type Answering func(runner types.Address, q polling.Question, answer func(polling.Answer))

// NewPolls has a runner poll validators of this process (env.Polls).
func NewPolls(runner types.Address, ask Answering) env.Polls { return &polls{runner: runner, ask: ask} }

// polls are the polls of one run of a runner. They are safe for concurrent use.
type polls struct {
	runner  types.Address
	ask     Answering
	receive func(polling.Answer)
	closed  atomic.Bool
}

// Start implements env.Polls.
func (p *polls) Start(receive func(polling.Answer)) error {
	p.receive = receive
	return nil
}

// Ask implements env.Polls. A separate goroutine reads a final state for each
// question.
func (p *polls) Ask(q polling.Question) {
	go p.ask(p.runner, q, func(a polling.Answer) {
		if !p.closed.Load() {
			p.receive(a)
		}
	})
}

// Close implements env.Polls.
func (p *polls) Close() error {
	p.closed.Store(true)
	return nil
}
