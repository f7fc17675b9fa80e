package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// step is the current step of the machine: its time, and its output.
type step struct {
	now types.Time
	out Output
}

func (s *step) addReport(r Report)           { s.out.Report = append(s.out.Report, r) }
func (s *step) addSubmission(one Submission) { s.out.Submit = append(s.out.Submit, one) }

func (s *step) addVerb(v connection.Verb) {
	if s.out.Do == nil {
		s.out.Do = make([]connection.Verb, 0, mostlyDone)
	}
	s.out.Do = append(s.out.Do, v)
}

// mostlyDone is how many verbs have room from the first on: more than most steps have.
const mostlyDone = 4

// takeOutput returns the output of the step, and ends it.
func (s *step) takeOutput() Output {
	out := s.out
	s.out = Output{}
	return out
}
