package readmodel

import (
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/gateway"
)

// Sightings collects reports of a network's validators about jobs and runners outside the chain.
// They are in no block, and are sent with the next final one. The zero value is ready. It
// is safe for concurrent use.
//
// Spec: decision J22.
type Sightings struct {
	mu      sync.Mutex
	jobs    shelf[types.Hash, model.JobEvent]
	runners shelf[types.Address, model.RunnerEvent]
}

// Saw records a report of a validator's gateway. next is the first height that no block
// has become final at; it never sinks.
func (s *Sightings) Saw(next types.Height, validator types.Address, report gateway.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, is := ofJob(validator, report); is {
		e.Height = next
		bound := maxOfJob
		if e.What == model.JobProgressed {
			bound = maxProgressOfJob
		}
		s.jobs.putEntry(sightingOf[types.Hash, model.JobEvent]{next, e.ID, e.What == model.JobProgressed, e}, bound)
	}
	if e, registered, is := ofRunner(validator, report); is {
		e.Height = next
		of := e.Runner
		if !registered {
			of = types.Address{} // strangers share one place: their keys cost nothing
		}
		s.runners.putEntry(sightingOf[types.Address, model.RunnerEvent]{next, of, false, e}, maxOfRunner)
	}
}

// Keep keeps what was seen so far; restore, called at any time, forgets what came after.
func (s *Sightings) Keep() (restore func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs, runners := slices.Clone(s.jobs.all), slices.Clone(s.runners.all)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.jobs.restoreAll(jobs)
		s.runners.restoreAll(runners)
	}
}

// sightingsBefore lists what was seen between a block and its parent.
func (s *Sightings) sightingsBefore(parent, h types.Height) (jobs []model.JobEvent, runners []model.RunnerEvent) {
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.jobs.listBetween(parent, h) {
		e := one.event
		e.Height = h
		jobs = append(jobs, e)
	}
	for _, one := range s.runners.listBetween(parent, h) {
		e := one.event
		e.Height = h
		runners = append(runners, e)
	}
	return jobs, runners
}

// ofJob lists the sightings of a job, in order.
func (s *Sightings) ofJob(id types.Hash) []model.JobEvent {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs.listOf(id)
}

// ofRunner lists the sightings of a registered runner, in order.
func (s *Sightings) ofRunner(a types.Address) []model.RunnerEvent {
	if s == nil {
		return []model.RunnerEvent{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]model.RunnerEvent{}, s.runners.listOf(a)...)
}

// outcomes lists the outcomes of CIP-11 §10.6, as events show them.
var outcomes = map[gateway.Outcome]string{gateway.Success: "Success", gateway.Duplicate: "Duplicate", gateway.SoftFailure: "SoftFailure",
	gateway.HardFailure: "HardFailure"}

// ofJob converts a report of a validator's gateway to an event of a job, and returns
// false if it is not about a job.
func ofJob(validator types.Address, report gateway.Report) (model.JobEvent, bool) {
	e := model.JobEvent{Committee: []types.Address{}, Validator: &validator}
	of := func(what string, runner types.Address, a gateway.AssignmentID, words string) {
		e.What, e.ID, e.Runner = what, a.Job, &runner
		if words != "" {
			e.Detail = &words
		}
	}
	switch r := report.(type) {
	case gateway.Pushed:
		of(model.JobPushed, r.Runner, r.Assignment, "")
	case gateway.Accepted:
		of(model.JobAcked, r.Runner, r.Assignment, r.Reason)
		e.AfterMicros = new(uint64(r.After.Microseconds()))
	case gateway.Progressed:
		of(model.JobProgressed, r.Runner, r.Assignment, "")
		e.Fraction, e.Detail = &r.Fraction, r.Detail
	case gateway.Classified:
		what := map[gateway.Outcome]string{gateway.Success: model.JobResulted, gateway.HardFailure: model.JobHardFailure}[r.Outcome]
		if what == "" {
			what = model.JobAcked // by another answer than that it was accepted
		}
		of(what, r.Runner, r.Assignment, r.Reason)
		if what == model.JobAcked && r.After > 0 {
			e.AfterMicros = new(uint64(r.After.Microseconds()))
		}
		e.Outcome = new(outcomes[r.Outcome])
		if rejected := string(r.Rejected); rejected != "" {
			e.Rejected = &rejected
		}
	case gateway.NotTaken:
		of(model.JobNotTaken, r.Runner, r.Assignment, r.Why)
		return e, !r.Polled // anyone could cause it for any job
	default:
		return e, false
	}
	return e, true
}

// ofRunner converts a report of a validator's gateway to an event of a runner, and
// returns whether that is registered; is is false if it is not about a runner.
func ofRunner(validator types.Address, report gateway.Report) (e model.RunnerEvent, registered, is bool) {
	of := func(what string, runner types.Address, reason string) model.RunnerEvent {
		return model.RunnerEvent{What: what, Runner: runner, Validator: validator, Reason: reason}
	}
	switch r := report.(type) {
	case gateway.Arrived:
		return of(model.HeardConnected, r.Runner, ""), true, true
	case gateway.Left:
		return of(model.HeardLeft, r.Runner, r.Reason), true, true
	case gateway.Refused:
		return of(model.HeardRefused, r.Peer, string(r.Reason)), r.Registered, true
	case gateway.Pressed:
		e = of(model.HeardBackpressure, r.Runner, r.Load.Reason)
		e.ActiveJobs, e.MaxConcurrentJobs, e.Accepting = &r.Load.Active, &r.Load.Most, &r.Load.Accepting
		return e, true, true
	case gateway.Amended:
		return of(model.HeardCapabilities, r.Runner, r.Said), true, true
	}
	return e, false, false
}
