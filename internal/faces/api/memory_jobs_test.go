package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/validators/history"
)

// labour holds the runners and jobs of a network in memory: a test sets them.
type labour struct {
	runners     []model.Runner
	jobs        []model.Job
	turns       []model.JobRunner
	draws       []model.JobDraw
	results     []model.JobResult
	story       []model.JobEvent
	assignments map[types.Address][]model.PolledJob
	presence    map[types.Height]*model.Presence
	phase       string
	does        []model.JobEvent // what blocks do from now on
	shows       []model.PresenceEvent
	brought     []string // a runner's report, and its validator
	notTaken    error
}

// BringHeartbeat implements Backend.
func (m *memory) BringHeartbeat(_ context.Context, node string, runner types.Address, ping *push.HeartbeatPing) (types.Hash, error) {
	m.brought = append(m.brought, fmt.Sprint(node, " ", runner, " ", ping.BlockHeight, " ", ping.Nonce, " ", ping.Signed[0]))
	return types.Hash{8}, m.notTaken
}

// BringResult implements Backend.
func (m *memory) BringResult(_ context.Context, node string, runner types.Address, result *push.JobResult) error {
	m.brought = append(m.brought, fmt.Sprintf("%s %s %s %s %d", node, runner, result.JobID, result.ResultData, result.RunnerSigned[0]))
	return m.notTaken
}

// BringRefusal implements Backend.
func (m *memory) BringRefusal(_ context.Context, node string, runner types.Address, ack *push.JobAck) error {
	m.brought = append(m.brought, fmt.Sprintf("%s %s %s %s %s %d", node, runner, ack.JobID, *ack.Status.Reject, *ack.Reason,
		ack.RefusalSigned[0]))
	return m.notTaken
}

func (v *memoryView) Phase() string { return v.m.phase }

func paged[T any](all []T, offset, limit int) []T {
	all = all[min(offset, len(all)):]
	return slices.Clone(all[:min(limit, len(all))])
}

func (v *memoryView) Runner(a types.Address) (*model.Runner, error) {
	i := slices.IndexFunc(v.m.runners, func(r model.Runner) bool { return r.Address == a })
	if i < 0 {
		return nil, nil
	}
	r := v.m.runners[i]
	return &r, nil
}

func (v *memoryView) RunnerAddresses(first, last types.Address) (out []types.Address) {
	for _, r := range v.m.runners {
		if first.Compare(r.Address) <= 0 && r.Address.Compare(last) <= 0 {
			out = append(out, r.Address)
		}
	}
	return out
}

func (v *memoryView) Runners(f answers.RunnerFilter) (out []model.Runner, err error) {
	for _, r := range v.m.runners {
		if (f.Health == "" || r.Health == f.Health) && (!f.Available || r.Present) {
			out = append(out, r)
		}
	}
	return paged(out, f.Offset, f.Limit), nil
}

func (v *memoryView) Subsets() model.Subsets {
	return model.Subsets{SubsetEpoch: 3, Current: model.SubsetBasis{Validators: []model.SubsetMember{
		{Address: v.m.nodes[0].Validator.Address, QUICAddress: "127.0.0.1:9"}, {Address: types.Address{9}, QUICAddress: "127.0.0.1:8"}}}}
}

func (v *memoryView) Presence(h types.Height) (*model.Presence, error) { return v.m.presence[h], nil }

func (v *memoryView) Job(id types.Hash) (*model.Job, error) {
	i := slices.IndexFunc(v.m.jobs, func(j model.Job) bool { return j.ID == id })
	if i < 0 {
		return nil, nil
	}
	j := v.m.jobs[i]
	return &j, nil
}

func (v *memoryView) Jobs(f history.JobFilter) (out []model.Job, err error) {
	for _, j := range v.m.jobs {
		if (f.Status == "" || j.Status == string(f.Status)) && (f.Submitter == nil || j.Submitter == *f.Submitter) &&
			(f.Runner == nil || slices.Contains(j.Committee, *f.Runner)) {
			out = append(out, j)
		}
	}
	if f.Newest {
		slices.Reverse(out)
	}
	return paged(out, f.Offset, f.Limit), nil
}

func (v *memoryView) JobDraws(types.Hash) ([]model.JobDraw, error)     { return v.m.draws, nil }
func (v *memoryView) JobRunners(types.Hash) ([]model.JobRunner, error) { return v.m.turns, nil }

func (v *memoryView) JobResults(_ types.Hash, p history.Page, _ bool) ([]model.JobResult, error) {
	return paged(v.m.results, p.Offset, p.Limit), nil
}

func (v *memoryView) JobStory(_ types.Hash, p history.Page) ([]model.JobEvent, error) {
	return paged(v.m.story, p.Offset, p.Limit), nil
}

func (v *memoryView) Assignments(runner types.Address, after polling.Cursor) ([]model.PolledJob, polling.Cursor) {
	return polling.Page(v.m.assignments[runner], after,
		func(j model.PolledJob) polling.Cursor { return polling.Cursor{Deadline: j.DeadlineBlock, Job: j.JobID} },
		func(j model.PolledJob) int { return len(j.JobSpec) })
}
