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

// bring follows one report (decisions J15, J18), and reports a violation if no
// block may hold it.
func (w *work) bring(r *report) {
	set := w.setOf(w.epoch)
	if set == nil || set.Index(r.validator) < 0 {
		w.wrong("%s is not a validator, but sends a %s", r.validator, r.op)
	}
	switch r.op {
	case "heartbeat":
		w.beat(r)
	case "commit":
		w.commit(r)
	case "refuse":
		w.refuse(r)
	case "reveal", "result":
		w.reveal(r)
	default:
		w.wrong("a report of op %q", r.op)
	}
}

// read decodes the arguments of a report.
func (w *work) read(r *report, into any) bool {
	err := codec.Unmarshal(r.args, types.MaxTransactionBytes, into)
	if err != nil {
		w.wrong("the arguments of a %s do not decode: %v", r.op, err)
	}
	return err == nil
}

// signs judges that a runner signed a frame: its name, the chain and the content.
func (w *work) signs(runner types.Address, s types.Signature, frame string, content ...[]byte) {
	text := append([][]byte{[]byte("cowboy/" + frame + "/1"), be8(w.Judge.rules.ChainID)}, content...)
	if signer, ok := w.Judge.rules.Recover(keccak(text...), s); !ok || signer != runner {
		w.wrong("a %s of runner %s is not signed by it", frame, runner)
	}
}

func (w *work) beat(r *report) {
	var in struct {
		Runner      types.Address   `cbor:"runner"`
		BlockHeight types.Height    `cbor:"block_height"`
		Nonce       uint64          `cbor:"nonce"`
		Signed      types.Signature `cbor:"signed"`
	}
	if !w.read(r, &in) {
		return
	}
	w.signs(in.Runner, in.Signed, "HeartbeatPing", be8(uint64(in.BlockHeight)), be8(in.Nonce))
	runner := w.runners.known[in.Runner]
	if runner == nil || runner.Health == Deregistered || in.BlockHeight > w.height ||
		in.BlockHeight < runner.LastHeartbeat+types.Height(w.rules.HeartbeatBlocks) {
		w.wrong("a heartbeat of runner %s at height %d comes too soon, or from an unknown key", in.Runner, in.BlockHeight)
		return
	}
	runner.LastHeartbeat, w.touched = in.BlockHeight, true
}

// of finds the open job and the member of its committee that a report is of, who
// has not revealed.
func (w *work) of(r *report, id types.Hash, runner types.Address) (*job, *member) {
	job := w.open[id]
	if job == nil {
		w.wrong("a %s for job %s, which is not open", r.op, id)
		return nil, nil
	}
	m := job.member(runner)
	if m == nil || m.revealed > 0 {
		w.wrong("a %s of %s for job %s, in whose committee it is not, or revealed", r.op, runner, id)
		return nil, nil
	}
	return job, m
}

func (w *work) commit(r *report) {
	var in struct {
		JobID        types.Hash      `cbor:"job_id"`
		Drawn        types.Height    `cbor:"drawn"`
		Runner       types.Address   `cbor:"runner"`
		Commitment   types.Hash      `cbor:"commitment"`
		CommitSigned types.Signature `cbor:"commit_signed"`
	}
	if !w.read(r, &in) {
		return
	}
	w.signs(in.Runner, in.CommitSigned, "JobCommitment", in.JobID[:], be8(uint64(in.Drawn)), in.Commitment[:])
	job, m := w.of(r, in.JobID, in.Runner)
	if m == nil {
		return
	}
	if job.spec.Verification.Runners == 1 || job.revealing(w.height) || in.Drawn != m.drawn {
		w.wrong("a commitment of %s for job %s of %d runners, due by %d and before all committed, is for draw %d; the draw was %d",
			in.Runner, job.id, job.spec.Verification.Runners, job.commitDeadline(), in.Drawn, m.drawn)
	}
	if len(m.commitments) > 0 {
		w.wrong("%s brings a second commitment of %s for job %s", r.validator, in.Runner, job.id)
	}
	m.commitments = append(m.commitments, commitment{w.height, in.Commitment})
	w.tell("job.committed", job, &in.Runner, &r.validator, types.VerifierAddress)
}

// free reports whether a member refused before its ack was due and one block had passed
// (decision J21).
func (w *work) free(m *member) bool { return m.refused <= m.drawn+types.Height(w.rules.AckBlocks)+1 }

// refuse empties a runner's place. It costs what silence costs, unless it is quick (decision
// J21).
func (w *work) refuse(r *report) {
	var in struct {
		JobID         types.Hash      `cbor:"job_id"`
		Drawn         types.Height    `cbor:"drawn"`
		Spec          types.Hash      `cbor:"spec"`
		Runner        types.Address   `cbor:"runner"`
		Reason        string          `cbor:"reason"`
		Text          string          `cbor:"text"`
		RefusalSigned types.Signature `cbor:"refusal_signed"`
	}
	if !w.read(r, &in) {
		return
	}
	reason, text := keccak([]byte(in.Reason)), keccak([]byte(in.Text))
	w.signs(in.Runner, in.RefusalSigned, "JobRefusal", in.JobID[:], be8(uint64(in.Drawn)), in.Spec[:], reason[:], text[:])
	job, m := w.of(r, in.JobID, in.Runner)
	if m == nil {
		return
	}
	if in.Drawn != m.drawn || in.Spec != keccak(job.raw) || len(m.commitments) > 0 || w.height > job.commitDeadline() {
		w.wrong("%s refuses job %s, of the draw of %d, after its commitment, late or with another spec", in.Runner, job.id, in.Drawn)
	}
	m.refused, job.vacant, job.excluded[in.Runner] = w.height, true, true
	job.refusals++
	if job.why = in.Reason; in.Text != "" {
		job.why += ": " + in.Text
	}
	w.touched = true
	why := job.why
	e := job.event()
	e.Runner, e.Validator, e.Error = &in.Runner, &r.validator, &why
	if runner := w.runners.known[in.Runner]; runner != nil {
		if uint64(w.height-runner.RefusedAt) >= w.rules.RefusalBlocks {
			runner.Refusals = 0
		}
		runner.Refusals, runner.RefusedAt = runner.Refusals+1, w.height
		if !w.free(m) && !job.late(m) {
			w.lower(in.Runner)
		}
		if runner.ActiveJobs--; runner.ActiveJobs == 0 {
			runner.idle = w.height
		}
	}
	w.expect(types.VerifierAddress, "job.refused", codec.Marshal(&e))
}

func (w *work) reveal(r *report) {
	var in struct {
		JobID        types.Hash      `cbor:"job_id"`
		Runner       types.Address   `cbor:"runner"`
		Result       []byte          `cbor:"result"`
		RunnerSigned types.Signature `cbor:"runner_signed"`
	}
	if !w.read(r, &in) {
		return
	}
	job, m := w.of(r, in.JobID, in.Runner)
	if m == nil {
		return
	}
	hash := keccak(in.Result)
	w.signs(in.Runner, in.RunnerSigned, "JobResult", in.JobID[:], hash[:])
	single := job.spec.Verification.Runners == 1
	if (r.op == "result") != single || w.height > job.deadline() || uint64(len(in.Result)) > job.spec.ResultSchema.MaxReturnBytes {
		w.wrong("a %s of %s for job %s of %d runners, of %d bytes, due by %d", r.op, in.Runner, job.id, job.spec.Verification.Runners,
			len(in.Result), job.deadline())
	}
	if !single && !(job.revealing(w.height) && m.committed(keccak(in.Result, in.RunnerSigned[:]), w.height)) {
		w.wrong("the result of %s for job %s comes before its time, or it never committed to it", in.Runner, job.id)
	}
	m.revealed, m.claim, m.bytes = w.height, claimOf(&job.spec, in.Result), uint64(len(in.Result))
	m.result = in.Result
	w.tell("job.revealed", job, &in.Runner, &r.validator, types.VerifierAddress)
	if job.done(w.height) {
		w.conclude(job)
	}
}

func le8(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func le4(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
