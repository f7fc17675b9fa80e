package system

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Report is what a validator brings of a runner: the decoded arguments of a runner
// transaction, whose runner's signature was checked.
type Report interface {
	// Of returns the runner.
	Of() types.Address
	// To is the system actor that it is for.
	To() types.Address
	// Cycles returns its use of the runner lane in addition to the transaction's
	// own part.
	Cycles(*params.Params) types.Cycles
	// Precheck returns why a block cannot hold the report of this validator; nil if
	// it can.
	Precheck(*InBlock, types.Address) *types.Fault
	// Perform does what Precheck found nothing against.
	Perform(*InBlock, types.Address) Effect

	signedContent(chainID uint64) (digest types.Hash, sig types.Signature)
}

// The operations of runner transactions.
const (
	OpHeartbeat = "heartbeat"
	OpCommit    = "commit"
	OpReveal    = "reveal"
	OpResult    = "result"
)

// heightsAhead is how far above the next block a waiting heartbeat may be. With the next
// block that is two heights to come (decision J24).
const heightsAhead = 1

// Heartbeat is a runner's ping, with its signature (decision J18).
type Heartbeat struct {
	Runner      types.Address   `cbor:"runner"`
	BlockHeight types.Height    `cbor:"block_height"`
	Nonce       uint64          `cbor:"nonce"`
	Signed      types.Signature `cbor:"signed"`
}

// Commit is the commitment to a result, signed by its runner for one attempt
// (decision J5).
type Commit struct {
	JobID        types.Hash      `cbor:"job_id"`
	Drawn        types.Height    `cbor:"drawn"` // of the block that drew the committee
	Runner       types.Address   `cbor:"runner"`
	Commitment   types.Hash      `cbor:"commitment"`
	CommitSigned types.Signature `cbor:"commit_signed"`
}

// Reveal is a result with the runner's signature. One is a reveal for a committee,
// and a result for a single runner.
type Reveal struct {
	JobID        types.Hash      `cbor:"job_id"`
	Runner       types.Address   `cbor:"runner"`
	Result       []byte          `cbor:"result"`
	RunnerSigned types.Signature `cbor:"runner_signed"`

	single bool
}

// maxArgsBytes bounds the arguments of a report: the longest result there can be.
const maxArgsBytes = types.MaxTransactionBytes

// DecodeReport reads the arguments of a runner transaction and checks the runner's
// signature, by recovery. Its error is the sender's fault, whatever the state.
func DecodeReport(op string, args []byte, chainID uint64,
	recovered func(types.Hash, types.Signature) (types.Address, bool)) (Report, error) {
	var report Report
	switch op {
	case OpHeartbeat:
		report = new(Heartbeat)
	case OpCommit:
		report = new(Commit)
	case OpReveal, OpResult:
		report = &Reveal{single: op == OpResult}
	case OpRefuse:
		report = new(Refusal)
	default:
		return nil, fmt.Errorf("op %.80q is none of heartbeat, commit, refuse, reveal, result", op)
	}
	if err := codec.Unmarshal(args, maxArgsBytes, report); err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", op, err)
	}
	if reveal, ok := report.(*Reveal); ok && reveal.Result == nil {
		return nil, errors.New("a result is a byte string")
	}
	if refusal, ok := report.(*Refusal); ok {
		if why := refusal.asPushRefusal().Counts(); why != "" {
			return nil, errors.New("a refusal that does not count: " + why)
		}
	}
	digest, sig := report.signedContent(chainID)
	if signer, ok := recovered(digest, sig); !ok || signer != report.Of() {
		return nil, fmt.Errorf("the signature in %s is not that of runner %s", op, report.Of())
	}
	return report, nil
}

// Of implements Report.
func (h *Heartbeat) Of() types.Address { return h.Runner }
func (c *Commit) Of() types.Address    { return c.Runner }
func (r *Reveal) Of() types.Address    { return r.Runner }

// To implements Report.
func (*Heartbeat) To() types.Address { return types.RegistryAddress }
func (*Commit) To() types.Address    { return types.VerifierAddress }
func (*Reveal) To() types.Address    { return types.VerifierAddress }

// Cycles implements Report.
func (*Heartbeat) Cycles(p *params.Params) types.Cycles { return p.CostVerify + p.CostStorageWrite }
func (*Commit) Cycles(p *params.Params) types.Cycles    { return p.CostVerify + 2*p.CostStorageWrite }

// Cycles of a result pay for its signature, its hash, its reading and the settlement.
func (r *Reveal) Cycles(p *params.Params) types.Cycles {
	n := uint64(len(r.Result))
	words := (n + 31) / 32
	return p.CostVerify + 4*p.CostStorageWrite + types.Cycles(words)*p.CostKeccakWord + types.Cycles(n)*p.CostStringChar
}

func (h *Heartbeat) signedContent(chainID uint64) (types.Hash, types.Signature) {
	ping := push.HeartbeatPing{BlockHeight: h.BlockHeight, Nonce: h.Nonce}
	return ping.Digest(chainID), h.Signed
}

func (c *Commit) signedContent(chainID uint64) (types.Hash, types.Signature) {
	return push.CommitmentDigest(chainID, c.JobID, c.Drawn, c.Commitment), c.CommitSigned
}

func (r *Reveal) signedContent(chainID uint64) (types.Hash, types.Signature) {
	result := push.JobResult{JobID: r.JobID, ResultData: r.Result}
	return result.Digest(chainID), r.RunnerSigned
}

// Judge implements Report: decision J18.
func (h *Heartbeat) Precheck(b *InBlock, _ types.Address) *types.Fault {
	r := RunnerOf(b.State, h.Runner)
	switch {
	case r == nil:
		return newFault("not_registered", "there is no runner %s", h.Runner)
	case r.Health == selection.Deregistered:
		return newFault("deregistered", "runner %s was deregistered", h.Runner)
	case h.BlockHeight > b.Height+heightsAhead:
		return newFault("too_far_ahead", "a ping at height %d in block %d; at most %d", h.BlockHeight, b.Height, b.Height+heightsAhead)
	case h.BlockHeight > b.Height:
		return newFault("from_the_future", "a ping at height %d in block %d", h.BlockHeight, b.Height)
	case h.BlockHeight < r.LastHeartbeat || uint64(h.BlockHeight-r.LastHeartbeat) < b.Params.HeartbeatTxBlocks:
		return newFault("not_due", "a ping at height %d, the last heartbeat is %d: %d blocks lie between two",
			h.BlockHeight, r.LastHeartbeat, b.Params.HeartbeatTxBlocks)
	}
	return nil
}

// Perform implements Report.
func (h *Heartbeat) Perform(b *InBlock, _ types.Address) Effect {
	r := RunnerOf(b.State, h.Runner)
	r.LastHeartbeat = h.BlockHeight
	b.setStanding(r.Address, &r.Standing)
	return Effect{}
}

// Commitment is a runner's commitment in a draw, and the validator that sent it.
type Commitment struct {
	_          struct{}      `cbor:",toarray"`
	Validator  types.Address `json:"validator"`
	Height     types.Height  `json:"height"`
	Commitment types.Hash    `json:"commitment"`
}

// CommitmentOf is the commitment of a member of an open job's committee; nil if it made none.
// The first one counts: a runner that signed two commitments reveals the first that arrived,
// even if another validator brings the second later. State holds a list of one, so that roots
// of earlier blocks stay.
//
// Spec: decision J5.
func CommitmentOf(s actors.Reader, job types.Hash, member types.Address) *Commitment {
	made := loadRecord[[]Commitment](s, types.VerifierAddress, keyCommitment(job, member))
	if made == nil {
		return nil
	}
	return &(*made)[0]
}

// ResultOf returns the result that a member of an open job's committee revealed;
// nil if it revealed none.
func ResultOf(s actors.Reader, job types.Hash, member types.Address) []byte {
	result, _ := actors.StorageOf(s, types.VerifierAddress, keyResult(job, member))
	return result
}

// findStanding finds a report's job and committee member.
func (b *InBlock) findStanding(id types.Hash, runner types.Address) (*Job, *Member, *types.Fault) {
	j := JobOf(b.State, id)
	if j == nil {
		return nil, nil, newFault("no_job", "there is no open job %s: it ended, or never was", id)
	}
	m := j.memberOf(runner)
	if _, out := slices.BinarySearchFunc(j.Excluded, runner, types.Address.Compare); m == nil && out {
		return nil, nil, newFault("excluded", "%s refused job %s, was silent or disagreed: it is not drawn for it again", runner, id)
	}
	if m == nil {
		return nil, nil, newFault("not_of_committee", "%s is not in the committee of job %s", runner, id)
	}
	if m.RevealedAt > 0 {
		return nil, nil, newFault("revealed", "the result of %s for job %s came in block %d", runner, id, m.RevealedAt)
	}
	return j, m, nil
}

// Precheck implements Report. Commitments end before the first reveal, so no runner
// commits to a result that it read (decisions J5, J15).
func (c *Commit) Precheck(b *InBlock, _ types.Address) *types.Fault {
	j, m, fault := b.findStanding(c.JobID, c.Runner)
	switch {
	case fault != nil:
		return fault
	case j.Terms.Runners == 1:
		return newFault("no_commitment", "a single runner's result comes in one step: send op result")
	case c.Drawn != m.Drawn:
		return newFault("other_draw", "a commitment for the draw of block %d; block %d drew %s", c.Drawn, m.Drawn, c.Runner)
	case j.takesReveals(b.Height):
		return newFault("late", "job %s takes no commitments from block %d on", j.ID, j.Reveals())
	}
	if made := CommitmentOf(b.State, c.JobID, c.Runner); made != nil {
		return newFault("committed", "%s committed to a result of job %s in block %d, by %s", c.Runner, j.ID, made.Height, made.Validator)
	}
	return nil
}

// Perform implements Report.
func (c *Commit) Perform(b *InBlock, validator types.Address) (effect Effect) {
	j, m, _ := b.findStanding(c.JobID, c.Runner)
	b.storeRecord(types.VerifierAddress, keyCommitment(c.JobID, c.Runner),
		[]Commitment{{Validator: validator, Height: b.Height, Commitment: c.Commitment}})
	j.Status, m.Committed = Executing, b.Height
	b.putJob(j)
	event := j.newJobEvent()
	event.Runner, event.Validator = &c.Runner, &validator
	change := j.newChange(types.JobChangeCommitted, b.Height)
	change.Runner, change.Validator, change.Commitment = &c.Runner, &validator, c.Commitment
	effect.addJobChange(types.VerifierAddress, change, event)
	return effect
}

// Judge implements Report: decision J15.
func (r *Reveal) Precheck(b *InBlock, _ types.Address) *types.Fault {
	j, _, fault := b.findStanding(r.JobID, r.Runner)
	switch {
	case fault != nil:
		return fault
	case r.single != (j.Terms.Runners == 1):
		return newFault("wrong_op", "wrong op for job %s with %d runners: want result for one runner, reveal for more", j.ID, j.Terms.Runners)
	case b.Height > j.Deadline():
		return newFault("late", "results of job %s were due by block %d", j.ID, j.Deadline())
	case uint64(len(r.Result)) > j.Terms.MaxReturn:
		return newFault("result_too_long", "a result of %d bytes, at most %d", len(r.Result), j.Terms.MaxReturn)
	case r.single:
		return nil
	case !j.takesReveals(b.Height):
		return newFault("too_soon", "job %s takes reveals when all committed in earlier blocks, or above block %d", j.ID, j.CommitDeadline())
	}
	made := CommitmentOf(b.State, r.JobID, r.Runner)
	if made == nil || made.Height >= b.Height || made.Commitment != push.Commitment(r.Result, r.RunnerSigned) {
		return newFault("not_committed", "%s made no commitment to this result before block %d, or an earlier one to another", r.Runner, b.Height)
	}
	return nil
}

// Perform implements Report. It settles the job once no further reveal can come.
func (r *Reveal) Perform(b *InBlock, validator types.Address) (effect Effect) {
	j, m, _ := b.findStanding(r.JobID, r.Runner)
	m.RevealedAt, m.Bytes, m.Claim = b.Height, uint64(len(r.Result)), claimOf(SpecOf(b.State, r.JobID), r.Result)
	j.Status = Executing
	b.State.SetStorage(types.VerifierAddress, keyResult(r.JobID, r.Runner), r.Result)
	event := j.newJobEvent()
	event.Runner, event.Validator = &r.Runner, &validator
	change := j.newChange(types.JobChangeRevealed, b.Height)
	change.Runner, change.Validator, change.Result = &r.Runner, &validator, r.Result
	effect.addJobChange(types.VerifierAddress, change, event)
	b.putJob(j)
	if j.isComplete(b.Height) {
		b.concludeAttempt(j, &effect)
	}
	return effect
}

// isComplete reports whether nothing more can come: the commit phase is over, and
// who committed has revealed (decision J19).
func (j *Job) isComplete(height types.Height) bool {
	open := j.Terms.Runners > 1 && !j.takesReveals(height)
	for i := range j.Committee {
		m := &j.Committee[i]
		open = open || m.RevealedAt == 0 && (m.Committed > 0 || j.Terms.Runners == 1)
	}
	return !open
}

// MayComeLater reports whether a block can hold a report later that Precheck has this
// against now: the sender knew of a block that the reader did not, or a phase is to
// come.
func MayComeLater(fault *types.Fault) bool {
	switch fault.Code {
	case "too_soon", "not_committed", "from_the_future", "no_job", "not_of_committee":
		return true
	}
	return false
}
