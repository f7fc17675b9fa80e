package custom

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
)

// Manual is the executor manual: its jobs wait for a result that is given by hand,
// as long as their time lasts. It is safe for concurrent use.
type Manual struct {
	mu      sync.Mutex
	waiting map[types.Hash][]*wait
}

// wait is a draw of a job that has no answer yet.
type wait struct {
	answer chan []byte // takes one
	job    *executor.Job
	gauge  execution.Gauge
}

// NewManual makes an executor that nothing waits for.
func NewManual() *Manual { return &Manual{waiting: make(map[types.Hash][]*wait)} }

// Answer gives the result of a job to all of its draws that wait, or says how far they
// are. It refuses a result beyond the job's bounds, progress that does not rise, and a job
// that does not wait.
func (m *Manual) Answer(job types.Hash, given execution.Given) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.waiting[job]
	if len(all) == 0 {
		return fmt.Errorf("job %s does not wait for an answer here", job)
	}
	for _, w := range all {
		if err := JudgeGiven(w.job.Spec, w.gauge, given); err != nil {
			return fmt.Errorf("job %s: %w", job, err)
		}
	}
	for _, w := range all {
		if given.Percent == 0 {
			w.answer <- slices.Clone(given.Result)
		} else if said, rises := w.gauge.Rise(w.job.ID, given.Percent, given.Detail); rises {
			w.job.Progress(said.Fraction, said.Detail)
		}
	}
	if given.Percent == 0 {
		delete(m.waiting, job)
	}
	return nil
}

// JudgeGiven says why a job by hand, which is as far as a gauge tells, does not take what
// is given.
func JudgeGiven(spec *push.JobSpec, gauge execution.Gauge, given execution.Given) error {
	if given.Percent > 0 {
		return gauge.Check(given.Percent)
	}
	return executor.Judge(spec, given.Result)
}

// Waiting lists the jobs that wait, by id.
func (m *Manual) Waiting() (jobs []types.Hash) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for job := range m.waiting {
		jobs = append(jobs, job)
	}
	slices.SortFunc(jobs, func(a, b types.Hash) int { return slices.Compare(a[:], b[:]) })
	return jobs
}

func (m *Manual) acceptsJob(*push.JobSpec) *execution.Refusal { return nil }

func (m *Manual) doJob(ctx context.Context, job *executor.Job) ([]byte, error) {
	w := &wait{answer: make(chan []byte, 1), job: job}
	m.mu.Lock()
	m.waiting[job.ID.Job] = append(m.waiting[job.ID.Job], w)
	m.mu.Unlock()
	select {
	case result := <-w.answer:
		return result, nil
	case <-ctx.Done():
		m.forgetWait(w)
		return nil, ctx.Err()
	}
}

func (m *Manual) forgetWait(w *wait) {
	m.mu.Lock()
	defer m.mu.Unlock()
	job := w.job.ID.Job
	m.waiting[job] = slices.DeleteFunc(m.waiting[job], func(other *wait) bool { return other == w })
	if len(m.waiting[job]) == 0 {
		delete(m.waiting, job)
	}
}
