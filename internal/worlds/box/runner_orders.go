package box

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// AnswerJob implements api.Steering.
func (h operator) AnswerJob(job types.Hash, given execution.Given) (answered []types.Address, err error) {
	if err := h.network.Need(network.Answers); err != nil {
		return nil, err
	}
	var refused error
	for _, r := range h.network.RunnerList() {
		manual := r.Manual()
		if manual == nil || !slices.Contains(manual.Waiting(), job) {
			continue
		}
		if err := manual.Answer(job, given); err != nil {
			refused = refusal.New("bad_result", "%s: %v", r.Name, err).At(api.GivenField(given))
			continue
		}
		answered = append(answered, r.Address)
	}
	if len(answered) == 0 {
		return nil, refused
	}
	return answered, nil
}

// ReloadRunner implements api.Steering.
func (h operator) ReloadRunner(name string) error {
	return h.network.runnerList.reload(name)
}
