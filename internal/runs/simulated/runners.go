package simulated

import (
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Runners implements scenario.Backend.
func (s *Stage) Runners() (all []answers.NamedAccount) {
	for _, name := range s.Network.Runners() {
		all = append(all, answers.NamedAccount{Name: name, Address: s.Key(name).Address()})
	}
	return all
}

// RunnerLetters implements scenario.Backend.
func (s *Stage) RunnerLetters() map[types.Address]uint64 {
	all := map[types.Address]uint64{}
	for _, name := range s.Network.Runners() {
		all[s.Key(name).Address()] = s.Network.RunnerLetters(name)
	}
	return all
}

// RunnerRuns implements scenario.Backend.
func (s *Stage) RunnerRuns(name string) bool { return s.Running(name) }

// Answer implements scenario.Backend.
func (s *Stage) Answer(job types.Hash, given execution.Given) error {
	if err := s.Network.Answer(job, given); err != nil {
		return refusal.New("refused", "%v", err)
	}
	return nil
}
