package api

import (
	"context"
	"net/http"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

func (s *Server) registerJobs() {
	serveRead(s, operation{id: "jobs", path: "/jobs", tag: tagJobs,
		summary: "Jobs in every state, in the order of submission, or the other way round", errors: []int{400},
		response: []model.Job{exampleJob}}, s.listJobs)
	serveRead(s, operation{id: "job", path: "/job/{id}", tag: tagJobs,
		client:  "Job(id string) returns a job by its id, or enough of it.",
		summary: "A job", errors: []int{400}, response: exampleJob}, s.getJob)
	serveRead(s, operation{id: "job_status", path: "/job/{id}/status", tag: tagJobs,
		client:  "JobStatus(id string) returns the status of a job.",
		summary: "The status of a job", errors: []int{400}, response: model.JobState{ID: exampleJobID, Status: "Completed"}}, s.jobStatus)
	serveRead(s, operation{id: "job_runners", path: "/job/{id}/runners", tag: tagJobs,
		client:  "JobRunners(id string, p Page) lists the runners of all draws of a job.",
		summary: "List the runners of all draws of a job, in the order drawn, with their outcomes", errors: []int{400},
		response: []model.JobRunner{{Address: exampleAddress, Attempt: 1, CommittedAt: new(types.Height(14)), RevealedAt: &exampleReveal,
			Outcome: model.RunnerAgreed}}}, pageOfJob(answers.Reader.JobRunners))
	serveRead(s, operation{id: "job_draws", path: "/job/{id}/draws", tag: tagJobs,
		client:  "JobDraws(id string, p Page) lists the draws of a job, each with all that it follows from.",
		summary: "The draws of a job, each with its inputs: the candidates, their weights, the seed and each step",
		errors:  []int{400}, response: []model.JobDraw{exampleDraw}}, pageOfJob(answers.Reader.JobDraws))
	serveRead(s, operation{id: "job_results", path: "/job/{id}/results", tag: tagJobs,
		client:  "JobResults(id string, p Page) lists what the chain got of them.",
		summary: "List the commitments and results of the runners of all draws of a job", errors: []int{400},
		response: []model.JobResult{exampleJobResult}}, s.jobResults)
	serveRead(s, operation{id: "job_verified", path: "/job/{id}/verified", tag: tagJobs,
		client:  "JobVerified(id string) returns the verified result of a job.",
		summary: "The verified result of a job", errors: []int{400},
		response: model.JobVerified{ID: exampleJobID, Verified: true, Result: &exampleResult, Winner: &exampleAddress}}, s.verifyJob)
	serveRead(s, operation{id: "job_story", path: "/job/{id}/story", tag: tagJobs,
		client:   "JobStory(id string, offset int, limit int) returns changes of a job by blocks, from an entry on, at most limit of them.",
		summary:  "List the events of a job, from its submission to its callback, with sightings of validators outside the chain",
		errors:   []int{400},
		response: model.JobStory{Job: exampleJob, Height: 20, Story: []model.JobEvent{exampleJobEvent}}}, s.jobStory)
}

type jobsInput struct {
	OnMoment
	OrderedPage
	Status    string `query:"status" enum:"Pending,Assigned,Executing,Completed,Failed" doc:"Only those in this state."`
	Submitter string `query:"submitter" maxLength:"256" doc:"Only this account's or actor's, by address or name."`
	Runner    string `query:"runner" maxLength:"256" doc:"Only those that this runner was drawn for, by address or name."`
}

func (s *Server) listJobs(_ context.Context, v answers.Reader, in *jobsInput) ([]model.Job, error) {
	filter := history.JobFilter{Status: types.JobStatus(in.Status), Page: in.historyPage()}
	if in.Submitter != "" {
		a, err := s.resolveAddress(v, in.Submitter, "submitter")
		if err != nil {
			return nil, err
		}
		filter.Submitter = &a
	}
	if in.Runner != "" {
		r, err := s.findRunner(v, in.Runner, "runner")
		if err != nil {
			return nil, err
		}
		filter.Runner = &r.Address
	}
	jobs, err := v.Jobs(filter)
	return append([]model.Job{}, jobs...), err
}

// JobInput is the parameter of requests for one job.
type JobInput struct {
	OnMoment
	ID string `path:"id" maxLength:"80" example:"0x3333333333333333333333333333333333333333333333333333333333333333" doc:"As its submission answered it, and GET /jobs lists it."`
}

// findJob finds a job by its id, or enough of it. field is what an error points at.
func findJob(v answers.Reader, text, field string) (m model.Job, err error) {
	id, err := findHash(v, history.JobHash, text, field)
	if err != nil {
		return m, err
	}
	j, err := v.Job(id)
	if err != nil {
		return m, err
	}
	if j == nil {
		return m, orPruned(v, Refuse(http.StatusNotFound, "unknown_job", "no final block took a job %s", id).
			Hint("GET /jobs lists those that are known.").At(field))
	}
	return *j, nil
}

func (s *Server) getJob(_ context.Context, v answers.Reader, in *JobInput) (model.Job, error) {
	return findJob(v, in.ID, "id")
}

func (s *Server) jobStatus(_ context.Context, v answers.Reader, in *JobInput) (m model.JobState, err error) {
	j, err := findJob(v, in.ID, "id")
	if err != nil {
		return m, err
	}
	return model.JobState{ID: j.ID, Status: j.Status}, nil
}

func (s *Server) verifyJob(_ context.Context, v answers.Reader, in *JobInput) (m model.JobVerified, err error) {
	j, err := findJob(v, in.ID, "id")
	if err != nil {
		return m, err
	}
	return model.JobVerified{ID: j.ID, Verified: j.Status == string(types.JobCompleted), Result: j.Result, Winner: j.Winner}, nil
}

type jobPageInput struct {
	JobInput
	Page
}

// pageOfJob lists a page of a part of a job.
func pageOfJob[T any](part func(answers.Reader, types.Hash) ([]T, error)) func(context.Context, answers.Reader, *jobPageInput) ([]T,
	error) {
	return func(_ context.Context, v answers.Reader, in *jobPageInput) ([]T, error) {
		j, err := findJob(v, in.ID, "id")
		if err != nil {
			return nil, err
		}
		all, err := part(v, j.ID)
		all = all[min(in.Offset, len(all)):]
		return append([]T{}, all[:min(in.Limit, len(all))]...), err
	}
}

type jobResultsInput struct {
	JobInput
	Page
	Bare bool `query:"bare" doc:"Without the results themselves, result being null in each: what runners ask for at each head."`
}

func (s *Server) jobResults(_ context.Context, v answers.Reader, in *jobResultsInput) ([]model.JobResult, error) {
	j, err := findJob(v, in.ID, "id")
	if err != nil {
		return nil, err
	}
	results, err := v.JobResults(j.ID, history.Page{Offset: in.Offset, Limit: in.Limit}, in.Bare)
	return append([]model.JobResult{}, results...), err
}

type jobStoryInput struct {
	JobInput
	Offset int `query:"offset" minimum:"0" maximum:"1000000000" default:"0" doc:"Entries to leave out."`
	Limit  int `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Maximum number of entries."`
}

func (s *Server) jobStory(_ context.Context, v answers.Reader, in *jobStoryInput) (m model.JobStory, err error) {
	j, err := findJob(v, in.ID, "id")
	if err != nil {
		return m, err
	}
	entries, err := v.JobStory(j.ID, history.Page{Offset: in.Offset, Limit: in.Limit + 1})
	if err != nil {
		return m, err
	}
	m = model.JobStory{Job: j, Height: v.Head().Height, Story: append([]model.JobEvent{}, entries...)}
	if len(entries) > in.Limit {
		m.Story, m.Next = m.Story[:in.Limit], new(in.Offset+in.Limit)
	}
	return m, nil
}
