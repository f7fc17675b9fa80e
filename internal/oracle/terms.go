package oracle

import (
	"math/big"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// spec is a JobSpec as far as the chain judges by it.
type spec struct {
	JobType map[string]codec.RawMessage `cbor:"job_type"`
	Bounds  struct {
		MaxMemoryMB uint64 `cbor:"max_memory_mb"`
		MaxRetries  uint64 `cbor:"max_retries"`
	} `cbor:"bounds"`
	Verification verification  `cbor:"verification"`
	MaxPrice     types.Wei     `cbor:"max_price"`
	Tip          types.Wei     `cbor:"tip"`
	Submitter    types.Address `cbor:"submitter"`
	SubmittedAt  types.Height  `cbor:"submitted_at"`

	TimeoutBlocks uint64  `cbor:"timeout_blocks"`
	Pool          *string `cbor:"required_runner_pool"`
	Callback      *struct {
		Actor         types.Address `cbor:"actor"`
		Handler       string        `cbor:"handler"`
		CorrelationID []byte        `cbor:"correlation_id"`
		Context       []byte        `cbor:"context"`
	} `cbor:"callback"`
	ResultSchema struct {
		MaxReturnBytes      uint64 `cbor:"max_return_bytes"`
		ExpectedExecutionMS uint64 `cbor:"expected_execution_ms"`
		DataFormat          string `cbor:"data_format"`
	} `cbor:"result_schema"`

	kind    jobKind
	subject string
	input   uint64 // tokens of the prompts
}

type verification struct {
	Mode        string                        `cbor:"mode"`
	Runners     uint64                        `cbor:"runners"`
	Threshold   *uint64                       `cbor:"threshold"`
	Field       *string                       `cbor:"field"`
	Checks      []map[string]codec.RawMessage `cbor:"checks"`
	TEERequired bool                          `cbor:"tee_required"`
}

// tokenBytes is the number of bytes of a token (decision J19).
const tokenBytes = 4

// readSpec reads a spec and the parts of its type that the chain judges by.
func readSpec(data []byte) (s spec, err error) {
	if err = codec.UnmarshalPartial(data, types.MaxTransactionBytes, &s); err != nil {
		return s, err
	}
	for name, of := range s.JobType { // order: there is one
		var in struct {
			Model        string     `cbor:"model"`
			Prompt       string     `cbor:"prompt"`
			SystemPrompt *string    `cbor:"system_prompt"`
			URL          string     `cbor:"url"`
			Server       string     `cbor:"server"`
			ExecutorHash types.Hash `cbor:"executor_hash"`
		}
		if err = codec.UnmarshalPartial(of, types.MaxTransactionBytes, &in); err != nil {
			return s, err
		}
		switch s.kind = jobKind(name); s.kind {
		case jobLLM:
			s.subject, s.input = in.Model, upTo(uint64(len(in.Prompt)), tokenBytes)
			if in.SystemPrompt != nil {
				s.input += upTo(uint64(len(*in.SystemPrompt)), tokenBytes)
			}
		case jobHTTP:
			s.subject = hostOf(in.URL)
		case jobMCP:
			s.subject = in.Server
		case jobCustom:
			s.subject = in.ExecutorHash.String()
		}
	}
	return s, nil
}

// upTo is how many of a size hold an amount.
func upTo(amount, size uint64) uint64 {
	n := amount / size
	if amount%size > 0 {
		n++
	}
	return n
}

// hostOf returns the host of a URL: between the scheme with user data and the port,
// in lower case.
func hostOf(url string) string {
	at := strings.Index(url, "://")
	if at < 0 {
		return ""
	}
	name := url[at+3:]
	if end := strings.IndexAny(name, `/?#\`); end >= 0 {
		name = name[:end]
	}
	name = name[strings.LastIndex(name, "@")+1:]
	if strings.HasPrefix(name, "[") {
		end := strings.Index(name, "]")
		if end < 0 {
			return ""
		}
		name = name[1:end]
	} else if port := strings.Index(name, ":"); port >= 0 {
		name = name[:port]
	}
	small := []byte(name)
	for i, c := range small {
		if 'A' <= c && c <= 'Z' {
			small[i] += 'a' - 'A'
		}
	}
	return string(small)
}

// terms are the parameters at its submission that hold for a job.
type terms struct {
	threshold    uint64
	commitBlocks uint64
	retries      uint64
	cycles       types.Cycles // of the callback; 0 without one
	cells        types.Cells
	cycle, cell  types.Wei // base fees of the submission
}

// enterJob enters a job, whose submitter pays all that it may cost (decisions J1,
// J7, J19).
func (w *work) enterJob(id types.Hash) {
	if w.open[id] != nil {
		w.reportWrong("job %s is submitted twice", id)
		return
	}
	j := &job{id: id, seq: w.next, pending: true, since: w.height, excluded: map[types.Address]bool{}}
	w.next++
	w.open[id] = j
	w.seen.Jobs++
	raw, shown := w.specs[id]
	j.raw = raw
	if !shown { // it ends in this block, before anybody is drawn
		w.unseen++
		return
	}
	var err error
	if j.spec, err = readSpec(raw); err != nil {
		w.reportWrong("the spec of job %s is invalid: %v", id, err)
		return
	}
	v := &j.spec.Verification
	if j.spec.TimeoutBlocks == 0 || v.Runners == 0 || j.spec.kind == "" {
		w.reportWrong("the spec of job %s is invalid: got timeout_blocks %d, %d runners and job_type %q, want none of them empty",
			id, j.spec.TimeoutBlocks, v.Runners, j.spec.kind)
		return
	}
	w.judgeJobID(j)
	t := terms{threshold: upTo(2*v.Runners, 3), retries: min(j.spec.Bounds.MaxRetries, w.rules.MaxRetries),
		commitBlocks: max(1, j.spec.TimeoutBlocks*w.rules.CommitPermille/permille)}
	if v.Threshold != nil {
		t.threshold = *v.Threshold
	}
	if j.spec.Callback != nil {
		t.cycles, t.cells = min(w.rules.CallbackCycles, w.lane.SystemCycles), min(w.rules.CallbackCells, w.lane.CellsLimit)
		t.cycle, t.cell = w.header.BaseFeeCycle, w.header.BaseFeeCell
	}
	j.terms = t
	w.moveMoney(j.spec.Submitter, types.DispatcherAddress, t.escrowOf(&j.spec))
}

// judgeJobID judges a job's id. No spec shows the submitters of jobs that came and went
// in one block: that many numbers may be missing.
func (w *work) judgeJobID(j *job) {
	who := j.spec.Submitter
	if j.spec.SubmittedAt != w.height {
		w.reportWrong("job %s says that it was submitted at %d", j.id, j.spec.SubmittedAt)
	}
	for n := w.nonces[who]; n <= w.nonces[who]+w.unseen; n++ {
		if keccak256(who[:], be8(n), be8(uint64(w.height))) == j.id {
			w.nonces[who] = n + 1
			return
		}
	}
	w.reportWrong("job %s is not the %d. of %s at height %d", j.id, w.nonces[who], who, w.height)
}

// callbackPrice is the price of the callback's limits.
func (t *terms) callbackPrice() *big.Int {
	return new(big.Int).Add(multiplyPrice(t.cycle.Big(), uint64(t.cycles)), multiplyPrice(t.cell.Big(), uint64(t.cells)))
}

// escrowOf is all that a job may cost.
func (t *terms) escrowOf(s *spec) *big.Int {
	sum := new(big.Int).Add(s.MaxPrice.Big(), s.Tip.Big())
	return sum.Add(sum, t.callbackPrice())
}
