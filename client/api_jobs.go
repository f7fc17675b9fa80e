package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Answers and requests of this part, with the field names of their JSON forms.
type (
	AnswerRequest    = model.AnswerRequest
	DrawCandidate    = model.DrawCandidate
	DrawStep         = model.DrawStep
	HeartbeatRequest = model.HeartbeatRequest
	Job              = model.Job
	JobCallback      = model.JobCallback
	JobCommitment    = model.JobCommitment
	JobDraw          = model.JobDraw
	JobEvent         = model.JobEvent
	JobLeftOut       = model.JobLeftOut
	JobPool          = model.JobPool
	JobRequest       = model.JobRequest
	JobResult        = model.JobResult
	JobRunner        = model.JobRunner
	JobState         = model.JobState
	JobStory         = model.JobStory
	JobVerified      = model.JobVerified
	PolledJob        = model.PolledJob
	Presence         = model.Presence
	ProgressRequest  = model.ProgressRequest
	RateCard         = model.RateCard
	RefusalRequest   = model.RefusalRequest
	Reported         = model.Reported
	ResultRequest    = model.ResultRequest
	Runner           = model.Runner
	RunnerAddition   = model.RunnerAddition
	RunnerAmendment  = model.RunnerAmendment
	RunnerChanges    = model.RunnerChanges
	RunnerEvent      = model.RunnerEvent
	RunnerPresence   = model.RunnerPresence
	RunnerRequest    = model.RunnerRequest
	SubsetBasis      = model.SubsetBasis
	SubsetMember     = model.SubsetMember
	Subsets          = model.Subsets
)

// Jobs lists jobs in the order they were submitted.
func (a *API) Jobs(ctx context.Context, f JobFilter, p Page) iter.Seq2[model.Job, error] {
	q := query(nil).withText("status", f.Status).withText("submitter", f.Submitter).withText("runner", f.Runner)
	return listPages[model.Job](ctx, a, "/jobs", q, p)
}

// Job returns a job by its id, or enough of it.
func (a *API) Job(ctx context.Context, id string) (model.Job, error) {
	return getJSON[model.Job](ctx, a, "/job/"+url.PathEscape(id), nil)
}

// JobStatus returns the status of a job.
func (a *API) JobStatus(ctx context.Context, id string) (model.JobState, error) {
	return getJSON[model.JobState](ctx, a, "/job/"+url.PathEscape(id)+"/status", nil)
}

// JobVerified returns the verified result of a job.
func (a *API) JobVerified(ctx context.Context, id string) (model.JobVerified, error) {
	return getJSON[model.JobVerified](ctx, a, "/job/"+url.PathEscape(id)+"/verified", nil)
}

// JobStory returns changes of a job by blocks, from an entry on, at most limit of
// them.
func (a *API) JobStory(ctx context.Context, id string, offset, limit int) (model.JobStory, error) {
	part := query(nil).withNumber("offset", uint64(offset)).withNumber("limit", uint64(limit))
	return getJSON[model.JobStory](ctx, a, "/job/"+url.PathEscape(id)+"/story", part)
}

// JobRunners lists the runners of all draws of a job.
func (a *API) JobRunners(ctx context.Context, id string, p Page) iter.Seq2[model.JobRunner, error] {
	return listPages[model.JobRunner](ctx, a, "/job/"+url.PathEscape(id)+"/runners", nil, p)
}

// JobDraws lists the draws of a job, each with all that it follows from.
func (a *API) JobDraws(ctx context.Context, id string, p Page) iter.Seq2[model.JobDraw, error] {
	return listPages[model.JobDraw](ctx, a, "/job/"+url.PathEscape(id)+"/draws", nil, p)
}

// JobResults lists what the chain got of them.
func (a *API) JobResults(ctx context.Context, id string, p Page) iter.Seq2[model.JobResult, error] {
	return listPages[model.JobResult](ctx, a, "/job/"+url.PathEscape(id)+"/results", nil, p)
}

// Runners lists runners in the order of the registry: those of a health, or all.
func (a *API) Runners(ctx context.Context, health string, p Page) iter.Seq2[model.Runner, error] {
	return listPages[model.Runner](ctx, a, "/runners", query(nil).withText("status", health), p)
}

// ActiveRunners lists the runners that the next draw looks at.
func (a *API) ActiveRunners(ctx context.Context, p Page) iter.Seq2[model.Runner, error] {
	return listPages[model.Runner](ctx, a, "/runners/active", nil, p)
}

// Runner returns a runner by its name, its address, or enough of that.
func (a *API) Runner(ctx context.Context, name string) (model.Runner, error) {
	return getJSON[model.Runner](ctx, a, "/runner/"+url.PathEscape(name), nil)
}

// Subsets returns the inputs of every runner's subset.
func (a *API) Subsets(ctx context.Context) (model.Subsets, error) {
	return getJSON[model.Subsets](ctx, a, "/subsets", nil)
}

// Presence returns P(H).
func (a *API) Presence(ctx context.Context, h types.Height) (model.Presence, error) {
	return getJSON[model.Presence](ctx, a, "/presence/"+strconv.FormatUint(uint64(h), 10), nil)
}

// PolledJobs lists what a runner has to do that polls (decision J11): the first page.
func (a *API) PolledJobs(ctx context.Context, runner string) ([]model.PolledJob, error) {
	return getJSON[[]model.PolledJob](ctx, a, "/runner/"+url.PathEscape(runner)+"/jobs", nil)
}

// BringHeartbeat hands in the heartbeat of a runner that polls.
func (a *API) BringHeartbeat(ctx context.Context, runner string, r model.HeartbeatRequest) (model.Reported, error) {
	return postJSON[model.Reported](ctx, a, "/runner/"+url.PathEscape(runner)+"/heartbeat", r)
}

// BringResult hands in its result.
func (a *API) BringResult(ctx context.Context, runner string, r model.ResultRequest) (model.Reported, error) {
	return postJSON[model.Reported](ctx, a, "/runner/"+url.PathEscape(runner)+"/job_result", r)
}

// BringRefusal hands in its refusal of a job.
func (a *API) BringRefusal(ctx context.Context, runner string, r model.RefusalRequest) (model.Reported, error) {
	return postJSON[model.Reported](ctx, a, "/runner/"+url.PathEscape(runner)+"/job_refusal", r)
}

// SubmitJob submits a job, and returns it once its submission is final.
func (a *API) SubmitJob(ctx context.Context, r model.JobRequest) (model.Job, error) {
	return postJSON[model.Job](ctx, a, "/devnet/job/submit", r)
}

// CancelJob cancels a job for its submitter; the id may be shortened.
func (a *API) CancelJob(ctx context.Context, id string) (model.Job, error) {
	return postJSON[model.Job](ctx, a, "/devnet/job/cancel", model.JobOrder{ID: id})
}

// AnswerJob gives the result of a job of the executor manual to the devnet's runners
// that have it.
func (a *API) AnswerJob(ctx context.Context, r model.AnswerRequest) (model.Job, error) {
	return postJSON[model.Job](ctx, a, "/devnet/job/answer", r)
}

// ProgressJob sets the progress of a job of the executor manual, at the devnet's runners
// that have it.
func (a *API) ProgressJob(ctx context.Context, r model.ProgressRequest) (model.Job, error) {
	return postJSON[model.Job](ctx, a, "/devnet/job/progress", r)
}

// JoinRunner registers a runner, and returns it once that is final.
func (a *API) JoinRunner(ctx context.Context, r model.RunnerRequest) (model.Runner, error) {
	return postJSON[model.Runner](ctx, a, "/devnet/runner/join", r)
}

// LeaveRunner deregisters a runner for its owner, permanently.
func (a *API) LeaveRunner(ctx context.Context, runner string) (model.Runner, error) {
	return postJSON[model.Runner](ctx, a, "/devnet/runner/leave", model.RunnerOrder{Runner: runner})
}

// PauseRunner keeps a runner out of draws for its owner.
func (a *API) PauseRunner(ctx context.Context, runner string) (model.Runner, error) {
	return postJSON[model.Runner](ctx, a, "/devnet/runner/pause", model.RunnerOrder{Runner: runner})
}

// ReloadRunner makes a runner of a network of processes read its settings again.
func (a *API) ReloadRunner(ctx context.Context, runner string) (model.Runner, error) {
	return postJSON[model.Runner](ctx, a, "/devnet/runner/reload", model.RunnerOrder{Runner: runner})
}

// ResumeRunner lets a paused runner be drawn again.
func (a *API) ResumeRunner(ctx context.Context, runner string) (model.Runner, error) {
	return postJSON[model.Runner](ctx, a, "/devnet/runner/resume", model.RunnerOrder{Runner: runner})
}

// UpdateRunner changes what a runner offers, for its owner; what is left out stays.
func (a *API) UpdateRunner(ctx context.Context, r model.RunnerAmendment) (model.Runner, error) {
	return postJSON[model.Runner](ctx, a, "/devnet/runner/update", r)
}

// AddStake adds to a runner's stake, for its owner, who pays it.
func (a *API) AddStake(ctx context.Context, r model.RunnerAddition) (model.Runner, error) {
	return postJSON[model.Runner](ctx, a, "/devnet/runner/stake", r)
}
