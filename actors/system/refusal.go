package system

import (
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// OpRefuse is the operation of a Refusal.
const OpRefuse = "refuse"

// Refusal is a runner's signed word that it does not take a job it was drawn for
// (decision J21).
type Refusal struct {
	JobID         types.Hash        `cbor:"job_id"`
	Drawn         types.Height      `cbor:"drawn"` // of the block that drew the committee
	Spec          types.Hash        `cbor:"spec"`  // of the JobSpec that it refuses
	Runner        types.Address     `cbor:"runner"`
	Reason        push.RejectReason `cbor:"reason"`
	Text          string            `cbor:"text"`
	RefusalSigned types.Signature   `cbor:"refusal_signed"`
}

func (r *Refusal) asPushRefusal() *push.Refusal {
	return &push.Refusal{JobID: r.JobID, Drawn: r.Drawn, Spec: r.Spec, Reason: r.Reason, Text: r.Text}
}

func (r *Refusal) signedContent(chainID uint64) (types.Hash, types.Signature) {
	return r.asPushRefusal().Digest(chainID), r.RefusalSigned
}

// Of implements Report.
func (r *Refusal) Of() types.Address { return r.Runner }

// To implements Report.
func (*Refusal) To() types.Address { return types.VerifierAddress }

// Cycles implements Report. The draw of the empty place counts among the block's draws.
func (*Refusal) Cycles(p *params.Params) types.Cycles { return p.CostVerify + 4*p.CostStorageWrite }

// Precheck implements Report. A refusal counts until the commit deadline, and before a
// commitment. Its draw is the one that made the runner a member.
//
// Spec: decision J21.
func (r *Refusal) Precheck(b *InBlock, _ types.Address) *types.Fault {
	j, m, fault := b.findStanding(r.JobID, r.Runner)
	switch {
	case fault != nil:
		return fault
	case r.Drawn != m.Drawn:
		return newFault("other_draw", "a refusal for the draw of block %d; block %d drew %s", r.Drawn, m.Drawn, r.Runner)
	case r.Spec != types.Keccak(RawSpecOf(b.State, j.ID)):
		return newFault("other_spec", "a refusal of a spec that job %s does not have", j.ID)
	case m.Committed > 0:
		return newFault("committed", "%s committed to a result of job %s in block %d", r.Runner, j.ID, m.Committed)
	case b.Height > j.CommitDeadline():
		return newFault("late", "refusals of job %s were due by block %d", j.ID, j.CommitDeadline())
	}
	return nil
}

// isQuickRefusal reports whether a refusal at a height costs its member no reputation. It may come
// until its ack is due, and one block later for its way to the chain.
//
// Spec: decision J21.
func (b *InBlock) isQuickRefusal(m *Member, at types.Height) bool {
	return uint64(at-m.Drawn) <= b.Params.AckTimeoutBlocks+refusalWay
}

// refusalWay is the number of blocks that a refusal takes to the chain.
const refusalWay = 1

// Perform implements Report. It empties the runner's place, which the end of the block
// draws again. A refusal that is not quick costs the reputation that silence costs.
func (r *Refusal) Perform(b *InBlock, validator types.Address) (effect Effect) {
	j, m, _ := b.findStanding(r.JobID, r.Runner)
	b.unindexJob(j)
	m.Refused, j.Vacant = b.Height, true
	if plant.Planted != plant.RefuserDrawn {
		j.Excluded = selection.Exclude(j.Excluded, r.Runner)
	}
	j.Refusals++
	j.Why = string(r.Reason)
	if r.Text != "" {
		j.Why += ": " + r.Text
	}
	b.indexJob(j)
	b.putJob(j)
	s := standingOf(b.State, r.Runner)
	if uint64(b.Height-s.RefusedAt) >= b.Params.RefusalWindow {
		s.Refusals = 0
	}
	s.Refusals, s.RefusedAt = s.Refusals+1, b.Height
	if !b.isQuickRefusal(m, b.Height) && !j.isLate(m) {
		b.lowerReputation(s)
	}
	b.letGo(r.Runner, s)
	event := j.newJobEvent()
	event.Runner, event.Validator, event.Error = &r.Runner, &validator, &j.Why
	change := j.newChange(types.JobChangeRefused, b.Height)
	change.Runner, change.Validator, change.Error = &r.Runner, &validator, &types.Fault{Code: string(r.Reason), Message: r.Text}
	effect.addJobChange(types.VerifierAddress, change, event)
	return effect
}

// listVacant lists jobs with a place to be drawn again, at most the given number.
func (b *InBlock) listVacant(most uint64) (ids []types.Hash) {
	b.State.Scan([]byte(prefixVacant), keyAfterPrefix(prefixVacant), func(_, id []byte) bool {
		if uint64(len(ids)) < most {
			ids = append(ids, types.Hash(id))
		}
		return uint64(len(ids)) < most
	})
	return ids
}

// Vacancies reports whether a committee has a place to be drawn again.
func Vacancies(s actors.Reader) (any bool) {
	s.Scan([]byte(prefixVacant), keyAfterPrefix(prefixVacant), func(_, _ []byte) bool {
		any = true
		return false
	})
	return any
}

// refillPlaces draws again what refusals emptied. While other members work, candidates take the
// empty places, if at least half of the time to commit is left. A committee whose members
// all refused ends, and its job is drawn as a whole, with all of its time.
//
// Spec: decision J21.
func (b *InBlock) refillPlaces(j *Job, d *drawing, effect *Effect) {
	b.unindexJob(j)
	j.Vacant = false
	var empty []*Member
	others := j.Excluded
	for i := range j.Committee {
		if m := &j.Committee[i]; m.Refused > 0 {
			empty = append(empty, m)
		} else {
			others = selection.Exclude(others, m.Runner)
		}
	}
	if len(empty) == len(j.Committee) {
		if !slices.ContainsFunc(empty, func(m *Member) bool { return !b.isQuickRefusal(m, m.Refused) }) {
			j.Declined++
		}
		b.retryJob(j, ErrorRefused, effect)
		if j.Status == Pending {
			b.drawCommittee(j, d, effect)
		}
		return
	}
	n := 0
	var candidates []selection.Candidate
	if left := uint64(j.CommitDeadline() - min(b.Height, j.CommitDeadline())); 2*left >= j.Terms.CommitBlocks {
		candidates = d.candidatesFor(j, others)
		n = min(len(empty), len(candidates))
	}
	if n > 0 {
		drawn, _ := selection.Draw(selection.RefusalSeed(j.Seed, j.Refusals), candidates, n, selection.Favour{})
		for i, runner := range drawn {
			*empty[i] = b.engageRunner(runner, d)
		}
	}
	b.indexJob(j)
	b.putJob(j)
	if n > 0 {
		effect.addJobChange(types.DispatcherAddress, j.newChange(types.JobChangeDrawn, b.Height), j.newJobEvent())
	}
}

// endedByAnswers reports whether the runners of a waiting job's last draw answered, and did not
// complete it. Such a job waits only for busy or absent runners.
//
// Spec: decisions J19, J21.
func (j *Job) endedByAnswers() bool { return j.Ended != "" && j.Ended != ErrorTimeout }

// mayServe reports whether enough runners may do a job that others refused or disagreed
// on, busy or absent ones too.
func (d *drawing) mayServe(j *Job) bool {
	filter := d.filter
	filter.Demand, filter.Excluded = j.demandOf(), j.Excluded
	may := 0
	for _, page := range d.all.pages {
		d.judged += len(page)
		may += filter.Registered(page)
	}
	return uint64(may) >= j.Terms.Runners
}
