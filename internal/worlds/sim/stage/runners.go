package stage

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// noRunners is why verbs that need a runner's process are refused.
const noRunners = "this world runs no runners yet"

// Runners implements scenario.Backend.
func (s *Stage) Runners() []api.NamedAccount { return nil }

// RunnerRuns implements scenario.Backend.
func (s *Stage) RunnerRuns(string) bool { return false }

// JoinRunner implements scenario.Backend.
func (s *Stage) JoinRunner(string) error { return scenario.Unable("net.join_runner", noRunners) }

// LeaveRunner implements scenario.Backend.
func (s *Stage) LeaveRunner(string) error { return scenario.Unable("net.leave_runner", noRunners) }

// Answer implements scenario.Backend.
func (s *Stage) Answer(types.Hash, []byte) error { return scenario.Unable("job.answer", noRunners) }
