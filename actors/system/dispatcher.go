package system

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// permille is a share of 1 in thousandths.
const permille = 1000

// wordBytes is how many bytes make a token, as the chain counts them (decision
// J19).
const wordBytes = 4

// JobEvent is the data of the dispatcher's events about a job: what is not of its
// time is null.
type JobEvent struct {
	ID        types.Hash      `cbor:"id"`
	Attempt   uint32          `cbor:"attempt"` // draws made
	Committee []types.Address `cbor:"committee"`
	Runner    *types.Address  `cbor:"runner"`    // who committed, revealed or won
	Validator *types.Address  `cbor:"validator"` // who sent the commitment or the result
	Price     *types.Wei      `cbor:"price"`
	Error     *string         `cbor:"error"`
}

func (j *Job) newJobEvent() JobEvent {
	return JobEvent{ID: j.ID, Attempt: j.Attempts, Committee: j.MemberAddresses()}
}

// MemberAddresses lists the members that have not refused, in the order drawn.
func (j *Job) MemberAddresses() []types.Address {
	committee := make([]types.Address, 0, len(j.Committee))
	for i := range j.Committee {
		if m := &j.Committee[i]; m.Refused == 0 {
			committee = append(committee, m.Runner)
		}
	}
	return committee
}

// DrawHeights lists the heights of the blocks that drew them.
func (j *Job) DrawHeights() []types.Height {
	drawn := make([]types.Height, 0, len(j.Committee))
	for i := range j.Committee {
		if m := &j.Committee[i]; m.Refused == 0 {
			drawn = append(drawn, m.Drawn)
		}
	}
	return drawn
}

// submitJob enters a job, whose submitter pays all that it may cost. The draw follows
// when the block attends to its jobs.
//
// Spec: CIP-2, decisions J1, J7, J19.
func (b *InBlock) submitJob(submitter types.Address, payload []byte) (Effect, *types.Fault) {
	spec, fault := b.parseSpec(payload, submitter)
	if fault != nil {
		return Effect{}, fault
	}
	jobs := JobsOf(b.State)
	if jobs.Open >= b.Params.MaxOpenJobs {
		return Effect{}, newFault("too_many_jobs", "%d jobs are open, at most %d", jobs.Open, b.Params.MaxOpenJobs)
	}
	j := &Job{Seq: jobs.Next, Submitter: submitter, At: b.Height, Since: b.Height, Status: Pending, Kind: spec.JobType.Kind(),
		Terms: b.termsOf(spec)}
	escrow, ok := j.Terms.escrowOk()
	if !ok || !b.State.Move(submitter, types.DispatcherAddress, escrow) {
		return Effect{}, newFault("insufficient_funds", "%s cannot pay max_price, tip and the callback's limits into escrow", submitter)
	}
	j.ID = push.JobID(submitter, b.nextNonce(submitter), b.Height)
	encoded := codec.Marshal(spec)
	b.State.SetStorage(types.DispatcherAddress, keySpec(j.ID), encoded)
	b.putJob(j)
	b.indexJob(j)
	jobs.Next++
	jobs.Open++
	b.setJobs(jobs)
	effect := Effect{Output: j.ID[:]}
	effect.Cycles, effect.Cells = b.costOf(j)
	change := j.newChange(types.JobChangeSubmitted, b.Height)
	change.Submitted = &types.JobSubmission{Spec: encoded, Escrow: escrow, TimeoutBlocks: j.Terms.TimeoutBlocks,
		CommitBlocks: j.Terms.CommitBlocks}
	effect.addJobChange(types.DispatcherAddress, change, j.newJobEvent())
	return effect, nil
}

// nextNonce counts a submitter's jobs; the first is 0.
func (b *InBlock) nextNonce(submitter types.Address) (nonce uint64) {
	if data, found := actors.StorageOf(b.State, types.DispatcherAddress, keyNonce(submitter)); found {
		nonce = binary.BigEndian.Uint64(data)
	}
	b.State.SetStorage(types.DispatcherAddress, keyNonce(submitter), binary.BigEndian.AppendUint64(nil, nonce+1))
	return nonce
}

// termsOf returns the parts of a spec that decide the job's further course, under the
// current parameters.
func (b *InBlock) termsOf(o *push.JobSpec) Terms {
	v := &o.Verification
	t := Terms{Subject: o.JobType.Subject(), TEE: v.TEERequired, Runners: v.Runners, Threshold: (2*v.Runners + 2) / 3, Mode: v.Mode,
		MaxPrice: o.MaxPrice, Tip: o.Tip, TimeoutBlocks: o.TimeoutBlocks, MaxRetries: min(o.Bounds.MaxRetries, b.Params.MaxRetries),
		CommitBlocks: max(1, o.TimeoutBlocks*b.Params.CommitPermille/permille), MaxReturn: o.ResultSchema.MaxReturnBytes}
	if o.RequiredRunnerPool != nil {
		t.Pool = *o.RequiredRunnerPool
	}
	if v.Threshold != nil {
		t.Threshold = *v.Threshold
	}
	for _, check := range v.Checks {
		if check.Tolerance != nil {
			t.Tolerances = append(t.Tolerances, check.Tolerance.Permille)
		}
	}
	if o.Callback != nil {
		t.Callback, t.PriceCycle, t.PriceCell = true, b.BaseFeeCycle, b.BaseFeeCell
		t.Cycles = min(b.Params.CallbackCycles, b.Params.LaneSystemCycles) // what any delivery may have
		t.Cells = min(b.Params.CallbackCells, b.Params.CellsLimit)
	}
	t.Usage = Usage{Seconds: divideUp(o.ResultSchema.ExpectedExecutionMS, 1000), MemoryMB: o.Bounds.MaxMemoryMB}
	if llm := o.JobType.Llm; llm != nil {
		t.Usage.InputTokens = divideUp(uint64(len(llm.Prompt)), wordBytes)
		if llm.SystemPrompt != nil {
			t.Usage.InputTokens += divideUp(uint64(len(*llm.SystemPrompt)), wordBytes)
		}
	}
	return t
}

// divideUp is n / d rounded up, also next to 2^64.
func divideUp(n, d uint64) uint64 {
	if n == 0 {
		return 0
	}
	return (n-1)/d + 1
}

// cancelJob ends a job for its submitter, who gets all of the escrow back.
//
// Spec: decision J19.
func (b *InBlock) cancelJob(sender types.Address, payload []byte) (Effect, *types.Fault) {
	if len(payload) != len(types.Hash{}) {
		return Effect{}, newFault("malformed", "the payload of cancel is the 32 bytes of a job's id")
	}
	j := JobOf(b.State, types.Hash(payload))
	switch {
	case j == nil:
		return Effect{}, newFault("no_job", "there is no open job %s: it ended, or never was", types.Hash(payload))
	case j.Submitter != sender:
		return Effect{}, newFault("not_submitter", "job %s was submitted by %s", j.ID, j.Submitter)
	}
	var effect Effect
	b.unindexJob(j)
	b.releaseCommittee(j)
	b.moveMoney(types.DispatcherAddress, j.Submitter, j.Terms.escrowAmount())
	b.forgetJob(j)
	b.endWithoutResult(j, types.JobChangeCancelled, ErrorCancelled, &effect)
	return effect, nil
}

// releaseCommittee takes a job from its committee, and with it what it did.
func (b *InBlock) releaseCommittee(j *Job) {
	for _, m := range j.Committee {
		if m.Refused > 0 {
			continue // it was let go
		}
		b.letGo(m.Runner, standingOf(b.State, m.Runner))
		if m.Committed > 0 {
			b.State.DeleteStorage(types.VerifierAddress, keyCommitment(j.ID, m.Runner))
		}
		if m.RevealedAt > 0 {
			b.State.DeleteStorage(types.VerifierAddress, keyResult(j.ID, m.Runner))
		}
	}
}

// letGo takes a job from a runner with a standing.
func (b *InBlock) letGo(runner types.Address, s *Standing) {
	s.ActiveJobs--
	if b.setStanding(runner, s); s.Health == selection.Deregistered && s.ActiveJobs == 0 {
		b.awaitReturn(RunnerOf(b.State, runner))
	}
}

// forgetJob takes an ended job out of state. Its money and its committee are settled,
// and it is out of the indexes.
func (b *InBlock) forgetJob(j *Job) {
	b.State.DeleteStorage(types.DispatcherAddress, keyJob(j.ID))
	b.State.DeleteStorage(types.DispatcherAddress, keySpec(j.ID))
	b.State.DeleteStorage(types.VerifierAddress, keyEarlier(j.ID))
	jobs := JobsOf(b.State)
	jobs.Open--
	b.setJobs(jobs)
}
