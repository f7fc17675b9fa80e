package oracle

import (
	"bytes"
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// conclude ends an attempt: completed if enough agree, failed if all came and too
// few do, otherwise drawn again (decisions J5, J6, J19).
func (w *work) conclude(j *job) {
	agreeing := j.agreeing()
	revealed := 0
	for _, m := range j.committee {
		if m.revealed > 0 {
			revealed++
		}
	}
	switch {
	case uint64(len(agreeing)) >= j.terms.threshold:
		w.complete(j, agreeing)
	case revealed == len(j.committee):
		w.release(j)
		w.fail(j, "disagreement")
	default:
		w.punish(j)
		w.release(j)
		w.retry(j)
	}
}

// punish takes reputation from silent runners, and excludes them.
func (w *work) punish(j *job) {
	for _, m := range j.committee {
		if m.revealed > 0 || m.refused {
			continue
		}
		if r := w.runners.known[m.runner]; r != nil && !m.late {
			is := w.reputation(r)
			r.Reputation, r.ReputedAt = is-min(is, w.rules.TimeoutPenalty), w.height
		}
		j.excluded[m.runner] = true
	}
}

// release takes a job from its committee.
func (w *work) release(j *job) {
	w.touched = w.touched || len(j.committee) > 0
	for _, m := range j.committee {
		if r := w.runners.known[m.runner]; r != nil && r.ActiveJobs > 0 && !m.refused {
			if r.ActiveJobs--; r.ActiveJobs == 0 {
				r.idle = w.height
			}
		}
	}
}

func (w *work) retry(j *job) {
	if uint64(j.attempts) > min(j.terms.retries, w.rules.MaxRetries)+uint64(j.refusals) {
		w.fail(j, "timeout")
		return
	}
	w.tell("job.retried", j, nil, nil, types.DispatcherAddress)
	j.pending, j.since, j.committee, j.vacant = true, w.height, nil, false
}

// complete pays who agrees: the runners' share of the price in equal parts, what is
// left of the price to the treasury, the tip to the winner, the rest back (decision
// J7).
func (w *work) complete(j *job, agreeing []*member) {
	winner := agreeing[0]
	price := j.price(agreeing)
	share := new(big.Int).Mul(price, big.NewInt(int64(w.rules.SharePermille)))
	part := share.Div(share.Div(share, big.NewInt(permille)), big.NewInt(int64(len(agreeing))))
	rest := new(big.Int).Set(price)
	for _, m := range agreeing {
		w.move(types.DispatcherAddress, m.runner, part)
		rest.Sub(rest, part)
	}
	w.move(types.DispatcherAddress, types.TreasuryAddress, rest)
	w.move(types.DispatcherAddress, winner.runner, j.spec.Tip.Big())
	w.move(types.DispatcherAddress, j.spec.Submitter, new(big.Int).Sub(j.spec.MaxPrice.Big(), price))
	w.punish(j)
	for _, m := range agreeing {
		if r := w.runners.known[m.runner]; r != nil {
			r.Reputation, r.ReputedAt = min(w.reputation(r)+w.rules.SuccessReward, maxReputation), w.height
		}
	}
	w.release(j)
	w.mru[favourKey{j.spec.Submitter, j.spec.kind}] = favour{winner.runner, w.height}
	w.call(j, "Completed", winner.result, "")
	w.forget(j)
	e := j.event()
	paid, _ := types.WeiFromBig(price)
	e.Runner, e.Price = &winner.runner, &paid
	w.expect(types.DispatcherAddress, "job.completed", codec.Marshal(&e))
}

// fail ends a job without a result: the escrow returns, less what the callback may
// cost.
func (w *work) fail(j *job, code string) {
	w.move(types.DispatcherAddress, j.spec.Submitter, new(big.Int).Add(j.spec.MaxPrice.Big(), j.spec.Tip.Big()))
	w.call(j, "Failed", nil, code)
	w.forget(j)
	e := j.event()
	e.Error = &code
	w.expect(types.DispatcherAddress, "job.failed", codec.Marshal(&e))
}

// failures says what the codes of failed jobs mean, in the chain's words.
var failures = map[string]string{"refused": "runners refused it, and too few others may do it; the last said ",
	"timeout":       "too few runners answered in time, in the first draw and in every retry",
	"no_candidates": "there were too few runners that may do it until its timeout",
	"disagreement":  "all runners answered, and fewer than the threshold agree"}

// call expects the callback of a job that ended (decisions J16, J19).
func (w *work) call(j *job, status string, result []byte, code string) {
	to := j.spec.Callback
	if to == nil {
		return
	}
	type jobError struct {
		Code    string `cbor:"code"`
		Message string `cbor:"message"`
	}
	answer := struct {
		JobID         types.Hash `cbor:"job_id"`
		Status        string     `cbor:"status"`
		Result        []byte     `cbor:"result"`
		Error         *jobError  `cbor:"error"`
		CorrelationID []byte     `cbor:"correlation_id"`
		Context       []byte     `cbor:"context"`
	}{JobID: j.id, Status: status, Result: result, CorrelationID: to.CorrelationID, Context: to.Context}
	if code != "" {
		text := failures[code]
		if code == "refused" {
			text += j.why
		}
		answer.Error = &jobError{code, text}
	}
	w.calls = append(w.calls, &callback{j, codec.Marshal(&answer), j.terms.cycle, j.terms.cell})
}

// price is what those who agree ask together by their own cards, for the usage that
// the chain sees; at most max_price (decisions J7, J19).
func (j *job) price(agreeing []*member) *big.Int {
	sum := new(big.Int)
	for _, m := range agreeing {
		for _, item := range []struct {
			asked types.Wei
			times uint64
			of    jobKind // "": of all
		}{
			{m.offer.ComputeSecond, upTo(j.spec.ResultSchema.ExpectedExecutionMS, 1000), ""},
			{m.offer.MemoryMB, j.spec.Bounds.MaxMemoryMB, ""},
			{m.offer.InputToken, j.spec.input, jobLLM},
			{m.offer.OutputToken, upTo(m.bytes, tokenBytes), jobLLM},
			{m.offer.Request, 1, jobHTTP},
			{m.offer.Call, 1, jobMCP},
		} {
			if item.of == "" || item.of == j.spec.kind {
				sum.Add(sum, times(item.asked.Big(), item.times))
			}
		}
	}
	if most := j.spec.MaxPrice.Big(); sum.Cmp(most) > 0 {
		return most
	}
	return sum
}

// agreeing are the members whose results agree with one of them: the most there
// are; of as many, those around the lowest address. They are sorted by address.
func (j *job) agreeing() (best []*member) {
	var came []*member
	for _, m := range j.committee {
		if m.revealed > 0 {
			came = append(came, m)
		}
	}
	slices.SortFunc(came, func(a, b *member) int { return bytes.Compare(a.runner[:], b.runner[:]) })
	for _, one := range came {
		var group []*member
		for _, other := range came {
			if one.claim.agrees(&other.claim) {
				group = append(group, other)
			}
		}
		if len(group) > len(best) {
			best = group
		}
	}
	return best
}
