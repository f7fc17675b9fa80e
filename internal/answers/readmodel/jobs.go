package readmodel

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/validators/history"
)

func (v *reader) Job(id types.Hash) (*model.Job, error) {
	record, err := v.Archive.Job(id)
	if err != nil || record == nil {
		return nil, err
	}
	m, spec, err := v.jobOf(record)
	if err == nil {
		m.Pool, err = v.candidatesOf(record, spec)
	}
	return m, err
}

func (v *reader) Jobs(f history.JobFilter) (out []model.Job, err error) {
	records, err := v.Archive.Jobs(f)
	for i := range records {
		m, _, err := v.jobOf(&records[i])
		if err != nil {
			return nil, err
		}
		out = append(out, *m)
	}
	return out, err
}

func specOf(r *history.JobRecord) (*push.JobSpec, error) {
	spec := new(push.JobSpec)
	if err := codec.Unmarshal(r.Spec, len(r.Spec), spec); err != nil {
		return nil, fmt.Errorf("the stored spec of job %s: %w", r.ID, err)
	}
	return spec, nil
}

func (v *reader) jobOf(r *history.JobRecord) (*model.Job, *push.JobSpec, error) {
	spec, err := specOf(r)
	if err != nil {
		return nil, nil, err
	}
	m := &model.Job{ID: r.ID, Kind: spec.JobType.Kind().String(), Submitter: r.Submitter, Mode: answers.ModeName(spec.Verification.Mode),
		Runners: spec.Verification.Runners, Status: string(r.Status), Committee: append([]types.Address{}, r.Committee...),
		CommitteeDrawnAt: append([]types.Height{}, r.Drawn...),
		Attempts:         r.Attempts, SubmittedAt: r.SubmittedAt, AssignedAt: orUnknown(r.DrawnAt), Deadline: r.Deadline(),
		CompletedAt: orUnknown(r.EndedAt),
		Winner:      r.Winner, Error: answers.ShowError(r.Error), TimeoutBlocks: r.TimeoutBlocks, MaxPrice: spec.MaxPrice, Tip: spec.Tip,
		Escrow: r.Escrow,
		Price:  r.Price, Spec: r.Spec}
	if c := spec.Callback; c != nil {
		m.Callback = &model.JobCallback{Actor: c.Actor, Handler: c.Handler}
	}
	if len(r.Committee) > 0 && m.Runners > 1 {
		m.CommitDeadline = orUnknown(r.CommitDeadline())
	}
	if r.Winner != nil {
		result, err := v.Archive.JobResult(r.ID, r.Attempts, *r.Winner)
		if err != nil {
			return nil, nil, err
		}
		m.Result = (*types.Bytes)(&result)
	}
	return m, spec, nil
}

func orUnknown(h types.Height) *types.Height {
	if h == 0 {
		return nil
	}
	return &h
}

// JobRunners implements answers.Reader: those of all draws, in the order drawn.
func (v *reader) JobRunners(id types.Hash) (out []model.JobRunner, err error) {
	turns, err := v.Archive.JobTurns(id)
	for i := range turns {
		t := &turns[i]
		m := model.JobRunner{Address: t.Runner, Attempt: t.Attempt, RevealedAt: orUnknown(t.RevealedAt), Outcome: outcomeOf(t)}
		if len(t.Commitments) > 0 {
			m.CommittedAt = orUnknown(t.Commitments[0].At)
		}
		out = append(out, m)
	}
	return out, err
}

func outcomeOf(t *history.JobTurn) string {
	switch {
	case t.Refused:
		return model.RunnerRefused
	case t.Concluded && t.RevealedAt == 0:
		return model.RunnerSilent
	case !t.Judged:
		return model.RunnerPending
	case t.Agreed:
		return model.RunnerAgreed
	}
	return model.RunnerDisagreed
}

// JobResults implements answers.Reader: the outcomes of runners that sent something.
// Bare ones have no result.
func (v *reader) JobResults(id types.Hash, p history.Page, bare bool) (out []model.JobResult, err error) {
	turns, err := v.Archive.JobTurns(id)
	if err != nil {
		return nil, err
	}
	turns = slices.DeleteFunc(turns, func(t history.JobTurn) bool { return len(t.Commitments) == 0 && t.RevealedAt == 0 })
	turns = turns[min(p.Offset, len(turns)):]
	for i := range turns[:min(p.Limit, len(turns))] {
		t := &turns[i]
		m := model.JobResult{Runner: t.Runner, Attempt: t.Attempt, RevealedAt: orUnknown(t.RevealedAt), Commitments: []model.JobCommitment{}}
		for _, c := range t.Commitments {
			m.Commitments = append(m.Commitments, model.JobCommitment{Validator: *c.Validator, Height: c.At, Commitment: c.Commitment})
		}
		if t.RevealedAt > 0 && !bare {
			result, err := v.Archive.JobResult(id, t.Attempt, t.Runner)
			if err != nil {
				return nil, err
			}
			m.Result = (*types.Bytes)(&result)
		}
		out = append(out, m)
	}
	return out, nil
}

// JobStory implements answers.Reader.
func (v *reader) JobStory(id types.Hash, p history.Page) ([]model.JobEvent, error) {
	notes, err := v.Archive.JobNotes(id, history.Page{Limit: p.Offset + p.Limit})
	if err != nil {
		return nil, err
	}
	done, err := v.jobEvents(notes)
	if err != nil {
		return nil, err
	}
	seen := v.source.Sightings.ofJob(id)
	for i := range seen {
		if seen[i].Height, err = v.sentAt(seen[i].Height); err != nil {
			return nil, err
		}
	}
	seen = slices.DeleteFunc(seen, func(e model.JobEvent) bool { return v.isLater(e.Height) })
	all := mergeStory(done, seen)
	all = all[min(p.Offset, len(all)):]
	return all[:min(p.Limit, len(all))], nil
}

func (v *reader) jobEvents(notes []history.JobNote) ([]model.JobEvent, error) {
	events := make([]model.JobEvent, len(notes))
	for i := range notes {
		n := &notes[i]
		events[i] = model.JobEvent{ID: n.ID, Height: n.At, What: string(n.Kind), Attempt: n.Attempt, Runner: n.Runner, Validator: n.Validator,
			Committee: append([]types.Address{}, n.Committee...), Error: answers.ShowError(n.Error), Submitter: n.Submitter}
		if n.Kind == types.JobChangeDrawn {
			draw, err := v.Archive.JobDraw(n.ID, n.Attempt)
			if err != nil {
				return nil, err
			}
			events[i].Favoured = draw.Favoured
		}
		if len(n.Left) == 0 {
			continue
		}
		record, err := v.Archive.Job(n.ID)
		if err != nil {
			return nil, err
		}
		if record == nil {
			continue // dropped since
		}
		spec, err := specOf(record)
		if err != nil {
			return nil, err
		}
		events[i].Pool = v.poolOf(n.Left, spec)
	}
	return events, nil
}

// Phase implements answers.Reader.
func (v *reader) Phase() string { return v.state.Params().Push }

// Assignments implements answers.Reader.
func (v *reader) Assignments(runner types.Address, after polling.Cursor) (out []model.PolledJob, next polling.Cursor) {
	page, next := v.state.Page(runner, after)
	for _, j := range page {
		out = append(out, model.PolledJob{JobID: j.ID, JobSpec: v.state.JobSpec(j.ID), BlockHeight: j.Since, DeadlineBlock: j.Deadline()})
	}
	return out, next
}

// mergeStory puts what validators saw of a job among what blocks did to it, both in the
// order of heights. An event that is sent with a block was seen about when that became
// final: it comes after the draws of that height, and before the block's other changes.
func mergeStory(done, seen []model.JobEvent) []model.JobEvent {
	all := make([]model.JobEvent, 0, len(done)+len(seen))
	for len(done) > 0 {
		h := done[0].Height
		before := slices.IndexFunc(seen, func(e model.JobEvent) bool { return e.Height >= h })
		if before < 0 {
			before = len(seen)
		}
		all, seen = append(all, seen[:before]...), seen[before:]
		begun, end := 0, 0
		for ; end < len(done) && done[end].Height == h; end++ {
			switch done[end].What {
			case model.JobSubmitted, model.JobRetried, model.JobDrawn:
				begun = end + 1
			}
		}
		at := 0
		for at < len(seen) && seen[at].Height == h {
			at++
		}
		all = append(append(append(all, done[:begun]...), seen[:at]...), done[begun:end]...)
		done, seen = done[end:], seen[at:]
	}
	return append(all, seen...)
}
