package history

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// JobRecord is a job in any state.
type JobRecord struct {
	JobEntry
	JobStanding
	DrawnAt types.Height // of the last draw; 0: none was made
}

// JobEntry is what a job is from its beginning on.
type JobEntry struct {
	_             struct{} `cbor:",toarray"`
	ID            types.Hash
	Seq           types.Seq // in the order of submission
	Submitter     types.Address
	SubmittedAt   types.Height
	Spec          []byte    // canonical
	Escrow        types.Wei // that the submitter paid
	TimeoutBlocks uint64
	CommitBlocks  uint64
}

// JobStanding is the status of a job. For an ended job it has the last attempt.
type JobStanding struct {
	_         struct{} `cbor:",toarray"`
	Status    types.JobStatus
	Attempts  uint32          // draws made
	Since     types.Height    // of the last draw, or since when it waits or waited
	Committee []types.Address // in the order drawn; empty while it waits
	Drawn     []types.Height  // of each of Committee: the block that drew it
	EndedAt   types.Height    // 0: it is open
	Winner    *types.Address
	Price     *types.Wei
	Error     *types.Fault
}

// Deadline is the last height that takes results, or at which a job that waits may
// still be drawn.
func (r *JobRecord) Deadline() types.Height { return r.Since + types.Height(r.TimeoutBlocks) }

// CommitDeadline is the last height that takes commitments.
func (r *JobRecord) CommitDeadline() types.Height { return r.Since + types.Height(r.CommitBlocks) }

// JobNote is one thing that a block did to a job. Results are stored separately.
type JobNote struct {
	_          struct{} `cbor:",toarray"`
	Kind       types.JobChangeKind
	ID         types.Hash
	At         types.Height
	Submitter  *types.Address  // of called_back, who was called
	Attempt    uint32          // draws made
	Committee  []types.Address // of drawn, and of notes that end an attempt
	Runner     *types.Address
	Validator  *types.Address
	Commitment types.Hash      // of committed
	Agreed     []types.Address // of completed
	Differed   []types.Address // of completed: whose results, of any attempt, differ
	Error      *types.Fault
	Left       []uint32 // of waiting and failed, as in types.JobChange
}

// wasJudged reports whether the note ends an attempt with enough results to compare:
// too few cannot be judged (decision J19).
func (n *JobNote) wasJudged() bool {
	switch {
	case n.Kind == types.JobChangeCompleted:
		return true
	case n.Kind != types.JobChangeFailed && n.Kind != types.JobChangeRetried || n.Error == nil:
		return false
	}
	return n.Error.Code == types.JobDisagreement || n.Error.Code == types.JobInvalidResults
}

// jobMark is what a block did to a job, in the order it happened.
type jobMark struct {
	_    struct{} `cbor:",toarray"`
	ID   types.Hash
	Kind types.JobChangeKind
}

const (
	maxJobBytes     = types.MaxTransactionBytes + 4096 // of a record: its spec came in a transaction
	maxJobNoteBytes = 64 << 10
	maxJobMarkBytes = types.MaxBlockBytes
)

// jobStatuses number the states in the index of them.
var jobStatuses = []types.JobStatus{types.JobPending, types.JobAssigned, types.JobExecuting, types.JobCompleted, types.JobFailed}

func statusKey(s types.JobStatus, seq types.Seq) []byte {
	return append([]byte{byte(slices.Index(jobStatuses, s))}, seqKey(seq)...)
}

func ofAddress(a types.Address, seq types.Seq) []byte {
	return append(append([]byte{}, a[:]...), seqKey(seq)...)
}

func noteKey(id types.Hash, height []byte, index int) []byte {
	return binary.BigEndian.AppendUint32(append(append([]byte{}, id[:]...), height...), uint32(index))
}

func resultKey(id types.Hash, attempt uint32, runner types.Address) []byte {
	return append(binary.BigEndian.AppendUint32(append([]byte{}, id[:]...), attempt), runner[:]...)
}

func drawKey(id types.Hash, attempt uint32) []byte {
	return binary.BigEndian.AppendUint32(append([]byte{}, id[:]...), attempt)
}

// writeJobs keeps what a block did to jobs.
func (w *writes) writeJobs(result *ledger.Result) {
	if len(result.Jobs) == 0 {
		return
	}
	height := heightKey(result.Block.Header.Height)
	marks := make([]jobMark, len(result.Jobs))
	last := map[types.Hash]int{} // the last change of each job in the block
	for i := range result.Jobs {
		c := &result.Jobs[i]
		marks[i] = jobMark{ID: c.ID, Kind: c.Kind}
		w.writeJobChange(c, height, i)
		if c.Kind != types.JobChangeCalledBack {
			last[c.ID] = i
		}
	}
	w.putKey(bucketJobMarks, height, codec.Marshal(marks))
	for i := range result.Jobs {
		if c := &result.Jobs[i]; c.Kind != types.JobChangeCalledBack && last[c.ID] == i {
			w.writeStatus(c)
		}
	}
}

// writeJobChange keeps one change of a job.
func (w *writes) writeJobChange(c *types.JobChange, height []byte, index int) {
	note := JobNote{Kind: c.Kind, ID: c.ID, At: c.At, Submitter: c.Submitter, Attempt: c.Attempts, Runner: c.Runner, Validator: c.Validator,
		Commitment: c.Commitment, Agreed: c.Agreed, Differed: c.Discredited, Error: c.Error, Left: c.Left}
	switch c.Kind {
	case types.JobChangeSubmitted:
		s := c.Submitted
		w.putKey(bucketJobs, c.ID[:], codec.Marshal(&JobEntry{ID: c.ID, Seq: c.Seq, Submitter: *c.Submitter, SubmittedAt: c.At, Spec: s.Spec,
			Escrow: s.Escrow, TimeoutBlocks: s.TimeoutBlocks, CommitBlocks: s.CommitBlocks}))
		w.putKey(bucketJobOrder, seqKey(c.Seq), c.ID[:])
		w.putKey(bucketSubmitterJobs, ofAddress(*c.Submitter, c.Seq), c.ID[:])
	case types.JobChangeDrawn:
		note.Committee = c.Committee
		if c.Draw != nil {
			w.putKey(bucketJobDraws, drawKey(c.ID, c.Attempts), codec.Marshal(c.Draw))
		}
		for _, runner := range c.Committee {
			w.putKey(bucketRunnerJobs, ofAddress(runner, c.Seq), c.ID[:])
		}
	case types.JobChangeRevealed:
		w.putKey(bucketJobResults, resultKey(c.ID, c.Attempts, *c.Runner), c.Result)
	case types.JobChangeRetried, types.JobChangeCancelled, types.JobChangeCompleted, types.JobChangeFailed:
		note.Committee = c.Committee
	case types.JobChangeWaiting, types.JobChangeCommitted, types.JobChangeRefused, types.JobChangeCalledBack:
	default:
		panic(fmt.Sprintf("history: the change of job %s at height %d has an unknown kind", c.ID, c.At))
	}
	w.putKey(bucketJobNotes, noteKey(c.ID, height, index), codec.Marshal(&note))
}

// writeStatus stores a job's status after its last change in a block.
func (w *writes) writeStatus(c *types.JobChange) {
	s := JobStanding{Status: c.Status, Attempts: c.Attempts, Since: c.Since, Committee: c.Committee, Drawn: c.Drawn}
	if c.Status == types.JobPending {
		s.Committee, s.Drawn = nil, nil
	}
	if c.Status.Ended() {
		s.EndedAt, s.Error = c.At, c.Error
	}
	if c.Kind == types.JobChangeCompleted {
		s.Winner, s.Price = c.Runner, &c.Price
	}
	w.putKey(bucketJobStandings, c.ID[:], codec.Marshal(&s))
	for _, status := range jobStatuses {
		if status == c.Status {
			w.putKey(bucketStatusJobs, statusKey(status, c.Seq), c.ID[:])
		} else {
			w.removeKey(bucketStatusJobs, statusKey(status, c.Seq))
		}
	}
}

// removeJobs drops what a block did to jobs: of those that it ended all there is.
func (a *Archive) removeJobs(w *writes, h types.Height) error {
	marks, err := a.jobMarks(h)
	if err != nil {
		return err
	}
	w.removeKey(bucketJobMarks, heightKey(h))
	for i, mark := range marks {
		switch mark.Kind {
		case types.JobChangeCancelled, types.JobChangeCompleted, types.JobChangeFailed:
			err = a.removeJob(w, mark.ID)
		case types.JobChangeCalledBack:
			w.removeKey(bucketJobNotes, noteKey(mark.ID, heightKey(h), i)) // its job may be gone before it
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *Archive) removeJob(w *writes, id types.Hash) error {
	record, err := a.Job(id)
	if err != nil || record == nil {
		return err
	}
	err = a.eachNote(id, false, func(n *JobNote) bool {
		for _, runner := range n.Committee {
			w.removeKey(bucketRunnerJobs, ofAddress(runner, record.Seq))
		}
		return true
	})
	if err != nil {
		return err
	}
	w.removeKey(bucketJobs, id[:])
	w.removeKey(bucketJobStandings, id[:])
	w.removeKey(bucketJobOrder, seqKey(record.Seq))
	w.removeKey(bucketSubmitterJobs, ofAddress(record.Submitter, record.Seq))
	w.removeKey(bucketStatusJobs, statusKey(record.Status, record.Seq))
	for _, bucket := range []env.Bucket{bucketJobNotes, bucketJobDraws} {
		if err := a.removeAll(w, bucket, id[:]); err != nil {
			return err
		}
	}
	return a.removeAll(w, bucketJobResults, id[:])
}
