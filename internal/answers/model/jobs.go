package model

import "github.com/cowboyinc/devnet/internal/base/types"

// Job is a job in any state.
type Job struct {
	ID               types.Hash      `json:"id"`
	Kind             string          `json:"kind"`
	Submitter        types.Address   `json:"submitter"`
	Mode             string          `json:"mode" enum:"none,economic_bond,majority_vote,structured_match,deterministic,semantic_similarity"`
	Runners          uint64          `json:"runners" doc:"How many it asks for: the size of its committee."`
	Status           string          `json:"status" enum:"Pending,Assigned,Executing,Completed,Failed"`
	Committee        []types.Address `json:"committee" doc:"Runners in the order drawn; empty while it is Pending."`
	CommitteeDrawnAt []types.Height  `json:"committee_drawn_at" doc:"Height of the block that drew each runner of the committee. It is above assigned_at for a runner that took the place of one that refused."`
	Attempts         uint32          `json:"attempts" doc:"Draws made."`
	SubmittedAt      types.Height    `json:"submitted_at"`
	AssignedAt       *types.Height   `json:"assigned_at" doc:"Height of the last draw; null before the first."`
	Deadline         types.Height    `json:"deadline" doc:"The last height that takes results, or at which a job that waits may be drawn."`
	CommitDeadline   *types.Height   `json:"commit_deadline" doc:"The last height that takes commitments; null while it waits, and of one runner."`
	CompletedAt      *types.Height   `json:"completed_at" doc:"Also of a failure; null while it is open."`
	Result           *types.Bytes    `json:"result" nullable:"true" doc:"The winner's."`
	Winner           *types.Address  `json:"winner" nullable:"true"`
	Error            *Fault          `json:"error" doc:"Why it failed: timeout, no_candidates, refused, disagreement, invalid_results or cancelled."`
	Pool             *JobPool        `json:"pool" doc:"For a waiting job: runners that the next block may draw. For a job that failed as it waited for runners: those that it might have drawn. Null for other jobs, and in lists."`
	TimeoutBlocks    uint64          `json:"timeout_blocks"`
	MaxPrice         types.Wei       `json:"max_price"`
	Tip              types.Wei       `json:"tip"`
	Escrow           types.Wei       `json:"escrow" doc:"Escrow of the submitter: max_price, tip and the callback's limits (decision J7)."`
	Price            *types.Wei      `json:"price" nullable:"true" doc:"Payment to its runners and the treasury; null unless it is Completed."`
	Callback         *JobCallback    `json:"callback" doc:"Null if it has none."`
	Spec             types.Bytes     `json:"spec" doc:"The canonical JobSpec as CBOR, with submitter and submitted_at."`
}

// JobCallback is the handler that gets the outcome of a job.
type JobCallback struct {
	_       struct{}      `nullable:"true"`
	Actor   types.Address `json:"actor"`
	Handler string        `json:"handler"`
}

// JobState is the answer of GET /job/{id}/status.
type JobState struct {
	ID     types.Hash `json:"id"`
	Status string     `json:"status" enum:"Pending,Assigned,Executing,Completed,Failed"`
}

// The outcomes of a runner of a committee, of all draws.
const (
	RunnerPending   = "pending"
	RunnerAgreed    = "agreed"
	RunnerDisagreed = "disagreed"
	RunnerSilent    = "silent"
	RunnerRefused   = "refused"
)

// JobRunner is a runner of one draw, and what it did.
type JobRunner struct {
	Address     types.Address `json:"address"`
	Attempt     uint32        `json:"attempt" doc:"Of draws, from 1."`
	CommittedAt *types.Height `json:"committed_at" doc:"Height of its first commitment; null without one, and for the job of a single runner."`
	RevealedAt  *types.Height `json:"revealed_at" doc:"Height of its result; null without one."`
	Outcome     string        `json:"outcome" enum:"pending,agreed,disagreed,silent,refused" doc:"silent: no result arrived in that attempt. refused: the runner gave its place back, for the reason in the story. pending includes a job that was cancelled meanwhile."`
}

// JobResult is a runner's result on the chain in one draw.
type JobResult struct {
	Runner      types.Address   `json:"runner"`
	Attempt     uint32          `json:"attempt"`
	Commitments []JobCommitment `json:"commitments" doc:"In the order they came."`
	RevealedAt  *types.Height   `json:"revealed_at"`
	Result      *types.Bytes    `json:"result" nullable:"true" doc:"Null before it is revealed, and where bare ones were asked for."`
}

// JobCommitment is one that a validator brought.
type JobCommitment struct {
	Validator  types.Address `json:"validator"`
	Height     types.Height  `json:"height"`
	Commitment types.Hash    `json:"commitment"`
}

// JobVerified is the answer of GET /job/{id}/verified.
type JobVerified struct {
	ID       types.Hash     `json:"id"`
	Verified bool           `json:"verified" doc:"It is Completed: enough results agree."`
	Result   *types.Bytes   `json:"result" nullable:"true"`
	Winner   *types.Address `json:"winner" nullable:"true"`
}

// Kinds of events of a job, in blocks and outside the chain.
const (
	JobSubmitted   = "submitted"
	JobWaiting     = "waiting"
	JobDrawn       = "drawn"
	JobPushed      = "pushed"
	JobAcked       = "acked"
	JobProgressed  = "progress"
	JobResulted    = "result"
	JobCommitted   = "committed"
	JobRefused     = "refused"
	JobRevealed    = "revealed"
	JobRetried     = "retried"
	JobCancelled   = "cancelled"
	JobCompleted   = "completed"
	JobFailed      = "failed"
	JobCalledBack  = "called_back"
	JobHardFailure = "hard_failure"
	JobNotTaken    = "not_taken"
)

// JobEvent is an event of a job: a change by a block, or a validator's sighting
// outside the chain. Fields that say nothing of it are null.
type JobEvent struct {
	ID        types.Hash      `json:"id"`
	Height    types.Height    `json:"height" doc:"Height of the block; for a sighting of a validator, of the next final block."`
	What      string          `json:"what" enum:"submitted,waiting,drawn,pushed,acked,progress,result,committed,refused,revealed,retried,cancelled,completed,failed,called_back,hard_failure,not_taken"`
	Attempt   uint32          `json:"attempt" doc:"Draws made; 0 where who saw it does not know."`
	Committee []types.Address `json:"committee" doc:"Committee of the attempt; empty if it has none, or if the validator that saw it does not know."`
	Runner    *types.Address  `json:"runner" nullable:"true"`
	Validator *types.Address  `json:"validator" nullable:"true" doc:"Validator that included or saw it."`
	Outcome   *string         `json:"outcome" enum:"Success,Duplicate,SoftFailure,HardFailure" nullable:"true" doc:"Of a delivery (CIP-11 §10.6)."`
	Fraction  *uint8          `json:"fraction" nullable:"true" doc:"For progress, in hundredths."`
	Rejected  *string         `json:"rejected" enum:"Capacity,Unsupported,MissingEntitlement,BadSpec,Expired" nullable:"true" doc:"For an ack that rejects: the reason (CIP-11 §10.2)."`
	Detail    *string         `json:"detail" nullable:"true" doc:"The runner's words, of progress and of an ack; of not_taken why the validator did not take the result."`
	Error     *Fault          `json:"error"`
	// AfterMicros is in microseconds.
	AfterMicros *uint64        `json:"after_us" doc:"For acked: microseconds from the push to the answer, by the clock of the validator that pushed."`
	Favoured    *types.Address `json:"favoured" nullable:"true" doc:"For drawn: the runner that the MRU record favours (CIP-11 §9.4); null if none is in force."`
	Pool        *JobPool       `json:"pool" doc:"For waiting, and for failed while it waited: the runners that could be drawn at the end of the block. Null where a block has too many of these to count."`

	// Submitter is the job's submitter, for readers that select events; nil if the
	// validator does not know it.
	Submitter *types.Address `json:"-"`
}

// Seen reports whether it is a validator's sighting outside the chain: no block has
// it.
func (e *JobEvent) Seen() bool {
	switch e.What {
	case JobPushed, JobAcked, JobProgressed, JobResulted, JobHardFailure, JobNotTaken:
		return true
	}
	return false
}

// JobStory is all that final blocks did to a job, and what validators saw of it.
type JobStory struct {
	Job    Job          `json:"job"`
	Height types.Height `json:"height" doc:"Height of the latest final block, the end of the story."`
	Story  []JobEvent   `json:"story" doc:"In the order of blocks; sightings of validators precede the block that follows them. Only the latest sightings are kept, until the validators restart."`
	Next   *int         `json:"next" doc:"The offset from which to ask on; null where all is told."`
}

// PolledJob is an assignment as GET /runner/{addr}/jobs tells it.
type PolledJob struct {
	JobID         types.Hash   `json:"job_id"`
	JobSpec       types.Bytes  `json:"job_spec" doc:"The canonical JobSpec as CBOR."`
	BlockHeight   types.Height `json:"block_height" doc:"Of the draw."`
	DeadlineBlock types.Height `json:"deadline_block" doc:"The last block that takes a result."`
}

// HeartbeatRequest is the body of POST /runner/{addr}/heartbeat: a HeartbeatPing.
type HeartbeatRequest struct {
	BlockHeight types.Height    `json:"block_height"`
	Nonce       uint64          `json:"nonce"`
	Signed      types.Signature `json:"signed" doc:"As of a HeartbeatPing on the wire."`
}

// ResultRequest is the body of POST /runner/{addr}/job_result: a JobResult.
type ResultRequest struct {
	JobID        types.Hash       `json:"job_id"`
	ResultData   types.Bytes      `json:"result_data"`
	RunnerSigned types.Signature  `json:"runner_signed" doc:"As of a JobResult on the wire."`
	CommitSigned *types.Signature `json:"commit_signed,omitempty" nullable:"true" doc:"As of a JobResult on the wire; absent for a job of one runner."`
}

// RefusalRequest is the body of POST /runner/{addr}/job_refusal: a JobAck that rejects,
// without its own signature.
type RefusalRequest struct {
	JobID         types.Hash      `json:"job_id"`
	Reject        string          `json:"reject" enum:"Capacity,Unsupported,MissingEntitlement,BadSpec" doc:"As of a JobAck on the wire. The end of the assignment (Expired) does not count as a refusal."`
	Reason        *string         `json:"reason,omitempty" nullable:"true" doc:"For people: at most 256 bytes of UTF-8 without control characters. It is in the error of a job that ends refused."`
	RefusalSigned types.Signature `json:"refusal_signed" doc:"As of a JobAck on the wire: over chain, job, block_height, hash of job_spec, reject and reason."`
}

// Reported is the answer to what a runner brings that polls: a validator took it.
type Reported struct {
	Hash *types.Hash `json:"hash,omitempty" nullable:"true" doc:"Hash of the runner transaction of a heartbeat. Absent for a result, whose commitment and reveal follow, and for a refusal."`
}
