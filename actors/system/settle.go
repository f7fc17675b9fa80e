package system

import (
	"fmt"
	"math/big"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// maxReputation is the highest reputation; the lowest is 0 (decision J20).
const maxReputation = 100

// concludeAttempt ends an attempt. The job is completed if enough results agree, and otherwise
// drawn again. Silent runners are punished in each case.
//
// Spec: decisions J5, J6, J19.
func (b *InBlock) concludeAttempt(j *Job, effect *Effect) {
	b.unindexJob(j)
	agreeing, around := j.agreeingMembers()
	if uint64(len(agreeing)) >= j.Terms.Threshold {
		b.completeJob(j, agreeing, around, effect)
		return
	}
	code := j.whyIncomplete(len(agreeing))
	b.punishSilent(j)
	b.rememberResults(j)
	if code == ErrorDisagreement || code == ErrorInvalidResults {
		for i := range j.Committee {
			j.Excluded = selection.Exclude(j.Excluded, j.Committee[i].Runner)
		}
	}
	b.releaseCommittee(j)
	b.retryJob(j, code, effect)
}

// whyIncomplete returns the code of an attempt that does not complete the job, of whose
// results the largest group has a size. Silence comes before refusals, and these before
// results that differ. Results that do not count are told by the first of them.
//
// Spec: decisions J19, J21.
func (j *Job) whyIncomplete(group int) string {
	refused := false
	for i := range j.Committee {
		if m := &j.Committee[i]; m.Owes() {
			return ErrorTimeout
		} else if m.Refused > 0 {
			refused = true
		}
	}
	revealed := j.revealedMembers()
	if refused && group == len(revealed) {
		return ErrorRefused
	}
	valid, first := uint64(0), ""
	for _, m := range revealed {
		if m.Claim.Valid() {
			valid++
		} else if first == "" {
			first = m.Claim.Fault
		}
	}
	if valid >= j.Terms.Threshold {
		return ErrorDisagreement
	}
	j.Why = fmt.Sprintf("%d of %d, the first is %s", uint64(len(revealed))-valid, len(revealed), first)
	return ErrorInvalidResults
}

// punishSilent takes reputation from the silent, and excludes them. A runner that took an
// emptied place had less time, so its silence costs nothing.
func (b *InBlock) punishSilent(j *Job) {
	for i := range j.Committee {
		m := &j.Committee[i]
		if !m.Owes() || j.isLate(m) {
			continue
		}
		j.Excluded = selection.Exclude(j.Excluded, m.Runner)
		s := standingOf(b.State, m.Runner)
		b.lowerReputation(s)
		b.setStanding(m.Runner, s)
	}
}

// lowerReputation takes from a runner what silence costs.
func (b *InBlock) lowerReputation(s *Standing) {
	reputation := b.reputationOf(s)
	s.Reputation, s.ReputedAt = reputation-min(reputation, b.Params.TimeoutPenalty), b.Height
}

// Revealed is a result of an attempt that did not complete its job.
type Revealed struct {
	_      struct{} `cbor:",toarray"`
	Runner types.Address
	Claim  Claim
}

// maxRevealed bounds the results of earlier attempts that a job keeps: more than a
// committee of 31 and three retries reveal. The oldest leave first.
const maxRevealed = 256

// rememberResults keeps the results of an attempt that ends, until the job does.
//
// Spec: decision J19.
func (b *InBlock) rememberResults(j *Job) {
	earlier := b.earlierResults(j)
	before := len(earlier)
	for _, m := range j.revealedMembers() {
		earlier = append(earlier, Revealed{Runner: m.Runner, Claim: m.Claim})
	}
	if len(earlier) > before {
		earlier = earlier[max(0, len(earlier)-maxRevealed):]
		b.storeRecord(types.VerifierAddress, keyEarlier(j.ID), earlier)
	}
}

// earlierResults lists the results of a job's earlier attempts, in the order in which they are
// judged.
func (b *InBlock) earlierResults(j *Job) []Revealed {
	if kept := loadRecord[[]Revealed](b.State, types.VerifierAddress, keyEarlier(j.ID)); kept != nil {
		return *kept
	}
	return nil
}

// discreditRunners takes what silence costs for each result that differs from the one that
// completed the job: of its last attempt, then of earlier ones. A runner whose stake
// returned has nothing to lose.
//
// Spec: decision J19.
func (b *InBlock) discreditRunners(j *Job, around *Member) (runners []types.Address) {
	results := b.earlierResults(j)
	for _, m := range j.revealedMembers() {
		results = append(results, Revealed{Runner: m.Runner, Claim: m.Claim})
	}
	for i := range results {
		s := standingOf(b.State, results[i].Runner)
		if j.Terms.doAgree(&around.Claim, &results[i].Claim) || s.Stake.IsZero() {
			continue
		}
		b.lowerReputation(s)
		b.setStanding(results[i].Runner, s)
		runners = append(runners, results[i].Runner)
	}
	return runners
}

// reputationOf is a runner's in this block.
func (b *InBlock) reputationOf(s *Standing) uint64 {
	limits := selection.LimitsOf(b.Params)
	return limits.Reputed(s.Reputation, s.ReputedAt, b.Height)
}

// retryJob lets a job wait for another committee, or fails it with the code of its last draw.
// A draw whose whole committee refused in time uses up no retry.
//
// Spec: decisions J6, J21.
func (b *InBlock) retryJob(j *Job, code string, effect *Effect) {
	if uint64(j.Attempts) > min(j.Terms.MaxRetries, b.Params.MaxRetries)+uint64(j.Declined) {
		b.failJob(j, code, effect)
		return
	}
	j.Ended = code
	b.waitForDraw(j, effect)
}

// waitForDraw takes a job from its committee, to be drawn again. j.Ended is why.
func (b *InBlock) waitForDraw(j *Job, effect *Effect) {
	event, committee, code := j.newJobEvent(), j.MemberAddresses(), j.Ended
	event.Error = &code
	j.Status, j.Since, j.Committee, j.Vacant = Pending, b.Height, nil, false
	b.indexJob(j)
	b.putJob(j)
	change := j.newChange(types.JobChangeRetried, b.Height)
	change.Committee, change.Error = committee, &types.Fault{Code: code, Message: j.failureMessage(code)}
	effect.addJobChange(types.DispatcherAddress, change, event)
}

// completeJob pays the runners that agree, and calls back with the winner's result.
//
// Spec: decisions J7, J16, J19, CIP-11 §9.4.
func (b *InBlock) completeJob(j *Job, agreeing []*Member, around *Member, effect *Effect) {
	winner := agreeing[0].Runner
	result := ResultOf(b.State, j.ID, winner)
	price := j.priceOf(agreeing)
	b.payRunners(j, agreeing, price)
	b.punishSilent(j)
	b.rewardRunners(agreeing)
	discredited := b.discreditRunners(j, around)
	b.releaseCommittee(j)
	b.storeRecord(types.DispatcherAddress, keyMRU(j.Submitter, j.Kind), &selection.MRU{Runner: winner, SetAt: b.Height})
	b.callBack(j, Completed, result, nil)
	b.forgetJob(j)
	event := j.newJobEvent()
	event.Runner, event.Price = &winner, &price
	change := j.newChange(types.JobChangeCompleted, b.Height)
	change.Status, change.Runner, change.Price = Completed, &winner, price
	for _, m := range agreeing {
		change.Agreed = append(change.Agreed, m.Runner)
	}
	change.Discredited = discredited
	effect.addJobChange(types.DispatcherAddress, change, event)
}

// payRunners divides the escrow but for the callback's part: the runners' share in equal
// parts, what is left of the price to the treasury, the tip to the winner, the rest
// back.
func (b *InBlock) payRunners(j *Job, agreeing []*Member, price types.Wei) {
	all, _ := price.MulDiv(types.WeiOf(b.Params.RunnerSharePermille), types.WeiOf(permille)) // at most the price
	part := all.Div(uint64(len(agreeing)))
	for _, m := range agreeing {
		b.moveMoney(types.DispatcherAddress, m.Runner, part)
	}
	b.collectForTreasury(price.Sub(part.Mul(uint64(len(agreeing)))))
	b.moveMoney(types.DispatcherAddress, agreeing[0].Runner, j.Terms.Tip)
	b.moveMoney(types.DispatcherAddress, j.Submitter, j.Terms.MaxPrice.Sub(price))
}

// priceOf is what the agreeing runners ask together, at most max_price. Their prices
// may be any numbers, so they are added without bounds.
func (j *Job) priceOf(agreeing []*Member) types.Wei {
	sum := new(big.Int)
	add := func(amount types.Wei, times uint64) {
		sum.Add(sum, new(big.Int).Mul(amount.Big(), new(big.Int).SetUint64(times)))
	}
	for _, m := range agreeing {
		add(m.Card.ComputeSecond, j.Terms.Usage.Seconds)
		add(m.Card.MemoryMB, j.Terms.Usage.MemoryMB)
		switch j.Kind {
		case push.JobLLM:
			add(m.Card.LLMInputToken, j.Terms.Usage.InputTokens)
			add(m.Card.LLMOutputToken, divideUp(m.Bytes, wordBytes))
		case push.JobHTTP:
			add(m.Card.HTTPRequestBase, 1)
		case push.JobMCP:
			add(m.Card.MCPCallBase, 1)
		}
	}
	if price, ok := types.WeiFromBig(sum); ok {
		return price.Min(j.Terms.MaxPrice)
	}
	return j.Terms.MaxPrice
}

// rewardRunners raises the reputation of the runners that agree.
func (b *InBlock) rewardRunners(agreeing []*Member) {
	for _, m := range agreeing {
		s := standingOf(b.State, m.Runner)
		s.Reputation, s.ReputedAt = min(b.reputationOf(s)+b.Params.SuccessReward, maxReputation), b.Height
		b.setStanding(m.Runner, s)
	}
}

// failJob ends a job without a result: the escrow is refunded, and the actor is
// notified. Its committee is released, and it is out of the indexes.
func (b *InBlock) failJob(j *Job, code string, effect *Effect) {
	b.moveMoney(types.DispatcherAddress, j.Submitter, j.Terms.escrowAmount().Sub(j.Terms.callbackCost()))
	b.callBack(j, Failed, nil, &JobError{Code: code, Message: j.failureMessage(code)})
	b.forgetJob(j)
	b.endWithoutResult(j, types.JobChangeFailed, code, effect)
}

// endWithoutResult records that a job ended without a result.
func (b *InBlock) endWithoutResult(j *Job, kind types.JobChangeKind, code string, effect *Effect) {
	event, change := j.newJobEvent(), j.newChange(kind, b.Height)
	event.Error = &code
	change.Status, change.Error = Failed, &types.Fault{Code: code, Message: j.failureMessage(code)}
	effect.addJobChange(types.DispatcherAddress, change, event)
}

// jobErrors says what the codes of failed jobs mean.
var jobErrors = map[string]string{
	ErrorTimeout:      "too few answered in time, and too few others or no tries are left",
	ErrorNoCandidates: "there were too few runners that may do it until its timeout",
	ErrorDisagreement: "all runners answered, and fewer than the threshold agree",
	ErrorCancelled:    "its submitter cancelled it",
	ErrorRefused:      "runners refused it, and too few others or no tries are left; the last said ",

	ErrorInvalidResults: "too few results pass the format and the checks of its spec: ",
}

// failureMessage says why the job failed.
func (j *Job) failureMessage(code string) string {
	if code == ErrorRefused || code == ErrorInvalidResults {
		return jobErrors[code] + j.Why
	}
	return jobErrors[code]
}

// JobError is why a job failed.
type JobError struct {
	Code    string `cbor:"code"`
	Message string `cbor:"message"`
}

// Answer is the payload of a callback (decision J19).
type Answer struct {
	JobID         types.Hash `cbor:"job_id"`
	Status        Status     `cbor:"status"`
	Result        []byte     `cbor:"result"` // the winner's; null where it failed
	Error         *JobError  `cbor:"error"`
	CorrelationID []byte     `cbor:"correlation_id"`
	Context       []byte     `cbor:"context"`
}

// callBack sends the outcome to the actor that the spec names, with the limits
// that the escrow holds (decision J16).
func (b *InBlock) callBack(j *Job, status Status, result []byte, why *JobError) {
	if !j.Terms.Callback {
		return
	}
	to := SpecOf(b.State, j.ID).Callback
	answer := Answer{JobID: j.ID, Status: status, Result: result, Error: why, CorrelationID: to.CorrelationID, Context: to.Context}
	message := &actors.Message{SentAt: b.Height, Cause: j.ID, Payer: j.Submitter, From: types.DispatcherAddress, To: to.Actor,
		Handler: to.Handler, Payload: codec.Marshal(&answer), Cycles: j.Terms.Cycles, Cells: j.Terms.Cells,
		PriceCycle: j.Terms.PriceCycle, PriceCell: j.Terms.PriceCell}
	if !b.State.Debit(types.DispatcherAddress, message.Prepaid()) {
		panic("system: the escrow does not hold the callback of job " + j.ID.String())
	}
	b.State.Enqueue(message)
}
