package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/executor/llm"
)

// JobTime is how long a runner of the simulator works on a job.
const JobTime = 50 * time.Millisecond

// manual is how a job names the executor whose results are given by hand.
var manual = custom.Hash("manual")

// offered are the kinds of jobs that runners of the simulator do: those whose results
// follow from the job, and those that are given by hand. A live runner's other kinds
// reach outside the world, which a seed cannot determine.
var offered = func() map[push.JobKind]executor.Kind {
	model, err := llm.New(llm.Config{Models: map[string]llm.Model{llm.Offline: {}}, Default: llm.Offline})
	if err != nil {
		panic(err)
	}
	return map[push.JobKind]executor.Kind{push.JobLLM: model,
		push.JobCustom: custom.New(map[string]custom.Executor{"echo": custom.Echo, "sha256": custom.Sha256, "manual": custom.NewManual()})}
}()

// judge says which jobs they take.
var judge = executor.New(executor.Config{Kinds: offered, AnyPool: true})

// doer implements env.Executor for one process, in virtual time.
type doer struct {
	process *process
	under   map[execution.ID]*work // looked up only, except waiting work
	order   []*work
}

// work is work under way.
type work struct {
	id   execution.ID
	spec *push.JobSpec
	tell func(execution.Report)
	over bool

	gauge execution.Gauge
}

func (l *process) newExecutor() *doer {
	d := &doer{process: l, under: map[execution.ID]*work{}}
	l.executor = d
	return d
}

// Capabilities implements env.Executor.
func (d *doer) Capabilities() []string { return capabilitiesOf(d.testAnswers()) }

// Entitlements implements env.Executor.
func (d *doer) Entitlements() []string { return judge.Entitlements() }

// Accepts implements env.Executor.
func (d *doer) Accepts(spec *push.JobSpec) *execution.Refusal {
	if d.testAnswers() == nil {
		return judge.Accepts(spec)
	}
	if err := spec.Check(); err != nil {
		return execution.Refuse(push.BadSpec, "%v", err)
	}
	return nil
}

// testAnswers returns the answers that a test gives; nil outside of one.
func (d *doer) testAnswers() *Answers { return d.process.node.world.answers }

// capabilitiesOf returns the capabilities of runners: all kinds, without names, if a
// test answers.
func capabilitiesOf(a *Answers) []string {
	if a == nil {
		return judge.Capabilities()
	}
	return slices.Sorted(slices.Values(push.JobKinds()))
}

// doJob does work, as a test answers or as the job says.
func (d *doer) doJob(id execution.ID, spec *push.JobSpec) ([]byte, error) {
	if a := d.testAnswers(); a != nil {
		switch turn, given := a.answerFor(d.process.node.name, id.Job, spec); {
		case given && turn.Fails != "":
			return nil, errors.New(turn.Fails)
		case given:
			return turn.Result, nil
		}
	}
	does, offered := offered[spec.JobType.Kind()]
	if !offered {
		return nil, errUnanswered
	}
	if refusal := does.Accepts(spec); refusal != nil {
		return nil, refusal
	}
	return does.Do(context.Background(), executor.NewJob(id, spec, nil))
}

// Execute implements env.Executor.
func (d *doer) Execute(id execution.ID, spec *push.JobSpec, tell func(execution.Report)) {
	if d.under[id] != nil || d.process.dead {
		return
	}
	w := d.process.node.world
	one := &work{id: id, spec: spec, tell: tell}
	d.under[id] = one
	d.order = append(d.order, one)
	began := d.process.timeAfterWork()
	limit := min(time.Duration(spec.Bounds.MaxWallTimeSeconds)*time.Second, executor.MaxWall)
	w.At(began.Add(limit), func() { d.reportOutcome(one, nil, fmt.Errorf("the work was not done within %v", limit)) })
	if isManual(spec) {
		return
	}
	w.At(began.Add(JobTime), func() {
		if !one.over {
			result, err := d.doJob(id, spec)
			d.reportOutcome(one, result, err)
		}
	})
}

func isManual(spec *push.JobSpec) bool {
	return spec.JobType.Custom != nil && spec.JobType.Custom.ExecutorHash == manual
}

// reportOutcome reports the outcome of work, once.
func (d *doer) reportOutcome(one *work, result []byte, err error) {
	if one.over || d.process.dead {
		return
	}
	if err == nil {
		err = executor.Judge(one.spec, result)
	}
	d.forgetWork(one)
	if err != nil {
		one.tell(execution.Failure(one.id, err))
		return
	}
	one.tell(execution.Report{ID: one.id, What: execution.Done, Result: result})
}

// reportProgress reports the progress of work.
func (d *doer) reportProgress(one *work, given execution.Given) {
	if report, rises := one.gauge.Rise(one.id, given.Percent, given.Detail); rises && !d.process.dead {
		one.tell(report)
	}
}

func (d *doer) forgetWork(one *work) {
	one.over = true
	delete(d.under, one.id)
	kept := d.order[:0]
	for _, other := range d.order {
		if other != one {
			kept = append(kept, other)
		}
	}
	clear(d.order[len(kept):])
	d.order = kept
}

// Cancel implements env.Executor.
func (d *doer) Cancel(id execution.ID) {
	if one := d.under[id]; one != nil {
		d.forgetWork(one)
	}
}

// Close implements env.Executor.
func (d *doer) Close() {
	for len(d.order) > 0 {
		d.forgetWork(d.order[0])
	}
}

// Answer gives the result of a job by hand, or says how far it is, to all runners that wait
// for one. It is an error if no runner waits, and if none of them accepts the result.
func (w *World) Answer(job types.Hash, given execution.Given) error {
	var waiting []*work
	var whose []*doer
	for _, n := range w.nodes {
		if n.process == nil || n.process.executor == nil {
			continue
		}
		for _, one := range n.process.executor.order {
			if one.id.Job == job && isManual(one.spec) {
				waiting, whose = append(waiting, one), append(whose, n.process.executor)
			}
		}
	}
	if len(waiting) == 0 {
		return fmt.Errorf("job %s does not wait for an answer here", job)
	}
	var refused error
	taken := false
	for i, one := range waiting {
		if err := custom.JudgeGiven(one.spec, one.gauge, given); err != nil {
			refused = fmt.Errorf("job %s: %w", job, err)
			continue
		}
		taken = true
		if given.Percent == 0 {
			whose[i].reportOutcome(one, given.Result, nil)
		} else {
			whose[i].reportProgress(one, given)
		}
	}
	if taken {
		return nil
	}
	return refused
}
