package stage

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

// JoinRunner implements scenario.Backend. It returns when the registration is final.
func (s *Stage) JoinRunner(name string) error {
	name, err := s.Network.JoinRunner(s.ctx, name)
	if err != nil {
		return readable(err)
	}
	return s.done(nil, "join ", name)
}

// LeaveRunner implements scenario.Backend. It returns when the runner has left.
func (s *Stage) LeaveRunner(name string) error {
	return s.done(s.Network.LeaveRunner(s.ctx, name), "leave ", name)
}

// Answer implements scenario.Backend: to all of the network's own runners that wait.
func (s *Stage) Answer(job types.Hash, given execution.Given) error {
	refused, taken := fmt.Errorf("job %s does not wait for an answer here", job), false
	for _, r := range s.RunnerList() {
		manual := r.Manual()
		if manual == nil || !slices.Contains(manual.Waiting(), job) {
			continue
		}
		if err := manual.Answer(job, given); err != nil {
			refused = err
		} else {
			taken = true
		}
	}
	if taken {
		refused = nil
	}
	return s.done(refused, "answer ", job)
}
