package live

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// RunnerRuns implements scenario.Backend.
func (s *Stage) RunnerRuns(name string) bool {
	return slices.ContainsFunc(s.RunnerList(), func(r *box.Runner) bool { return r.Name == name && r.Running() })
}

// Answer implements scenario.Backend: to all of the network's own runners that wait.
func (s *Stage) Answer(job types.Hash, given execution.Given) error {
	refused := fmt.Errorf("job %s does not wait for an answer here", job)
	if took := s.Network.Answer(job, given, func(_ string, err error) { refused = err }); len(took) > 0 {
		refused = nil
	}
	return s.noteVerb(refused, "answer ", job)
}
