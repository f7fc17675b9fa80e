package client

import (
	"context"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Job is a job in any state.
func (c *Client) Job(ctx context.Context, id Hash) (Job, error) { return c.API.Job(ctx, id.String()) }

// JobFilter selects jobs; zero fields select all.
type JobFilter struct {
	Status    string // one of JobPending and its like
	Submitter string
	Runner    string // who was drawn for them
}

// Jobs lists jobs in the order they were submitted.
func (c *Client) Jobs(ctx context.Context, f JobFilter) ([]Job, error) {
	return Collect(c.API.Jobs(ctx, f, Page{}))
}

// JobStory returns all changes of a job by final blocks, and validators' sightings
// of it.
func (c *Client) JobStory(ctx context.Context, id Hash) (JobStory, error) {
	told, err := c.API.JobStory(ctx, id.String(), 0, pageSize)
	for err == nil && told.Next != nil {
		var more JobStory
		if more, err = c.API.JobStory(ctx, id.String(), *told.Next, pageSize); err == nil && more.Next != nil && *more.Next <= *told.Next {
			err = errNoProgress
		}
		told.Story, told.Next = append(told.Story, more.Story...), more.Next
	}
	return told, err
}

// JobRunners lists the runners of all draws of a job, and what each did.
func (c *Client) JobRunners(ctx context.Context, id Hash) ([]JobRunner, error) {
	return Collect(c.API.JobRunners(ctx, id.String(), Page{}))
}

// JobDraws lists the draws of a job, each with all that it follows from.
func (c *Client) JobDraws(ctx context.Context, id Hash) ([]JobDraw, error) {
	return Collect(c.API.JobDraws(ctx, id.String(), Page{}))
}

// JobResults lists what the chain got of them.
func (c *Client) JobResults(ctx context.Context, id Hash) ([]JobResult, error) {
	return Collect(c.API.JobResults(ctx, id.String(), Page{}))
}

// WaitJob waits until a job ended, by its own deadline at the latest, and returns it;
// it comes with a *JobError where it failed.
func (c *Client) WaitJob(ctx context.Context, id Hash) (Job, error) {
	for {
		job, err := c.Job(ctx, id)
		switch {
		case err != nil || job.Status == JobCompleted:
			return job, err
		case job.Status == JobFailed:
			return job, &JobError{job}
		}
		at, err := c.Height(ctx)
		if err == nil {
			_, err = c.pass(ctx, at)
		}
		if err != nil {
			return job, err
		}
	}
}

// CancelJob cancels a job for its submitter.
func (c *Client) CancelJob(ctx context.Context, id Hash) (Job, error) {
	return c.API.CancelJob(ctx, id.String())
}

// AnswerJob gives the result of a job of the executor manual to the devnet's runners
// that were drawn for it.
func (c *Client) AnswerJob(ctx context.Context, id Hash, result []byte) (Job, error) {
	return c.API.AnswerJob(ctx, model.AnswerRequest{ID: id.String(), Result: Bytes(result).String()})
}

// ProgressJob says how far a job of the executor manual is: percent is 1 to 100, and more
// than before. The devnet's runners with that job send it to their validators.
func (c *Client) ProgressJob(ctx context.Context, id Hash, percent uint8, detail string) (Job, error) {
	return c.API.ProgressJob(ctx, model.ProgressRequest{ID: id.String(), Percent: percent, Detail: detail})
}
