// Package execution has a runner's requests to its executor and the reports back,
// as plain values: the terms that the runner's core and the environment's executors
// (env.Executor) share. None of it is sent or belongs to consensus.
package execution

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// ID names work that an executor is asked for once. A later draw of the same job
// is other work.
type ID struct {
	Job   types.Hash
	Drawn types.Height // the block_height of its JobAssignment
}

// What is the kind of a Report.
type What uint8

// Kinds of reports. Done or Failed is the last report on a work item.
const (
	Progress What = iota
	Done
	Failed
)

// MaxDetail bounds the words of a report, in bytes: they go into a JobProgress.
const MaxDetail = push.MaxText

// Report is an executor's report on running work.
type Report struct {
	ID       ID
	What     What
	Fraction uint8  // of Progress: percent, greater than any before
	Detail   string // of Progress and Failed: words for people, of at most MaxDetail bytes
	Result   []byte // of Done: within the bounds of the job
	// Refusal is of Failed: what made the work fail is of the job, and no fault of the
	// runner's. It is nil of every other failure.
	Refusal *Refusal
}

// Failure reports that work failed. An error that wraps a *Refusal refuses the job.
func Failure(id ID, err error) Report {
	report := Report{ID: id, What: Failed, Detail: Clip(err.Error())}
	errors.As(err, &report.Refusal)
	return report
}

// Refusal is why an executor does not do a job: before any work, or where the work showed that the
// job cannot be done by it. It is what an ack with Reject says.
type Refusal struct {
	Reason push.RejectReason
	Detail string // at most MaxDetail bytes
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Reason, r.Detail) }

// Refuse makes a Refusal.
func Refuse(reason push.RejectReason, format string, args ...any) *Refusal {
	return &Refusal{reason, Clip(fmt.Sprintf(format, args...))}
}

// Clip cuts a text to MaxDetail bytes, at the border of a character.
func Clip(text string) string {
	if len(text) <= MaxDetail {
		return text
	}
	end := MaxDetail
	for end > 0 && text[end]&0xc0 == 0x80 {
		end--
	}
	return text[:end]
}
