package stage

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// RunnerRuns implements scenario.Backend.
func (s *Stage) RunnerRuns(name string) bool {
	return slices.ContainsFunc(s.RunnerList(), func(r *box.Runner) bool { return r.Name == name && r.Running() })
}

// JoinRunner implements scenario.Backend.
func (s *Stage) JoinRunner(string) error {
	return scenario.Unable("net.join_runner", "a live network does not start runners later yet")
}

// LeaveRunner implements scenario.Backend.
func (s *Stage) LeaveRunner(string) error {
	return scenario.Unable("net.leave_runner", "a live network does not let its runners go yet")
}

// Answer implements scenario.Backend: to all of the network's own runners that wait.
func (s *Stage) Answer(job types.Hash, result []byte) error {
	refused := fmt.Errorf("job %s does not wait for an answer here", job)
	for _, r := range s.RunnerList() {
		manual := r.Manual()
		if manual == nil || !slices.Contains(manual.Waiting(), job) {
			continue
		}
		if refused = manual.Answer(job, result); refused != nil {
			break
		}
	}
	return s.done(refused, "answer ", job)
}
