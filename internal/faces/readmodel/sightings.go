package readmodel

import (
	"slices"
	"sort"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/gateway"
)

// MaxSightings bounds what is remembered of what validators saw; the oldest is
// forgotten first.
const MaxSightings = 16_384

// Sightings is what the validators of a network saw of jobs beside the chain: no
// part of any block, and told with the next one that is final. The zero value is
// ready. It is safe for concurrent use.
type Sightings struct {
	mu  sync.Mutex
	all []model.JobEvent // the sightings, by the height of the next block, if no height is skipped
}

// Saw takes note of what a validator's gateway reported, where it is of a job. next is
// the first height that no block has become final at; it never sinks.
func (s *Sightings) Saw(next types.Height, validator types.Address, report gateway.Report) {
	e, is := sighting(validator, report)
	if !is {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Height = next
	if s.all = append(s.all, e); len(s.all) > MaxSightings {
		s.all = slices.Clone(s.all[len(s.all)-MaxSightings*3/4:])
	}
}

// Keep keeps what was seen so far; restore, called at any time, forgets what came after.
func (s *Sightings) Keep() (restore func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := slices.Clone(s.all)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = slices.Clone(kept)
	}
}

// before lists what was seen between a block and its parent.
func (s *Sightings) before(parent, h types.Height) []model.JobEvent {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := func(h types.Height) int {
		return sort.Search(len(s.all), func(i int) bool { return s.all[i].Height > h })
	}
	seen := slices.Clone(s.all[at(parent):at(h)])
	for i := range seen {
		seen[i].Height = h
	}
	return seen
}

// outcomes are those of CIP-11 §10.6, as events show them.
var outcomes = map[gateway.Outcome]string{gateway.Success: "Success", gateway.Duplicate: "Duplicate", gateway.SoftFailure: "SoftFailure",
	gateway.HardFailure: "HardFailure"}

// sighting is what a validator's gateway reported as an event of a job, and false
// where it is none.
func sighting(validator types.Address, report gateway.Report) (model.JobEvent, bool) {
	e := model.JobEvent{Committee: []types.Address{}, Validator: &validator}
	of := func(what string, runner types.Address, a gateway.AssignmentID) {
		e.What, e.ID, e.Runner = what, a.Job, &runner
	}
	switch r := report.(type) {
	case gateway.Pushed:
		of(model.JobPushed, r.Runner, r.Assignment)
	case gateway.Accepted:
		of(model.JobAcked, r.Runner, r.Assignment)
	case gateway.Progressed:
		of(model.JobProgressed, r.Runner, r.Assignment)
		e.Fraction, e.Detail = &r.Fraction, r.Detail
	case gateway.Classified:
		what := map[gateway.Outcome]string{gateway.Success: model.JobResulted, gateway.HardFailure: model.JobHardFailure}[r.Outcome]
		if what == "" {
			what = model.JobAcked // by another answer than that it was accepted
		}
		of(what, r.Runner, r.Assignment)
		outcome := outcomes[r.Outcome]
		e.Outcome = &outcome
	default:
		return e, false
	}
	return e, true
}
