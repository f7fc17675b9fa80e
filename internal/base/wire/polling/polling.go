// Package polling has the questions of a runner to validators without a connection, and
// their answers (CIP-11 §14, decision J11). The runner's core and the environment
// (env.Polls) share these words. An answer is not signed: it is a stranger's word.
package polling

import (
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// MaxJobs bounds the jobs of an answer: no runner may have more open assignments.
const MaxJobs = 1_024

// ID names a question of one run of a runner.
type ID uint64

// Question is for one validator. It brings Result, Refusal or Heartbeat if one of them is
// given, and otherwise asks for the page of the runner's jobs after After.
type Question struct {
	ID        ID
	Validator types.Validator
	Result    *push.JobResult
	Refusal   *push.JobAck // with Reject and refusal_signed; its own signature is not needed
	Heartbeat *push.HeartbeatPing
	After     Cursor
}

// Answer is what a validator answered.
type Answer struct {
	ID   ID
	Jobs []Job  // at most MaxJobs, to a question for jobs
	Next Cursor // of the page after them; zero if they are the last
	// Refused is why the validator does not do what was asked; "" where it does.
	Refused string
	// Lost says that no validator answered: it is down, or cannot be reached.
	Lost bool
}

// AssignmentID names an assignment: a job, and the block that drew its runners.
type AssignmentID = execution.ID

// Job is an assignment as a validator tells it.
type Job struct {
	ID       AssignmentID
	Spec     *push.JobSpec
	Deadline types.Height // the last block that takes a result
}
