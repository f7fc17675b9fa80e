package types

// JobStatus is the status of a job (CIP-2).
type JobStatus string

// The states of a job. It ends once, as Completed or Failed.
const (
	JobPending   JobStatus = "Pending"   // it waits to be drawn
	JobAssigned  JobStatus = "Assigned"  // a committee has it
	JobExecuting JobStatus = "Executing" // a runner committed (decision J5)
	JobCompleted JobStatus = "Completed"
	JobFailed    JobStatus = "Failed"
)

// Ended reports whether the status is an end.
func (s JobStatus) Ended() bool { return s == JobCompleted || s == JobFailed }

// JobDisagreement is the error of a job whose results all came, and fewer agree than
// it asks for (decision J19). All other failures judged none.
const JobDisagreement = "disagreement"

// JobInvalidResults is the error of a job whose results all came, and fewer pass the spec's
// format and checks than its threshold.
const JobInvalidResults = "invalid_results"

// JobChangeKind is what a block did to a job.
type JobChangeKind string

// The kinds of change, by the names that faces show.
const (
	JobChangeSubmitted  JobChangeKind = "submitted"
	JobChangeWaiting    JobChangeKind = "waiting" // the block that submitted it, or took it from a committee, drew no committee
	JobChangeDrawn      JobChangeKind = "drawn"
	JobChangeCommitted  JobChangeKind = "committed"
	JobChangeRevealed   JobChangeKind = "revealed"
	JobChangeRefused    JobChangeKind = "refused" // a runner gave its place back; Error is its reason
	JobChangeRetried    JobChangeKind = "retried" // its committee was released; Committee lists it
	JobChangeCancelled  JobChangeKind = "cancelled"
	JobChangeCompleted  JobChangeKind = "completed"
	JobChangeFailed     JobChangeKind = "failed"
	JobChangeCalledBack JobChangeKind = "called_back" // the outcome was delivered; it has ID, At, Error, and as Submitter who was called
)

// JobChange is what a block did to one job. Block results list them in the order
// they happened. It is not encoded anywhere: stores and faces define their own
// records.
type JobChange struct {
	Kind      JobChangeKind
	ID        Hash
	Seq       Seq
	Submitter *Address
	At        Height
	Status    JobStatus // after the change
	Attempts  uint32    // draws made
	Since     Height    // of the last draw, or since when it waits
	Committee []Address // in the order drawn; for the end of an attempt, its committee
	Drawn     []Height  // of each of Committee: the block that drew it
	Submitted *JobSubmission
	Runner    *Address // who committed, refused, revealed or won
	Validator *Address // who brought the commitment, the refusal or the result
	// Commitment is set for committed, Result for revealed.
	Commitment Hash
	Result     []byte
	Agreed     []Address // of completed: the members whose results agree, the winner first
	Price      Wei       // of completed
	// Discredited is set for completed: runners whose results differ, of earlier attempts first.
	Discredited []Address
	// Left is set for waiting, and for failed without candidates: runners by the filter
	// that leaves each out, by the filter's number (selection.Reason); nil: not counted.
	Left  []uint32
	Draw  *JobDraw // of drawn
	Error *Fault   // of cancelled, failed, refused and retried; of called_back why the handler failed, nil where it did not
}

// JobSubmission is what a job is from its beginning on.
type JobSubmission struct {
	Spec          []byte // canonical
	Escrow        Wei    // that the submitter paid
	TimeoutBlocks uint64
	CommitBlocks  uint64 // of these, for commitments; a single runner makes none
}

// JobDraw is what one draw followed from: enough to do it again by hand.
//
// Spec: CIP-11 §§9.2 to 9.4, decision J2.
type JobDraw struct {
	_ struct{} `cbor:",toarray"`
	// Basis is, of a first draw, the hash of the parent of the block that drew; of a retry
	// the seed of the first draw.
	Basis      Hash
	Seed       Hash
	Favoured   *Address // whose weight is multiplied in the first step; nil: no runner
	Multiplier uint32
	Number     uint32 // of candidates
	// Candidates lists all of them, sorted by address; empty if there were too many.
	Candidates []DrawCandidate
}

// DrawCandidate is a runner that may be drawn, and its weight.
type DrawCandidate struct {
	_      struct{} `cbor:",toarray"`
	Runner Address
	Weight uint64 // 1 to 257
}
