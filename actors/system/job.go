package system

import (
	"encoding/binary"
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Status is the status of a job. An ended job is no longer in state.
type Status = types.JobStatus

// The states of a job (CIP-2).
const (
	Pending   = types.JobPending
	Assigned  = types.JobAssigned
	Executing = types.JobExecuting
	Completed = types.JobCompleted
	Failed    = types.JobFailed
)

// The errors of failed jobs (decision J19).
const (
	ErrorTimeout      = "timeout"
	ErrorNoCandidates = "no_candidates"
	ErrorDisagreement = types.JobDisagreement
	ErrorCancelled    = "cancelled"
	ErrorRefused      = "refused" // decision J21
	// ErrorInvalidResults is a disagreement in which too few results count.
	ErrorInvalidResults = types.JobInvalidResults
)

// Job is an open job. Its spec is a separate record, and is not read to draw it.
type Job struct {
	_         struct{} `cbor:",toarray"`
	ID        types.Hash
	Seq       types.Seq // in the order of submission
	Submitter types.Address
	At        types.Height // of submission
	Terms     Terms
	Status    Status
	Attempts  uint32          // draws made
	Seed      types.Hash      // of the first draw, zero before it
	Since     types.Height    // of the last draw, or since when it waits
	Committee []Member        // in the order drawn; empty while Pending
	Excluded  []types.Address // sorted: who was silent (decision J6)
	Kind      push.JobKind
	Vacant    bool   // a place of its committee is to be drawn again, and was not tried yet
	Refusals  uint32 // by members of its committees
	Declined  uint32 // draws whose whole committee refused in time
	Ended     string // the code of how its last draw ended without completing it; "" if none did
	Why       string // of the last refusal, or of results that do not count
}

// Terms are the parts of a spec that decide the job's further course.
type Terms struct {
	_             struct{} `cbor:",toarray"`
	Subject       string
	TEE           bool
	Pool          string
	Runners       uint64
	Threshold     uint64
	Mode          push.Mode
	MaxPrice      types.Wei
	Tip           types.Wei
	TimeoutBlocks uint64
	CommitBlocks  uint64 // of TimeoutBlocks, as the parameter was at submission
	MaxRetries    uint64
	MaxReturn     uint64
	Usage         Usage
	Tolerances    []uint64 // of StructuredMatch, in permille
	Callback      bool
	PriceCycle    types.Wei // base fees of submission, for the callback
	PriceCell     types.Wei
	Cycles        types.Cycles // of the callback
	Cells         types.Cells
}

// Usage is the part of a job's price that is known at submission.
type Usage struct {
	_           struct{} `cbor:",toarray"`
	Seconds     uint64
	InputTokens uint64
	MemoryMB    uint64
}

// Member is a runner of a committee, and what it did.
type Member struct {
	_          struct{} `cbor:",toarray"`
	Runner     types.Address
	Card       RateCard     // when it was drawn: what it is paid by
	Committed  types.Height // of its first commitment; 0: none
	RevealedAt types.Height // 0: not
	Claim      Claim
	Bytes      uint64       // of its result
	Refused    types.Height // 0: not; then it is a member no more, and its place is empty
	Drawn      types.Height // of the block that drew it
}

// Owes reports whether the member's answer is still to come: it neither revealed a result
// nor refused the job.
func (m *Member) Owes() bool { return m.RevealedAt == 0 && m.Refused == 0 }

// isLate reports whether a member took an emptied place, and so has less time than the job
// gives.
func (j *Job) isLate(m *Member) bool { return m.Drawn > j.Since }

// JobOf returns an open job, or nil.
func JobOf(s actors.Reader, id types.Hash) *Job {
	return loadRecord[Job](s, types.DispatcherAddress, keyJob(id))
}

// Deadline is the last height that takes results, or at which a job that waits may
// still be drawn (decisions J4, J6).
func (j *Job) Deadline() types.Height { return j.Since + types.Height(j.Terms.TimeoutBlocks) }

// CommitDeadline is the last height that takes commitments (decision J15).
func (j *Job) CommitDeadline() types.Height { return j.Since + types.Height(j.Terms.CommitBlocks) }

// newChange returns a block's effect on the job, with the job's current status.
func (j *Job) newChange(kind types.JobChangeKind, at types.Height) types.JobChange {
	return types.JobChange{Kind: kind, ID: j.ID, Seq: j.Seq, Submitter: &j.Submitter, At: at,
		Status: j.Status, Attempts: j.Attempts, Since: j.Since,
		Committee: j.MemberAddresses(), Drawn: j.DrawHeights()}
}

// memberOf returns a runner of the committee, or nil.
func (j *Job) memberOf(runner types.Address) *Member {
	i := slices.IndexFunc(j.Committee, func(m Member) bool { return m.Runner == runner && m.Refused == 0 })
	if i < 0 {
		return nil
	}
	return &j.Committee[i]
}

// takesReveals reports whether reveals are taken in a block: every member committed
// in an earlier one, or the commit deadline passed (decision J15).
func (j *Job) takesReveals(height types.Height) bool { return height >= j.Reveals() }

// DrawnOf returns the height of the block that drew a member of the committee; 0 if the
// runner is none.
func (j *Job) DrawnOf(runner types.Address) types.Height {
	if m := j.memberOf(runner); m != nil {
		return m.Drawn
	}
	return 0
}

// AllCommitted reports whether every member committed. A runner that refused is a member no
// more; its place counts until it was tried to draw it again.
//
// Spec: decisions J15, J21.
func (j *Job) AllCommitted() bool {
	return !slices.ContainsFunc(j.Committee, func(m Member) bool { return m.Committed == 0 && (m.Refused == 0 || j.Vacant) })
}

// Reveals returns the first height whose block takes reveals, by the current state:
// after the time to commit, or after the block in which the last of the committee
// committed.
func (j *Job) Reveals() types.Height {
	if !j.AllCommitted() {
		return j.CommitDeadline() + 1
	}
	last := types.Height(0)
	for i := range j.Committee {
		last = max(last, j.Committee[i].Committed)
	}
	return min(last, j.CommitDeadline()) + 1
}

// drawSeed is the seed of the last draw of a whole committee (decisions J2, J6).
func (j *Job) drawSeed() types.Hash {
	if j.Attempts <= 1 {
		return j.Seed
	}
	return selection.RetrySeed(j.Seed, j.Attempts-1)
}

// demandOf lists the conditions that its runners must meet.
func (j *Job) demandOf() selection.Demand {
	return selection.Demand{Kind: j.Kind, Subject: j.Terms.Subject, TEE: j.Terms.TEE, Pool: j.Terms.Pool, MaxPrice: j.Terms.MaxPrice}
}

// callbackCost is the price of the callback's limits: they were paid, so it fits.
func (t *Terms) callbackCost() types.Wei {
	if !t.Callback {
		return types.Wei{}
	}
	return t.PriceCycle.Mul(uint64(t.Cycles)).Add(t.PriceCell.Mul(uint64(t.Cells)))
}

// escrowAmount is a job's part of the balance of 0x02 (decision J7).
func (t *Terms) escrowAmount() types.Wei { return t.MaxPrice.Add(t.Tip).Add(t.callbackCost()) }

// escrowOk is escrow before it was paid; ok is false from 2^256 on.
func (t *Terms) escrowOk() (sum types.Wei, ok bool) {
	if t.Callback {
		cycles, fits := t.PriceCycle.MulOk(uint64(t.Cycles))
		cells, fitsToo := t.PriceCell.MulOk(uint64(t.Cells))
		if sum, ok = cycles.AddOk(cells); !fits || !fitsToo || !ok {
			return types.Wei{}, false
		}
	}
	if sum, ok = sum.AddOk(t.MaxPrice); !ok {
		return types.Wei{}, false
	}
	return sum.AddOk(t.Tip)
}

// putJob writes an open job.
func (b *InBlock) putJob(j *Job) { b.storeRecord(types.DispatcherAddress, keyJob(j.ID), j) }

// indexJob enters a job among those that wait, or not, and under its deadline.
func (b *InBlock) indexJob(j *Job) {
	if j.Status == Pending {
		b.State.Set(keyWaiting(j.Since, j.Seq), j.ID[:])
	}
	if j.Vacant {
		b.State.Set(keyVacant(j.Seq), j.ID[:])
	}
	b.State.Set(keyDeadline(j.Deadline(), j.Seq), j.ID[:])
}

// unindexJob takes it out again. It is called before the status or the deadline moves.
func (b *InBlock) unindexJob(j *Job) {
	if j.Status == Pending {
		b.State.Set(keyWaiting(j.Since, j.Seq), nil)
	}
	if j.Vacant {
		b.State.Set(keyVacant(j.Seq), nil)
	}
	b.State.Set(keyDeadline(j.Deadline(), j.Seq), nil)
}

// Jobs is the dispatcher's record of all jobs together.
type Jobs struct {
	_      struct{}  `cbor:",toarray"`
	Next   types.Seq // of the next job
	Open   uint64
	Cursor Place      // of the next job of the round
	Left   uint64     // draws of the round that are left, at most; 0: no round
	Pool   types.Hash // of the last block with waiting jobs (pool)
}

// Place is where a job waits: by the height since which it does, then by submission.
type Place struct {
	_     struct{} `cbor:",toarray"`
	Since types.Height
	Seq   types.Seq
}

// JobsOf returns it.
func JobsOf(s actors.Reader) Jobs {
	if jobs := loadRecord[Jobs](s, types.DispatcherAddress, keyJobs); jobs != nil {
		return *jobs
	}
	return Jobs{}
}

func (b *InBlock) setJobs(jobs Jobs) { b.storeRecord(types.DispatcherAddress, keyJobs, &jobs) }

// NextDeadline returns the lowest deadline of an open job; ok is false if no job is
// open. In the block after it something is due.
func NextDeadline(s actors.Reader) (deadline types.Height, ok bool) {
	s.Scan([]byte(prefixDeadline), keyAfterPrefix(prefixDeadline), func(key, _ []byte) bool {
		deadline, ok = types.Height(binary.BigEndian.Uint64(key[len(prefixDeadline):])), true
		return false
	})
	return deadline, ok
}

// OpenJobs calls each for every open job, by deadline, until it returns false.
func OpenJobs(s actors.Reader, each func(*Job) bool) {
	s.Scan([]byte(prefixDeadline), keyAfterPrefix(prefixDeadline), func(_, id []byte) bool { return each(JobOf(s, types.Hash(id))) })
}

// keyAfterPrefix returns the smallest key above all with a prefix.
func keyAfterPrefix(prefix string) []byte {
	end := []byte(prefix)
	end[len(end)-1]++
	return end
}
