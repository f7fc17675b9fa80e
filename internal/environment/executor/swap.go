package executor

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Swap is an executor in whose place another can be put while work is under way. Work ends
// where it began: an executor that was replaced is closed when the last of its work has
// ended. It is safe for concurrent use.
type Swap struct {
	mu      sync.Mutex
	now     env.Executor
	doing   map[execution.ID]env.Executor // what does each work under way
	closing sync.WaitGroup
}

var _ env.Executor = (*Swap)(nil)

// NewSwap begins with an executor.
func NewSwap(first env.Executor) *Swap {
	return &Swap{now: first, doing: map[execution.ID]env.Executor{}}
}

// Replace has another executor do what begins from now on.
func (s *Swap) Replace(next env.Executor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	former := s.now
	s.now = next
	s.retireExecutor(former)
}

// retireExecutor closes an executor that was replaced and has no work. The caller holds mu.
func (s *Swap) retireExecutor(former env.Executor) {
	if former == s.now {
		return
	}
	for _, busy := range s.doing { // order: any that is busy
		if busy == former {
			return
		}
	}
	s.closing.Go(former.Close) // it waits for the goroutine that tells the end
}

func (s *Swap) presentExecutor() env.Executor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Capabilities implements env.Executor.
func (s *Swap) Capabilities() []string { return s.presentExecutor().Capabilities() }

// Entitlements implements env.Executor.
func (s *Swap) Entitlements() []string { return s.presentExecutor().Entitlements() }

// Accepts implements env.Executor.
func (s *Swap) Accepts(spec *push.JobSpec) *execution.Refusal {
	return s.presentExecutor().Accepts(spec)
}

// Execute implements env.Executor.
func (s *Swap) Execute(id execution.ID, spec *push.JobSpec, tell func(execution.Report)) {
	s.mu.Lock()
	if s.doing[id] != nil {
		s.mu.Unlock()
		return
	}
	does := s.now
	s.doing[id] = does
	s.mu.Unlock()
	does.Execute(id, spec, func(report execution.Report) {
		if report.What != execution.Progress {
			s.forgetWork(id, does)
		}
		tell(report)
	})
}

// forgetWork forgets work.
func (s *Swap) forgetWork(id execution.ID, does env.Executor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doing[id] == does {
		delete(s.doing, id)
		s.retireExecutor(does)
	}
}

// Cancel implements env.Executor.
func (s *Swap) Cancel(id execution.ID) {
	s.mu.Lock()
	does := s.doing[id]
	s.mu.Unlock()
	if does != nil {
		does.Cancel(id)
		s.forgetWork(id, does)
	}
}

// Close implements env.Executor.
func (s *Swap) Close() {
	s.mu.Lock()
	all := map[env.Executor]bool{s.now: true}
	for _, does := range s.doing { // order: each is closed
		all[does] = true
	}
	s.mu.Unlock()
	for each := range all { // order: each is closed
		each.Close()
	}
	s.closing.Wait()
}
