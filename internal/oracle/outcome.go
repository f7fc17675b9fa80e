package oracle

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// concludeAttempt ends an attempt: completed if enough agree, otherwise drawn again. A committee that
// disagreed is not drawn again (decisions J5, J6, J19).
func (w *work) concludeAttempt(j *job) {
	agreeing, around := j.agreeingMembers()
	if uint64(len(agreeing)) >= j.terms.threshold {
		w.completeJob(j, agreeing, around)
		return
	}
	code := j.whyIncomplete(len(agreeing))
	w.punishSilent(j)
	for _, m := range j.membersWithResults() {
		j.earlier = append(j.earlier, result{m.runner, m.claim})
	}
	if n := len(j.earlier); n > maxEarlier {
		j.earlier = j.earlier[n-maxEarlier:]
	}
	if code == "disagreement" || code == "invalid_results" {
		for _, m := range j.committee {
			j.excluded[m.runner] = true
		}
	}
	w.releaseCommittee(j)
	w.retryJob(j, code)
}

// maxEarlier is how many results of earlier attempts are judged, the last ones (decision J19).
const maxEarlier = 256

// whyIncomplete returns why an attempt did not complete its job. Silence comes first, then refusals
// without which all agree, then too few results that count (decisions J19, J21).
func (j *job) whyIncomplete(group int) string {
	came := j.membersWithResults()
	refused := 0
	for _, m := range j.committee {
		if m.refused > 0 {
			refused++
		}
	}
	wrong := slices.DeleteFunc(slices.Clone(came), func(m *member) bool { return m.claim.isValid() })
	switch {
	case len(came)+refused < len(j.committee):
		return "timeout"
	case refused > 0 && group == len(came):
		return "refused"
	case uint64(len(came)-len(wrong)) >= j.terms.threshold:
		return "disagreement"
	}
	j.why = fmt.Sprintf("%d of %d, the first is %s", len(wrong), len(came), wrong[0].claim.wrong)
	return "invalid_results"
}

// punishSilent takes reputation from silent runners, and excludes them. A runner that took an emptied
// place had less time: nothing follows (decision J21).
func (w *work) punishSilent(j *job) {
	for _, m := range j.committee {
		if m.revealed > 0 || m.refused > 0 || j.tookEmptiedPlace(m) {
			continue
		}
		w.lowerReputation(m.runner)
		j.excluded[m.runner] = true
	}
}

// lowerReputation takes from a runner the reputation that silence costs.
func (w *work) lowerReputation(runner types.Address) {
	if r := w.runners.known[runner]; r != nil {
		is := w.reputationOf(r)
		r.Reputation, r.ReputedAt = is-min(is, w.rules.TimeoutPenalty), w.height
	}
}

// releaseCommittee takes a job from its committee.
func (w *work) releaseCommittee(j *job) {
	w.touched = w.touched || len(j.committee) > 0
	for _, m := range j.committee {
		if r := w.runners.known[m.runner]; r != nil && r.ActiveJobs > 0 && m.refused == 0 {
			if r.ActiveJobs--; r.ActiveJobs == 0 {
				r.idle = w.height
			}
		}
	}
}

func (w *work) retryJob(j *job, code string) {
	if uint64(j.attempts) > min(j.terms.retries, w.rules.MaxRetries)+uint64(j.declined) {
		w.failJob(j, code)
		return
	}
	j.ended = code
	e := j.newEvent()
	e.Error = &code
	w.expectEvent(types.DispatcherAddress, "job.retried", codec.Marshal(&e))
	j.pending, j.since, j.committee, j.vacant = true, w.height, nil, false
}

// completeJob pays who agrees: the runners' share of the price in equal parts, what is
// left of the price to the treasury, the tip to the winner, the rest back (decision
// J7).
func (w *work) completeJob(j *job, agreeing []*member, around *member) {
	winner := agreeing[0]
	price := j.priceOf(agreeing)
	share := new(big.Int).Mul(price, big.NewInt(int64(w.rules.SharePermille)))
	part := share.Div(share.Div(share, big.NewInt(permille)), big.NewInt(int64(len(agreeing))))
	rest := new(big.Int).Set(price)
	for _, m := range agreeing {
		w.moveMoney(types.DispatcherAddress, m.runner, part)
		rest.Sub(rest, part)
	}
	w.moveMoney(types.DispatcherAddress, types.TreasuryAddress, rest)
	w.moveMoney(types.DispatcherAddress, winner.runner, j.spec.Tip.Big())
	w.moveMoney(types.DispatcherAddress, j.spec.Submitter, new(big.Int).Sub(j.spec.MaxPrice.Big(), price))
	w.punishSilent(j)
	for _, m := range agreeing {
		if r := w.runners.known[m.runner]; r != nil {
			r.Reputation, r.ReputedAt = min(w.reputationOf(r)+w.rules.SuccessReward, maxReputation), w.height
		}
	}
	for _, m := range j.membersWithResults() {
		j.earlier = append(j.earlier, result{m.runner, m.claim})
	}
	for i := range j.earlier {
		differs := &j.earlier[i]
		if r := w.runners.known[differs.runner]; r != nil && !r.Stake.IsZero() && !around.claim.agreesWith(&differs.claim) {
			w.lowerReputation(differs.runner)
		}
	}
	w.releaseCommittee(j)
	w.mru[favourKey{j.spec.Submitter, j.spec.kind}] = favour{winner.runner, w.height}
	w.expectCallback(j, "Completed", winner.result, "")
	w.forgetJob(j)
	e := j.newEvent()
	paid, _ := types.WeiFromBig(price)
	e.Runner, e.Price = &winner.runner, &paid
	w.expectEvent(types.DispatcherAddress, "job.completed", codec.Marshal(&e))
}

// failJob ends a job without a result: the escrow returns, less what the callback may
// cost.
func (w *work) failJob(j *job, code string) {
	w.moveMoney(types.DispatcherAddress, j.spec.Submitter, new(big.Int).Add(j.spec.MaxPrice.Big(), j.spec.Tip.Big()))
	w.expectCallback(j, "Failed", nil, code)
	w.forgetJob(j)
	e := j.newEvent()
	e.Error = &code
	w.expectEvent(types.DispatcherAddress, "job.failed", codec.Marshal(&e))
}

// failures says what the codes of failed jobs mean, in the chain's words.
var failures = map[string]string{"refused": "runners refused it, and too few others or no tries are left; the last said ",
	"invalid_results": "too few results pass the format and the checks of its spec: ",

	"timeout":       "too few answered in time, and too few others or no tries are left",
	"no_candidates": "there were too few runners that may do it until its timeout",
	"disagreement":  "all runners answered, and fewer than the threshold agree"}

// expectCallback expects the callback of a job that ended (decisions J16, J19).
func (w *work) expectCallback(j *job, status string, result []byte, code string) {
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
		if code == "refused" || code == "invalid_results" {
			text += j.why
		}
		answer.Error = &jobError{code, text}
	}
	w.calls = append(w.calls, &callback{j, codec.Marshal(&answer), j.terms.cycle, j.terms.cell})
}

// priceOf is what those who agree ask together by their own cards, for the usage that
// the chain sees; at most max_price (decisions J7, J19).
func (j *job) priceOf(agreeing []*member) *big.Int {
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
				sum.Add(sum, multiplyPrice(item.asked.Big(), item.times))
			}
		}
	}
	if most := j.spec.MaxPrice.Big(); sum.Cmp(most) > 0 {
		return most
	}
	return sum
}

// agreeingMembers are the members whose results agree with one of them: the most there
// are; of as many, those around the lowest lot. They are sorted by lot: the hash of
// the seed of the committee's draw and the address (decision J5).
func (j *job) agreeingMembers() (best []*member, around *member) {
	came := j.membersWithResults()
	for _, one := range came {
		var group []*member
		for _, other := range came {
			if one.claim.agreesWith(&other.claim) {
				group = append(group, other)
			}
		}
		if len(group) > len(best) {
			best, around = group, one
		}
	}
	return best, around
}

// membersWithResults are the members whose results came, by lot.
func (j *job) membersWithResults() (came []*member) {
	for _, m := range j.committee {
		if m.revealed > 0 {
			came = append(came, m)
		}
	}
	lot := func(m *member) types.Hash { return keccak256(j.lots[:], m.runner[:]) }
	slices.SortFunc(came, func(a, b *member) int {
		x, y := lot(a), lot(b)
		return bytes.Compare(x[:], y[:])
	})
	return came
}
