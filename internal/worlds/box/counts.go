package box

import (
	"strings"

	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// countsOf is what a validator counted, as the API names it.
func countsOf(s *validators.Status) (all []api.Count) {
	for c := simplex.NoCause + 1; c < simplex.Causes; c++ {
		all = append(all, api.Count{Of: api.CountGivenUp, What: c.String(), N: s.GivenUp[c]})
	}
	r := &s.Refused
	for _, one := range []struct {
		what string
		n    uint64
	}{{"frames", r.Frames}, {"transactions", r.Transactions}, {"blocks", r.Blocks}, {"own_blocks", r.Builds},
		{"contradictions", r.Evidence}, {"executions", r.Hosts}, {"peers", r.Peers}} {
		all = append(all, api.Count{Of: api.CountRefused, What: one.what, N: one.n})
	}
	for _, one := range []struct {
		what string
		n    uint64
	}{{api.CountDeadLetters, s.Roles.DeadLetters}, {"roles_restarted", s.Roles.Restarted}, {"contracts_restarted", s.Roles.Contracts}} {
		all = append(all, api.Count{Of: api.CountActors, What: one.what, N: one.n})
	}
	return append(all, runnerCounts(&s.Runners)...)
}

// runnerCounts is what a validator counted of runners.
func runnerCounts(r *validators.Runners) (all []api.Count) {
	count := func(of, what string, n uint64) { all = append(all, api.Count{Of: of, What: what, N: n}) }
	count(api.CountRunners, "arrived", r.Arrived)
	count(api.CountRunners, "left", r.Left)
	for outcome := gateway.Success; int(outcome) < gateway.Outcomes; outcome++ {
		count(api.CountRunners, strings.ReplaceAll(outcome.String(), " ", "_"), r.Outcomes[outcome])
	}
	count(api.CountRunners, "progress", r.Progress)
	count(api.CountRunners, "not_taken", r.NotTaken)
	for i, reason := range push.Reasons {
		count(api.CountStrangers, string(reason), r.Refused[i])
	}
	return all
}
