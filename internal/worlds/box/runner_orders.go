package box

import (
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// AnswerJob implements answers.Steering.
func (h operator) AnswerJob(job types.Hash, given execution.Given) (answered []types.Address, err error) {
	if err := h.network.Need(network.Answers); err != nil {
		return nil, err
	}
	var refused error
	answered = h.network.Answer(job, given, func(runner string, err error) {
		refused = refusal.New("bad_result", "%s: %v", runner, err).At(given.Field())
	})
	if len(answered) == 0 {
		return nil, refused
	}
	return answered, nil
}

// ReloadRunner implements answers.Steering.
func (h operator) ReloadRunner(name string) error {
	return h.network.runnerList.reloadRunner(name)
}
