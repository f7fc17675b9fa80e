package custom

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

const (
	// judgePatience is how long a runner waits for its worker program to judge a job. No
	// frame of the runner is read meanwhile.
	judgePatience = 500 * time.Millisecond
	// verdictAge is how long a verdict counts for the same spec: several validators
	// deliver a job, and the work begins with another look at it.
	verdictAge = 10 * time.Second
	// maxVerdicts bounds those that are kept.
	maxVerdicts = 256
	// offerGap is the time between two changes of the offer: each is a CapabilityDelta
	// to every validator.
	offerGap = time.Second
	// MaxWorkerExecutors bounds the executors of a worker program.
	MaxWorkerExecutors = 64
)

// WorkerConfig is a worker program as a runner's owner configures it.
type WorkerConfig struct {
	Argv, Env []string
	Executors []string // that it may offer: at the start all of them
	Memory    uint64   // bytes of writable memory of each of its processes
}

// Worker is a program that stays and does a runner's jobs of some executors. It judges
// each job before the work begins, reports progress, and changes its offer, by JSON lines
// (worker_lines.go; docs/RUNNERS.md). Its lines are hostile. A program that breaks the
// protocol is ended with all of its processes, and its jobs fail. It is started again
// within the bound of roles.Restarts. It is safe for concurrent use.
type Worker struct {
	config WorkerConfig
	ctx    context.Context // ends with Close
	end    context.CancelFunc
	born   time.Time
	lives  sync.WaitGroup

	mu       sync.Mutex // guards all that follows, and the lives
	begun    bool
	log      *slog.Logger
	changed  func()
	life     *life // nil if none runs
	restarts roles.Restarts
	why      string // how the last one ended
	last     uint64 // the number of the last question or work
	offers   []string
	asked    []string    // the offer that is to come into force
	offered  time.Time   // when the offer changed last
	later    *time.Timer // nil: no change of the offer waits
	verdicts map[types.Hash]verdict
}

// verdict is the program's answer about a spec.
type verdict struct {
	refusal *execution.Refusal // nil: it takes the job
	at      time.Time
}

// NewWorker makes a worker whose program is not started yet. A program that is not there
// is refused, and a list of executors that is empty, too long or has a name twice.
func NewWorker(config WorkerConfig) (*Worker, error) {
	argv, err := programOf(config.Argv)
	if err != nil {
		return nil, err
	}
	config.Argv, config.Executors = argv, slices.Sorted(slices.Values(config.Executors))
	if n := len(config.Executors); n == 0 || n > MaxWorkerExecutors {
		return nil, fmt.Errorf("executors has %d names: want 1 to %d, each an executor that the program may offer", n, MaxWorkerExecutors)
	}
	if n := len(slices.Compact(slices.Clone(config.Executors))); n < len(config.Executors) {
		return nil, errors.New("executors has a duplicate name: want different names")
	}
	w := &Worker{config: config, born: time.Now(), offers: config.Executors, asked: config.Executors, verdicts: map[types.Hash]verdict{},
		log: slog.New(slog.DiscardHandler)}
	w.ctx, w.end = context.WithCancel(context.Background())
	return w, nil
}

// Executors are its executors by their names.
func (w *Worker) Executors() map[string]Executor {
	all := map[string]Executor{}
	for _, name := range w.config.Executors {
		all[name] = &workerExecutor{w, name}
	}
	return all
}

// Begin starts the program, and starts it again when it ends. changed is called after
// each change of its offer, from a goroutine of the worker's.
func (w *Worker) Begin(log *slog.Logger, changed func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun, w.log, w.changed = true, log, changed
	if _, err := w.ensureAlive(); err != nil {
		w.log.Error("the worker program does not run", "why", err)
	}
}

// Close ends the program with all that it started, and waits for that.
func (w *Worker) Close() {
	w.mu.Lock()
	w.end()
	if w.later != nil {
		w.later.Stop()
	}
	w.mu.Unlock()
	w.lives.Wait()
}

// ensureAlive returns the program's life. It starts the program if none runs. The caller holds mu.
func (w *Worker) ensureAlive() (*life, error) {
	if w.life != nil {
		return w.life, nil
	}
	if w.ctx.Err() != nil {
		return nil, errors.New("the worker program was ended with its runner")
	}
	if !w.restarts.Allow(types.Time(time.Since(w.born))) {
		return nil, fmt.Errorf("the worker program was started %d times within %v, and is not started for a while: %s", roles.MaxRestarts,
			roles.RestartWindow, w.why)
	}
	l, err := w.startLife()
	if err != nil {
		w.why = err.Error()
		return nil, err
	}
	w.life = l
	w.lives.Go(l.runLife)
	w.putOffer(w.config.Executors)
	return l, nil
}

// noteEnd takes note of a life that is over, whose jobs fail by name.
func (w *Worker) noteEnd(l *life, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.why = execution.Words(why.Error())
	for _, a := range l.asks { // order: each is answered by itself
		a.settleAnswer(execution.Refuse(push.Capacity, "the worker program ended before it judged the job: %s", w.why))
	}
	for _, one := range l.works { // order: each is ended by itself
		one.done <- outcome{err: fmt.Errorf("the worker program ended: %s", w.why)}
	}
	l.asks, l.works = nil, nil
	if w.ctx.Err() != nil {
		return
	}
	w.log.Warn("the worker program ended", "why", w.why)
	if w.begun {
		if _, err := w.ensureAlive(); err != nil {
			w.log.Error("the worker program is not started again", "why", err)
		}
	}
}

// putOffer brings an offer into force, at once or when offerGap has passed since the last. The
// caller holds mu.
func (w *Worker) putOffer(offer []string) {
	w.asked = offer
	if w.later != nil || slices.Equal(offer, w.offers) {
		return
	}
	w.later = time.AfterFunc(max(0, offerGap-time.Since(w.offered)), w.notifyChange)
}

func (w *Worker) notifyChange() {
	w.mu.Lock()
	w.later = nil
	differs := !slices.Equal(w.offers, w.asked) && w.ctx.Err() == nil
	if differs {
		w.offers, w.offered = w.asked, time.Now()
	}
	changed := w.changed
	w.mu.Unlock()
	if differs && changed != nil {
		changed()
	}
}

// isOffering reports whether it offers an executor now.
func (w *Worker) isOffering(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.offers, name)
}

// judgeJob asks the program whether it takes a job, and waits for judgePatience at most. While
// a question is unanswered for longer, no other is asked.
func (w *Worker) judgeJob(name string, spec *push.JobSpec) *execution.Refusal {
	a, refusal := w.askProgram(name, spec)
	if a == nil {
		return refusal
	}
	patience := time.NewTimer(judgePatience)
	defer patience.Stop()
	select {
	case <-a.settled:
		return a.refusal
	case <-patience.C:
		return execution.Refuse(push.Capacity, "the worker program did not judge the job within %v", judgePatience)
	}
}

// askProgram returns the question whose answer is to be awaited, or the answer.
func (w *Worker) askProgram(name string, spec *push.JobSpec) (*ask, *execution.Refusal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.offers, name) {
		return nil, execution.Refuse(push.Unsupported, "the worker program does not offer the executor %.80q now", name)
	}
	key := spec.Hash()
	if known, there := w.verdicts[key]; there && time.Since(known.at) < verdictAge {
		return nil, known.refusal
	}
	l, err := w.ensureAlive()
	if err != nil {
		return nil, execution.Refuse(push.Capacity, "%v", err)
	}
	for _, a := range l.asks { // order: either is late
		if time.Since(a.at) > judgePatience {
			return nil, execution.Refuse(push.Capacity, "the worker program has not judged another job for more than %v", judgePatience)
		}
	}
	w.last++
	a := &ask{spec: key, at: time.Now(), settled: make(chan struct{})}
	l.asks[w.last] = a
	l.queueLine(orderOf("judge", w.last, name, spec))
	return a, nil
}

// rememberVerdict keeps the program's verdict about a spec. The caller holds mu.
func (w *Worker) rememberVerdict(spec types.Hash, refusal *execution.Refusal) {
	if len(w.verdicts) >= maxVerdicts {
		for key, known := range w.verdicts { // order: all that are old, or all
			if time.Since(known.at) >= verdictAge {
				delete(w.verdicts, key)
			}
		}
		if len(w.verdicts) >= maxVerdicts {
			clear(w.verdicts)
		}
	}
	w.verdicts[spec] = verdict{refusal, time.Now()}
}

// giveJob gives the program a job, and waits for its end.
func (w *Worker) giveJob(ctx context.Context, name string, job *executor.Job) ([]byte, error) {
	w.mu.Lock()
	l, err := w.ensureAlive()
	if err != nil {
		w.mu.Unlock()
		return nil, err
	}
	w.last++
	number, one := w.last, &task{job: job, done: make(chan outcome, 1)}
	l.works[number] = one
	begin := orderOf("work", number, name, job.Spec)
	begin.Job = &job.ID.Job
	l.queueLine(begin)
	w.mu.Unlock()
	select {
	case out := <-one.done:
		return out.result, out.err
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		if _, under := l.works[number]; under {
			delete(l.works, number)
			l.queueLine(order{Do: "cancel", ID: number})
		}
		return nil, ctx.Err()
	}
}

// workerExecutor is one executor of a worker.
type workerExecutor struct {
	worker *Worker
	name   string
}

func (e *workerExecutor) acceptsJob(spec *push.JobSpec) *execution.Refusal {
	return e.worker.judgeJob(e.name, spec)
}

func (e *workerExecutor) doJob(ctx context.Context, job *executor.Job) ([]byte, error) {
	return e.worker.giveJob(ctx, e.name, job)
}
