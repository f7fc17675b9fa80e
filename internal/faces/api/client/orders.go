package client

import (
	"context"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// SubmitJob submits a job, and returns it once its submission is final.
func (c *Client) SubmitJob(ctx context.Context, r model.JobRequest) (model.Job, error) {
	return write[model.Job](ctx, c, "/devnet/job/submit", r)
}

// CancelJob cancels a job for its submitter; the id may be shortened.
func (c *Client) CancelJob(ctx context.Context, id string) (model.Job, error) {
	return write[model.Job](ctx, c, "/devnet/job/cancel", model.JobOrder{ID: id})
}

// AnswerJob gives the result of a job of the executor manual to the devnet's runners
// that have it.
func (c *Client) AnswerJob(ctx context.Context, r model.AnswerRequest) (model.Job, error) {
	return write[model.Job](ctx, c, "/devnet/job/answer", r)
}

// ProgressJob sets the progress of a job of the executor manual, at the devnet's runners
// that have it.
func (c *Client) ProgressJob(ctx context.Context, r model.ProgressRequest) (model.Job, error) {
	return write[model.Job](ctx, c, "/devnet/job/progress", r)
}

// JoinRunner registers a runner, and returns it once that is final.
func (c *Client) JoinRunner(ctx context.Context, r model.RunnerRequest) (model.Runner, error) {
	return write[model.Runner](ctx, c, "/devnet/runner/join", r)
}

// LeaveRunner deregisters a runner for its owner, permanently.
func (c *Client) LeaveRunner(ctx context.Context, runner string) (model.Runner, error) {
	return write[model.Runner](ctx, c, "/devnet/runner/leave", model.RunnerOrder{Runner: runner})
}

// PauseRunner keeps a runner out of draws for its owner.
func (c *Client) PauseRunner(ctx context.Context, runner string) (model.Runner, error) {
	return write[model.Runner](ctx, c, "/devnet/runner/pause", model.RunnerOrder{Runner: runner})
}

// ReloadRunner makes a runner of a network of processes read its settings again.
func (c *Client) ReloadRunner(ctx context.Context, runner string) (model.Runner, error) {
	return write[model.Runner](ctx, c, "/devnet/runner/reload", model.RunnerOrder{Runner: runner})
}

// ResumeRunner lets a paused runner be drawn again.
func (c *Client) ResumeRunner(ctx context.Context, runner string) (model.Runner, error) {
	return write[model.Runner](ctx, c, "/devnet/runner/resume", model.RunnerOrder{Runner: runner})
}
