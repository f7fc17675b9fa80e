package readmodel

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/gateway"
)

// outcomes are those of CIP-11 §10.6, as events show them.
var outcomes = map[gateway.Outcome]string{gateway.Success: "Success", gateway.Duplicate: "Duplicate", gateway.SoftFailure: "SoftFailure",
	gateway.HardFailure: "HardFailure"}

// Sighting is what a validator's gateway reported as an event of a job, and false
// where it is none: what it saw beside the chain, whose height is not known yet.
func Sighting(validator types.Address, report gateway.Report) (model.JobEvent, bool) {
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
