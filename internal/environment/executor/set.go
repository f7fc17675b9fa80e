package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Config is what a runner grants and bounds for all kinds.
type Config struct {
	Kinds        map[push.JobKind]Kind
	Entitlements []string // the runner pools it belongs to
	// AnyPool is that the pools are those of its registration, by which a draw has judged it.
	AnyPool bool
	MaxWall time.Duration // of any job; 0: MaxWall
	Close   func()        // ends what the kinds keep between jobs, when the last has ended; nil: nothing
}

// Set is an executor of several kinds. How many jobs run at once is its caller's
// to bound. It is safe for concurrent use.
type Set struct {
	config  Config
	ends    context.Context // at Close
	end     context.CancelFunc
	mu      sync.Mutex
	running map[execution.ID]*under
	work    sync.WaitGroup
}

// under is work under way.
type under struct{ cancel context.CancelFunc }

var _ env.Executor = (*Set)(nil)

// New makes an executor of the kinds that it is given.
func New(config Config) *Set {
	if config.MaxWall <= 0 || config.MaxWall > MaxWall {
		config.MaxWall = MaxWall
	}
	s := &Set{config: config, running: make(map[execution.ID]*under)}
	s.ends, s.end = context.WithCancel(context.Background())
	return s
}

// Capabilities implements env.Executor.
func (s *Set) Capabilities() (all []string) {
	for kind, does := range s.config.Kinds {
		all = append(append(all, kind.String()), does.Capabilities()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Entitlements implements env.Executor.
func (s *Set) Entitlements() []string {
	all := slices.Clone(s.config.Entitlements)
	slices.Sort(all)
	return slices.Compact(all)
}

// Accepts implements env.Executor.
func (s *Set) Accepts(spec *push.JobSpec) *execution.Refusal {
	if err := spec.Check(); err != nil {
		return execution.Refuse(push.BadSpec, "%v", err)
	}
	kind := spec.JobType.Kind()
	does, offered := s.config.Kinds[kind]
	if !offered {
		return execution.Refuse(push.Unsupported, "this runner does not do jobs of the kind %s", kind)
	}
	if spec.Verification.TEERequired {
		return execution.Refuse(push.Unsupported, "this runner has no trusted execution")
	}
	if pool := spec.RequiredRunnerPool; pool != nil && !s.config.AnyPool && !slices.Contains(s.config.Entitlements, *pool) {
		return execution.Refuse(push.MissingEntitlement, "this runner is not in the pool %.80q", *pool)
	}
	return does.Accepts(spec)
}

// Execute implements env.Executor. The bound on a job's time runs from here.
func (s *Set) Execute(id execution.ID, spec *push.JobSpec, tell func(execution.Report)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[id] != nil || s.ends.Err() != nil {
		return
	}
	limit := wallTime(spec, s.config.MaxWall)
	ctx, cancel := context.WithTimeoutCause(s.ends, limit, &lateError{limit})
	this := &under{cancel}
	s.running[id] = this
	s.work.Go(func() {
		defer cancel()
		s.runJob(ctx, NewJob(id, spec, s.progressReporter(ctx, id, tell)), this, tell)
	})
}

// progressReporter reports progress above the last, until the work's context ends. A kind may
// call it from any goroutine.
func (s *Set) progressReporter(ctx context.Context, id execution.ID, tell func(execution.Report)) func(uint8, string) {
	var mu sync.Mutex
	var gauge execution.Gauge
	return func(fraction uint8, detail string) {
		mu.Lock()
		defer mu.Unlock()
		if report, rises := gauge.Rise(id, fraction, detail); rises && ctx.Err() == nil {
			tell(report)
		}
	}
}

// runJob does the work, and reports its end unless the work was cancelled.
func (s *Set) runJob(ctx context.Context, job *Job, this *under, tell func(execution.Report)) {
	report := execution.Report{ID: job.ID, What: execution.Done}
	var err error
	if report.Result, err = s.doJob(ctx, job); err != nil {
		report = execution.Failure(job.ID, err)
	}
	if s.finishWork(job.ID, this) {
		tell(report)
	}
}

// finishWork forgets work, and reports whether its end is still asked for.
func (s *Set) finishWork(id execution.ID, this *under) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := s.running[id] == this
	if wanted {
		delete(s.running, id)
	}
	return wanted
}

func (s *Set) doJob(ctx context.Context, job *Job) ([]byte, error) {
	if refusal := s.Accepts(job.Spec); refusal != nil {
		return nil, refusal
	}
	result, err := s.config.Kinds[job.Spec.JobType.Kind()].Do(ctx, job)
	if late := (*lateError)(nil); errors.As(context.Cause(ctx), &late) {
		return nil, late.withCause(err)
	}
	if err != nil {
		return nil, err
	}
	return result, Judge(job.Spec, result)
}

// lateError says that work was ended by its time.
type lateError struct{ limit time.Duration }

func (e *lateError) Error() string { return fmt.Sprintf("the work was not done within %v", e.limit) }

// withCause adds what the work failed with at last, where that is more than its end.
func (e *lateError) withCause(err error) error {
	if err == nil || err.Error() == context.DeadlineExceeded.Error() || err.Error() == e.Error() {
		return e
	}
	return fmt.Errorf("%w; at last: %w", e, err)
}

// Cancel implements env.Executor.
func (s *Set) Cancel(id execution.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if this := s.running[id]; this != nil {
		this.cancel()
		delete(s.running, id)
	}
}

// Close implements env.Executor.
func (s *Set) Close() {
	s.mu.Lock()
	s.end()
	clear(s.running)
	s.mu.Unlock()
	s.work.Wait()
	if s.config.Close != nil {
		s.config.Close()
	}
}
