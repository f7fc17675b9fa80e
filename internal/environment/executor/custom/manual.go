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
	waiting map[types.Hash][]wait
}

// wait is a draw of a job that has no answer yet.
type wait struct {
	answer chan []byte // takes one
	spec   *push.JobSpec
}

// NewManual makes an executor that nothing waits for.
func NewManual() *Manual { return &Manual{waiting: make(map[types.Hash][]wait)} }

// Answer gives the result of a job to all of its draws that wait. A result that the job
// does not take is refused, and so is one for a job that does not wait.
func (m *Manual) Answer(job types.Hash, result []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.waiting[job]
	if len(all) == 0 {
		return fmt.Errorf("job %s does not wait for an answer here", job)
	}
	for _, w := range all {
		if err := executor.Judge(w.spec, result); err != nil {
			return fmt.Errorf("job %s: %w", job, err)
		}
	}
	for _, w := range all {
		w.answer <- slices.Clone(result)
	}
	delete(m.waiting, job)
	return nil
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

func (m *Manual) accepts(*push.JobSpec) *execution.Refusal { return nil }

func (m *Manual) do(ctx context.Context, job types.Hash, spec *push.JobSpec) ([]byte, error) {
	w := wait{make(chan []byte, 1), spec}
	m.mu.Lock()
	m.waiting[job] = append(m.waiting[job], w)
	m.mu.Unlock()
	select {
	case result := <-w.answer:
		return result, nil
	case <-ctx.Done():
		m.forget(job, w)
		return nil, ctx.Err()
	}
}

func (m *Manual) forget(job types.Hash, w wait) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting[job] = slices.DeleteFunc(m.waiting[job], func(other wait) bool { return other == w })
	if len(m.waiting[job]) == 0 {
		delete(m.waiting, job)
	}
}
