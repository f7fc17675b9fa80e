package oracle

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// report is a runner transaction: what a validator brings of a runner.
type report struct {
	op        string
	validator types.Address
	args      []byte
}

// reportOf reads a transaction as a runner transaction, which names no limits; nil
// for any other.
func (j *Judge) reportOf(tx *types.Transaction) *report {
	var in types.Report
	if tx.To != nil || tx.CyclesLimit != 0 || tx.Signature == nil {
		return nil
	}
	if codec.Unmarshal(tx.Payload, types.MaxTransactionBytes, &in) != nil || in.Kind != types.KindRunner {
		return nil
	}
	validator, _ := j.rules.Recover(tx.SigningDigest(), *tx.Signature)
	return &report{in.Op, validator, in.Args}
}

// followReport follows one report (decisions J15, J18), and reports a violation if no
// block may hold it.
func (w *work) followReport(r *report) {
	set := w.setOf(w.epoch)
	if set == nil || set.Index(r.validator) < 0 {
		w.reportWrong("%s is not a validator, but sends a %s", r.validator, r.op)
	}
	switch r.op {
	case "heartbeat":
		w.judgeHeartbeat(r)
	case "commit":
		w.followCommit(r)
	case "refuse":
		w.followRefusal(r)
	case "reveal", "result":
		w.followReveal(r)
	default:
		w.reportWrong("a report of op %q", r.op)
	}
}

// decodeArguments decodes the arguments of a report.
func (w *work) decodeArguments(r *report, into any) bool {
	err := codec.Unmarshal(r.args, types.MaxTransactionBytes, into)
	if err != nil {
		w.reportWrong("the arguments of a %s do not decode: %v", r.op, err)
	}
	return err == nil
}

// judgeSignature judges that a runner signed a frame: its name, the chain and the content.
func (w *work) judgeSignature(runner types.Address, s types.Signature, frame string, content ...[]byte) {
	text := append([][]byte{[]byte("cowboy/" + frame + "/1"), be8(w.Judge.rules.ChainID)}, content...)
	if signer, ok := w.Judge.rules.Recover(keccak256(text...), s); !ok || signer != runner {
		w.reportWrong("a %s of runner %s is not signed by it", frame, runner)
	}
}

func (w *work) judgeHeartbeat(r *report) {
	var in struct {
		Runner      types.Address   `cbor:"runner"`
		BlockHeight types.Height    `cbor:"block_height"`
		Nonce       uint64          `cbor:"nonce"`
		Signed      types.Signature `cbor:"signed"`
	}
	if !w.decodeArguments(r, &in) {
		return
	}
	w.judgeSignature(in.Runner, in.Signed, "HeartbeatPing", be8(uint64(in.BlockHeight)), be8(in.Nonce))
	runner := w.runners.known[in.Runner]
	if runner == nil || runner.Health == Deregistered || in.BlockHeight > w.height ||
		in.BlockHeight < runner.LastHeartbeat+types.Height(w.rules.HeartbeatBlocks) {
		w.reportWrong("a heartbeat of runner %s at height %d comes too soon, or from an unknown key", in.Runner, in.BlockHeight)
		return
	}
	runner.LastHeartbeat, w.touched = in.BlockHeight, true
}

// jobOfReport finds the open job and the member of its committee that a report is of, who
// has not revealed.
func (w *work) jobOfReport(r *report, id types.Hash, runner types.Address) (*job, *member) {
	job := w.open[id]
	if job == nil {
		w.reportWrong("a %s for job %s, which is not open", r.op, id)
		return nil, nil
	}
	m := job.memberOf(runner)
	if m == nil || m.revealed > 0 {
		w.reportWrong("a %s of %s for job %s, in whose committee it is not, or revealed", r.op, runner, id)
		return nil, nil
	}
	return job, m
}

func (w *work) followCommit(r *report) {
	var in struct {
		JobID        types.Hash      `cbor:"job_id"`
		Drawn        types.Height    `cbor:"drawn"`
		Runner       types.Address   `cbor:"runner"`
		Commitment   types.Hash      `cbor:"commitment"`
		CommitSigned types.Signature `cbor:"commit_signed"`
	}
	if !w.decodeArguments(r, &in) {
		return
	}
	w.judgeSignature(in.Runner, in.CommitSigned, "JobCommitment", in.JobID[:], be8(uint64(in.Drawn)), in.Commitment[:])
	job, m := w.jobOfReport(r, in.JobID, in.Runner)
	if m == nil {
		return
	}
	if job.spec.Verification.Runners == 1 || job.takesReveals(w.height) || in.Drawn != m.drawn {
		w.reportWrong("a commitment of %s for job %s of %d runners, due by %d and before all committed, is for draw %d; the draw was %d",
			in.Runner, job.id, job.spec.Verification.Runners, job.commitDeadline(), in.Drawn, m.drawn)
	}
	if len(m.commitments) > 0 {
		w.reportWrong("%s brings a second commitment of %s for job %s", r.validator, in.Runner, job.id)
	}
	m.commitments = append(m.commitments, commitment{w.height, in.Commitment})
	w.expectJobEvent("job.committed", job, &in.Runner, &r.validator, types.VerifierAddress)
}

// refusedInTime reports whether a member refused before its ack was due and one block had passed
// (decision J21).
func (w *work) refusedInTime(m *member) bool {
	return m.refused <= m.drawn+types.Height(w.rules.AckBlocks)+1
}

// followRefusal empties a runner's place. It costs what silence costs, unless it is quick (decision
// J21).
func (w *work) followRefusal(r *report) {
	var in struct {
		JobID         types.Hash      `cbor:"job_id"`
		Drawn         types.Height    `cbor:"drawn"`
		Spec          types.Hash      `cbor:"spec"`
		Runner        types.Address   `cbor:"runner"`
		Reason        string          `cbor:"reason"`
		Text          string          `cbor:"text"`
		RefusalSigned types.Signature `cbor:"refusal_signed"`
	}
	if !w.decodeArguments(r, &in) {
		return
	}
	reason, text := keccak256([]byte(in.Reason)), keccak256([]byte(in.Text))
	w.judgeSignature(in.Runner, in.RefusalSigned, "JobRefusal", in.JobID[:], be8(uint64(in.Drawn)), in.Spec[:], reason[:], text[:])
	job, m := w.jobOfReport(r, in.JobID, in.Runner)
	if m == nil {
		return
	}
	if in.Drawn != m.drawn || in.Spec != keccak256(job.raw) || len(m.commitments) > 0 || w.height > job.commitDeadline() {
		w.reportWrong("%s refuses job %s, of the draw of %d, after its commitment, late or with another spec", in.Runner, job.id, in.Drawn)
	}
	m.refused, job.vacant, job.excluded[in.Runner] = w.height, true, true
	job.refusals++
	if job.why = in.Reason; in.Text != "" {
		job.why += ": " + in.Text
	}
	w.touched = true
	why := job.why
	e := job.newEvent()
	e.Runner, e.Validator, e.Error = &in.Runner, &r.validator, &why
	if runner := w.runners.known[in.Runner]; runner != nil {
		if uint64(w.height-runner.RefusedAt) >= w.rules.RefusalBlocks {
			runner.Refusals = 0
		}
		runner.Refusals, runner.RefusedAt = runner.Refusals+1, w.height
		if !w.refusedInTime(m) && !job.tookEmptiedPlace(m) {
			w.lowerReputation(in.Runner)
		}
		if runner.ActiveJobs--; runner.ActiveJobs == 0 {
			runner.idle = w.height
		}
	}
	w.expectEvent(types.VerifierAddress, "job.refused", codec.Marshal(&e))
}

func (w *work) followReveal(r *report) {
	var in struct {
		JobID        types.Hash      `cbor:"job_id"`
		Runner       types.Address   `cbor:"runner"`
		Result       []byte          `cbor:"result"`
		RunnerSigned types.Signature `cbor:"runner_signed"`
	}
	if !w.decodeArguments(r, &in) {
		return
	}
	job, m := w.jobOfReport(r, in.JobID, in.Runner)
	if m == nil {
		return
	}
	hash := keccak256(in.Result)
	w.judgeSignature(in.Runner, in.RunnerSigned, "JobResult", in.JobID[:], hash[:])
	single := job.spec.Verification.Runners == 1
	if (r.op == "result") != single || w.height > job.deadlineHeight() || uint64(len(in.Result)) > job.spec.ResultSchema.MaxReturnBytes {
		w.reportWrong("a %s of %s for job %s of %d runners, of %d bytes, due by %d", r.op, in.Runner, job.id, job.spec.Verification.Runners,
			len(in.Result), job.deadlineHeight())
	}
	if !single && !(job.takesReveals(w.height) && m.hasCommittedTo(keccak256(in.Result, in.RunnerSigned[:]), w.height)) {
		w.reportWrong("the result of %s for job %s comes before its time, or it never committed to it", in.Runner, job.id)
	}
	m.revealed, m.claim, m.bytes = w.height, claimOf(&job.spec, in.Result), uint64(len(in.Result))
	m.result = in.Result
	w.expectJobEvent("job.revealed", job, &in.Runner, &r.validator, types.VerifierAddress)
	if job.isDone(w.height) {
		w.concludeAttempt(job)
	}
}

func le8(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func le4(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
