package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// JobFilter selects jobs; zero fields select all.
type JobFilter struct {
	Status    string
	Submitter string // by name or address
	Runner    string // by name or address: who was drawn for them
	Page
}

// Jobs lists jobs in the order they were submitted.
func (c *Client) Jobs(ctx context.Context, f JobFilter) ([]model.Job, error) {
	q := f.Page.query()
	for name, value := range map[string]string{"status": f.Status, "submitter": f.Submitter, "runner": f.Runner} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return read[[]model.Job](ctx, c, "/jobs", q)
}

// Job returns a job by its id, or enough of it.
func (c *Client) Job(ctx context.Context, id string) (model.Job, error) {
	return read[model.Job](ctx, c, "/job/"+url.PathEscape(id), nil)
}

// JobStory returns changes of a job by blocks, from an entry on, at most limit of
// them.
func (c *Client) JobStory(ctx context.Context, id string, offset, limit int) (model.JobStory, error) {
	return read[model.JobStory](ctx, c, "/job/"+url.PathEscape(id)+"/story", Page{Offset: offset, Limit: limit}.query())
}

// JobRunners lists the runners of all draws of a job.
func (c *Client) JobRunners(ctx context.Context, id string, p Page) ([]model.JobRunner, error) {
	return read[[]model.JobRunner](ctx, c, "/job/"+url.PathEscape(id)+"/runners", p.query())
}

// JobDraws lists the draws of a job, each with all that it follows from.
func (c *Client) JobDraws(ctx context.Context, id string, p Page) ([]model.JobDraw, error) {
	return read[[]model.JobDraw](ctx, c, "/job/"+url.PathEscape(id)+"/draws", p.query())
}

// JobResults lists what the chain got of them.
func (c *Client) JobResults(ctx context.Context, id string, p Page) ([]model.JobResult, error) {
	return read[[]model.JobResult](ctx, c, "/job/"+url.PathEscape(id)+"/results", p.query())
}

// Runners lists runners in the order of the registry: those of a health, or all.
func (c *Client) Runners(ctx context.Context, health string, p Page) ([]model.Runner, error) {
	q := p.query()
	if health != "" {
		q.Set("status", health)
	}
	return read[[]model.Runner](ctx, c, "/runners", q)
}

// Runner returns a runner by its name, its address, or enough of that.
func (c *Client) Runner(ctx context.Context, name string) (model.Runner, error) {
	return read[model.Runner](ctx, c, "/runner/"+url.PathEscape(name), nil)
}

// Subsets returns the inputs of every runner's subset.
func (c *Client) Subsets(ctx context.Context) (model.Subsets, error) {
	return read[model.Subsets](ctx, c, "/subsets", nil)
}

// Presence returns P(H).
func (c *Client) Presence(ctx context.Context, h types.Height) (model.Presence, error) {
	return read[model.Presence](ctx, c, "/presence/"+strconv.FormatUint(uint64(h), 10), nil)
}

// PolledJobs lists what a runner has to do that polls (decision J11): the first page.
func (c *Client) PolledJobs(ctx context.Context, runner string) ([]model.PolledJob, error) {
	return read[[]model.PolledJob](ctx, c, "/runner/"+url.PathEscape(runner)+"/jobs", nil)
}

// BringHeartbeat hands in the heartbeat of a runner that polls.
func (c *Client) BringHeartbeat(ctx context.Context, runner string, r model.HeartbeatRequest) (model.Reported, error) {
	return write[model.Reported](ctx, c, "/runner/"+url.PathEscape(runner)+"/heartbeat", r)
}

// BringResult hands in its result.
func (c *Client) BringResult(ctx context.Context, runner string, r model.ResultRequest) (model.Reported, error) {
	return write[model.Reported](ctx, c, "/runner/"+url.PathEscape(runner)+"/job_result", r)
}

// BringRefusal hands in its refusal of a job.
func (c *Client) BringRefusal(ctx context.Context, runner string, r model.RefusalRequest) (model.Reported, error) {
	return write[model.Reported](ctx, c, "/runner/"+url.PathEscape(runner)+"/job_refusal", r)
}
