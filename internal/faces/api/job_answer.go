package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Manual is the executor whose jobs wait for a result that is given by hand.
const Manual = "manual"

// answerBlocks is how long a committee may take to have a job once its first member
// has it: who comes later than that has no answer, and may be given one.
const answerBlocks = 3

func (s *Server) answerJob(ctx context.Context, in *model.AnswerRequest) (m model.Job, err error) {
	result, err := decodePayload(in.Result, "result")
	if err != nil {
		return m, err
	}
	return s.byHand(ctx, in.ID, execution.Given{Result: result})
}

func (s *Server) progressJob(ctx context.Context, in *model.ProgressRequest) (m model.Job, err error) {
	if err := new(execution.Gauge).Check(in.Percent); err != nil {
		return m, Refuse(http.StatusBadRequest, "invalid_request", "%v", err).At("percent")
	}
	return s.byHand(ctx, in.ID, execution.Given{Percent: in.Percent, Detail: in.Detail})
}

// byHand gives something to a job of the executor manual.
func (s *Server) byHand(ctx context.Context, id string, given execution.Given) (m model.Job, err error) {
	v, err := s.backend.Reader("")
	if err != nil {
		return m, err
	}
	j, err := openJob(v, id)
	if err != nil {
		return m, err
	}
	var spec push.JobSpec
	if err := codec.Unmarshal(j.Spec, len(j.Spec), &spec); err != nil {
		return m, err
	}
	if c := spec.JobType.Custom; c == nil || c.ExecutorHash != types.Keccak([]byte(Manual)) {
		return m, Refuse(http.StatusConflict, "not_manual", "job %s is not one of the executor %s", j.ID, Manual).
			Hint("Only such a job waits for a result by hand.").At("id")
	}
	return s.handResult(ctx, j, given)
}

// handResult gives a result to each of the devnet's runners in a job's committee, when the
// runner has the job; it waits for later ones block by block. Progress is given to those
// that have the job when the first one has it.
func (s *Server) handResult(ctx context.Context, j model.Job, by execution.Given) (m model.Job, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	var answered []types.Address
	for until := types.Height(0); ; {
		given, err := s.backend.Steer().AnswerJob(j.ID, by)
		if err != nil {
			return m, err
		}
		answered = append(answered, given...)
		v, err := s.backend.Reader("")
		if err != nil {
			return m, err
		}
		if j, err = findJob(v, j.ID.String(), "id"); err != nil {
			return m, err
		}
		if by.Percent > 0 && len(answered) > 0 {
			return j, nil
		}
		head := v.Head().Height
		if len(answered) > 0 && until == 0 {
			until = head + answerBlocks
		}
		if over := types.JobStatus(j.Status).Ended(); over || until > 0 && (head >= until || s.allOwn(j.Committee, answered)) {
			if len(answered) == 0 {
				return m, notWaiting(j)
			}
			return j, nil
		}
		if _, at := s.feed.nextEvents(ctx, head+1); at == ended {
			if len(answered) == 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return m, notWaiting(j)
			}
			return j, nil
		}
	}
}

// allOwn reports whether all of the devnet's runners in a committee are in a list.
func (d directory) allOwn(committee, list []types.Address) bool {
	for _, own := range d.backend.Runners() {
		if slices.Contains(committee, own.Address) && !slices.Contains(list, own.Address) {
			return false
		}
	}
	return true
}

func notWaiting(j model.Job) error {
	return Refuse(http.StatusConflict, "not_waiting", "no runner of this devnet waits for an answer to job %s: it is %s", j.ID, j.Status).
		Hint("GET /job/%s tells who has it.", j.ID).At("id")
}
