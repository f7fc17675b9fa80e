package executor

import (
	"context"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Kind does jobs of one kind. It is safe for concurrent use.
type Kind interface {
	// Capabilities returns the words for its offer, besides the kind's own word.
	Capabilities() []string
	// Accepts says why it does not take a job of its kind, nil where it does. The
	// job is sound by itself (push.JobSpec.Check).
	Accepts(*push.JobSpec) *execution.Refusal
	// Do returns the result of a job that it accepts. It returns soon after the
	// context has ended, and leaves no process or file.
	Do(context.Context, *Job) ([]byte, error)
}

// Job is work under way.
type Job struct {
	ID   execution.ID
	Spec *push.JobSpec
	tell func(fraction uint8, detail string)
}

// NewJob makes the work of a job; tell may be nil.
func NewJob(id execution.ID, spec *push.JobSpec, tell func(fraction uint8, detail string)) *Job {
	return &Job{ID: id, Spec: spec, tell: tell}
}

// Progress reports the progress of the work in percent, with words for people. A percent
// that does not exceed the last is dropped, and control characters of the words become
// spaces. It may be called from any goroutine.
func (j *Job) Progress(fraction uint8, detail string) {
	if j.tell != nil {
		j.tell(fraction, detail)
	}
}
