package readmodel

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/history"
)

// JobDraws implements answers.Reader.
func (v *reader) JobDraws(id types.Hash) (out []model.JobDraw, err error) {
	record, err := v.Archive.Job(id)
	if err != nil || record == nil {
		return nil, err
	}
	draws, err := v.Archive.JobDraws(id)
	for i := range draws {
		out = append(out, drawOf(record, &draws[i]))
	}
	return out, err
}

func drawOf(job *history.JobRecord, d *history.JobDraw) model.JobDraw {
	m := model.JobDraw{Attempt: d.Attempt, Height: d.At, SubmittedAt: job.SubmittedAt, Basis: d.Basis, Seed: d.Seed, Favoured: d.Favoured,
		Multiplier: d.Multiplier, Number: d.Number, Candidates: []model.DrawCandidate{}, Steps: []model.DrawStep{},
		Committee: append([]types.Address{}, d.Committee...)}
	favour := selection.Favour{Multiplier: d.Multiplier}
	if d.Favoured != nil {
		favour.Runner = *d.Favoured
	}
	candidates := make([]selection.Candidate, len(d.Candidates))
	for i, c := range d.Candidates {
		candidates[i] = selection.Candidate{Address: c.Runner, Weight: c.Weight}
		m.Candidates = append(m.Candidates, model.DrawCandidate{Runner: c.Runner, Weight: c.Weight})
	}
	for _, s := range selection.Steps(d.Seed, candidates, len(d.Committee), favour) {
		m.Steps = append(m.Steps, model.DrawStep{Digest: s.Digest, Total: s.Total, Number: s.Number, Position: s.Position, Runner: s.Runner})
	}
	return m
}

// poolOf returns the candidates for a job of a spec, from counts by filter; nil without
// counts.
func (v *reader) poolOf(counts []uint32, spec *push.JobSpec) *model.JobPool {
	if len(counts) == 0 {
		return nil
	}
	m := &model.JobPool{Wanted: spec.Verification.Runners, Eligible: counts[selection.Eligible], LeftOut: []model.JobLeftOut{}}
	for reason := int(selection.Eligible) + 1; reason < len(counts); reason++ {
		if n := counts[reason]; n > 0 {
			filter := selection.Reason(reason)
			m.LeftOut = append(m.LeftOut, model.JobLeftOut{Filter: filter.String(), Runners: n, Why: whyLeftOut(filter, spec, v.state.NextParams())})
		}
	}
	return m
}

// whyLeftOut says what a filter asks for.
func whyLeftOut(filter selection.Reason, spec *push.JobSpec, p *params.Params) string {
	switch filter {
	case selection.Excluded:
		return "drawn for it before, and without a result"
	case selection.Unhealthy:
		return fmt.Sprintf("paused, or the last heartbeat on chain is more than %d blocks old (cip11.stale_heartbeat_blocks)",
			p.StaleHeartbeatBlocks)
	case selection.Absent:
		return fmt.Sprintf("not in P: cip11.push is %s, and only runners that validators are connected to are drawn", p.Push)
	case selection.Disreputable:
		return fmt.Sprintf("reputation below cip2.min_reputation, %d", p.MinReputation)
	case selection.Incapable:
		return "no " + subjectOf(spec)
	case selection.WithoutTEE:
		return "no trusted execution"
	case selection.TooDear:
		return fmt.Sprintf("a second costs more than the job's max_price, %s wei", spec.MaxPrice)
	case selection.Busy:
		return "as many jobs in hand as the runner takes at once"
	case selection.NotEntitled:
		return "not in the pool of runners that the job requires"
	case selection.Underfunded:
		return fmt.Sprintf("a stake below max_price × %d / 1000 (cip2.stake_cover_permille)", p.StakeCoverPermille)
	}
	return filter.String()
}

// subjectOf is what a runner has to offer for a job.
func subjectOf(spec *push.JobSpec) string {
	kind := spec.JobType.Kind().String()
	switch t := spec.JobType; {
	case t.Llm != nil:
		return fmt.Sprintf("%s jobs of the model %q", kind, t.Llm.Model)
	case t.Http != nil:
		return kind + " jobs to the host of its URL"
	case t.Mcp != nil:
		return fmt.Sprintf("%s jobs of the server %q", kind, t.Mcp.Server)
	case t.Custom != nil:
		return kind + " jobs, or not of this executor"
	}
	return kind + " jobs"
}

// candidatesOf returns the present candidates for a waiting job, and the last candidates of a
// job that failed with too few; otherwise nil.
func (v *reader) candidatesOf(r *history.JobRecord, spec *push.JobSpec) (*model.JobPool, error) {
	if r.Status != types.JobPending && r.Status != types.JobFailed {
		return nil, nil
	}
	latest, err := v.Archive.LatestPresence(v.state.Height())
	if err != nil {
		return nil, err
	}
	if now := v.state.LeftOut(r.ID, latest.Bitmap); now != nil {
		return v.poolOf(now, spec), nil
	}
	// It has ended, or the archive is a block ahead of the state: use the counts of
	// its last block, which only a callback can follow.
	notes, err := v.Archive.JobNotes(r.ID, history.Page{Limit: 2, Newest: true})
	for i := range notes {
		if len(notes[i].Left) > 0 {
			return v.poolOf(notes[i].Left, spec), err
		}
	}
	return nil, err
}
