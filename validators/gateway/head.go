package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Head is the newest final block, and the chain as it left it.
type Head struct {
	Height types.Height
	// Skipped is how many of the heights since the head before this have no block
	// (decision C8): they make nothing older.
	Skipped  uint64
	Params   *params.Params // never changed
	Rotation *selection.Rotation
	Pace     selection.Pace
	Reader   Reader
	// Registry identifies all registrations and is only compared: if it equals that of the
	// head before, Reader.Runner answers as it did. A nil Registry is unknown.
	Registry any
}

// Reader reads the state of a head. The same question has the same answer while the
// head is current. Its results are never changed.
type Reader interface {
	// Runner returns a runner's registration, nil if there is none.
	Runner(types.Address) *Registration
	// Assignments lists those of a runner that are open, in the order in which they
	// were drawn: it is in the committee, and neither its result nor its reveal is
	// final.
	Assignments(types.Address) []Assignment
	// Assignment returns one of them, nil if it is not open. Its cost does not grow with
	// their number.
	Assignment(types.Address, AssignmentID) *Assignment
	// Changed lists the jobs of which an assignment may differ from the head before, ended
	// and new ones included. If it is not known, all may.
	Changed() (jobs []types.Hash, known bool)
	// Spec returns the JobSpec of an open job.
	Spec(job types.Hash) *push.JobSpec
	// Ending says how an assignment came to its end that was open at the head before
	// and is not at this one.
	Ending(runner types.Address, a AssignmentID) Ending
}

// Registration is a runner's entry in the registry (0x01).
type Registration struct {
	Index         int          // the index of its bit (decision J12)
	Since         types.Height // of the registration
	Deregistered  bool
	Stake         types.Wei
	MaxJobs       uint64       // how many jobs it does at once
	LastHeartbeat types.Height // on chain (decision J18)
}

// AssignmentID names what is delivered: a job, and the block that drew its runner.
// A later draw of the same job is another assignment.
type AssignmentID struct {
	Job   types.Hash
	Drawn types.Height
}

// Assignment is a job for one runner of its committee.
type Assignment struct {
	AssignmentID
	Spec         types.Hash   // of the JobSpec
	MaxReturn    uint64       // bytes of its result, at most
	Deadline     types.Height // the last block that takes a result
	CommitEnd    types.Height // the last block that takes a commitment (decision J15)
	Committee    int          // how many runners the job has; one of one commits nothing
	AllCommitted bool         // every member has
	Commitments  []types.Hash // of this runner: none, or the one that counts
}

// Ending is the outcome of an assignment.
type Ending uint8

// The endings. For Reassigned, Expired and Failed, a JobCancel states the reason
// given here (CIP-11 §10.5).
const (
	Landed     Ending = iota // the runner's own result is final: there is nothing to cancel
	Reassigned               // the deadline passed and there are retries left
	Expired                  // the deadline passed and there are none, or the others settled the job
	Failed                   // it was cancelled, or failed otherwise
)
