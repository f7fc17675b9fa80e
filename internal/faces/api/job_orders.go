package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/history"
)

// Orders of submitters: transactions to the dispatcher, signed by the devnet.
func (s *Server) registerJobOrders() {
	executor := model.JobRequest{From: "alice", Kind: "custom", Executor: "echo", Params: "hello"}
	serveLatest(s, operation{id: "job_submit", path: "/devnet/job/submit", tag: tagDevnet,
		client:  "SubmitJob(r JobRequest) submits a job, and returns it once its submission is final.",
		summary: "Submit a job; answers it once its submission is final",
		description: "from pays max_price, tip and what a callback costs into escrow. 400 with invalid_job names the field that makes no job " +
			"(CIP-2).",
		errors: []int{404, 409, 429, 504}, request: executor, response: exampleJob}, s.submitJob)
	serveLatest(s, operation{id: "job_cancel", path: "/devnet/job/cancel", tag: tagDevnet,
		client:      "CancelJob(id string) cancels a job for its submitter; the id may be shortened.",
		summary:     "Cancel a job for its submitter, a devnet account; answers with the job once that is final",
		description: "All of its escrow returns. A job that ended first is left as it ended: 409.",
		errors:      []int{404, 409, 429, 504}, request: model.JobOrder{ID: exampleHash.String()}, response: exampleJob}, s.cancelJob)
	serveBody(s, operation{id: "job_answer", path: "/devnet/job/answer", tag: tagDevnet,
		client:  "AnswerJob(r AnswerRequest) gives the result of a job of the executor manual to the devnet's runners that have it.",
		summary: "Give the result of a job of the executor manual; answers with the job",
		description: "Each of the devnet's runners in its committee receives the result as soon as it has the job; the request waits for " +
			"that. 409 with bad_result " +
			"where the job does not take it.",
		errors: []int{404, 409}, request: model.AnswerRequest{ID: exampleHash.String(), Result: "42"}, response: exampleJob}, s.answerJob)
	serveBody(s, operation{id: "job_progress", path: "/devnet/job/progress", tag: tagDevnet,
		client:  "ProgressJob(r ProgressRequest) sets the progress of a job of the executor manual, at the devnet's runners that have it.",
		summary: "Say how far a job of the executor manual is; answers the job",
		description: "Each of the devnet's runners with that job sends a JobProgress (CIP-11 §10.4) to the validator that pushed it. It sends " +
			"at most one in 100 ms; GET /job/{id}/story shows them. A job that was polled for has no such stream. 409 with bad_result if percent " +
			"does " +
			"not exceed the last.",
		errors: []int{404, 409}, request: model.ProgressRequest{ID: exampleHash.String(), Percent: 40, Detail: "half of the pages"},
		response: exampleJob}, s.progressJob)
}

// callSystemActor has a devnet account call a handler of a system actor, and returns the
// receipt, or why the chain refused.
func (s *Server) callSystemActor(ctx context.Context, v answers.Reader, key env.Signer, to types.Address, handler string,
	payload []byte) (*history.Executed, error) {
	r, err := s.signAndAwait(ctx, v, key, wallet.Draft{To: &to, Payload: types.Execute{Kind: types.KindExecute, Handler: handler,
		Payload: payload}})
	if err != nil {
		return nil, err
	}
	return r, refusal.OfReceipt(&r.Receipt)
}

// readerAfter returns a reader of a state that has a final height.
func (s *Server) readerAfter(ctx context.Context, h types.Height) (answers.Reader, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	for {
		v, err := s.backend.Reader("")
		if err != nil || v.Head().Height >= h {
			return v, err
		}
		if _, at := s.feed.nextEvents(ctx, v.Head().Height+1); at == ended {
			return nil, Refuse(http.StatusServiceUnavailable, "stopped", "block %d is final, and no validator here shows it", h)
		}
	}
}

// keyOf is the key of an address, or nil where the devnet has it not.
func (d directory) keyOf(a types.Address) env.Signer {
	if name := d.nameOf(a); name != "" {
		return d.backend.Signer(name)
	}
	return nil
}

func (s *Server) submitJob(ctx context.Context, v answers.Reader, in *model.JobRequest) (m model.Job, err error) {
	key, err := s.accountKey(cmp.Or(in.From, wallet.Users()[0]))
	if err != nil {
		return m, err
	}
	now, err := ParamsOf(v)
	if err != nil {
		return m, err
	}
	spec, err := JobSpec(in, now, func(name string) (types.Address, error) {
		actor, err := s.findActor(v, name, "callback")
		if err != nil {
			return types.Address{}, err
		}
		return actor.Address, nil
	})
	if err != nil {
		return m, err
	}
	r, err := s.callSystemActor(ctx, v, key, types.DispatcherAddress, "submit", spec.Order())
	if err != nil {
		return m, err
	}
	return s.jobAfter(ctx, r, types.Hash(r.Output))
}

// jobAfter is a job as the block of a receipt or a later one left it.
func (s *Server) jobAfter(ctx context.Context, r *history.Executed, id types.Hash) (m model.Job, err error) {
	v, err := s.readerAfter(ctx, r.Height)
	if err != nil {
		return m, err
	}
	return findJob(v, id.String(), "id")
}

// openJob finds a job that has not ended.
func openJob(v answers.Reader, text string) (model.Job, error) {
	j, err := findJob(v, text, "id")
	if err == nil && types.JobStatus(j.Status).Ended() {
		err = Refuse(http.StatusConflict, "job_ended", "job %s has ended: it is %s", j.ID, j.Status).Hint("GET /job/%s/story tells how.", j.ID).
			At("id")
	}
	return j, err
}

func (s *Server) cancelJob(ctx context.Context, v answers.Reader, in *model.JobOrder) (m model.Job, err error) {
	j, err := openJob(v, in.ID)
	if err != nil {
		return m, err
	}
	key := s.keyOf(j.Submitter)
	if key == nil {
		return m, Refuse(http.StatusConflict, "not_submitter", "job %s was submitted by %s, whose key the devnet has not", j.ID, j.Submitter).
			Hint("Only its submitter cancels it, by calling cancel of %s.", types.DispatcherAddress).At("id")
	}
	r, err := s.callSystemActor(ctx, v, key, types.DispatcherAddress, "cancel", j.ID[:])
	if err != nil {
		return m, err
	}
	return s.jobAfter(ctx, r, j.ID)
}
