package box

import (
	"strings"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// countsOf is what a validator counted, as the API names it.
func countsOf(s *validators.Status) (all []answers.Count) {
	for c := simplex.NoCause + 1; c < simplex.Causes; c++ {
		all = append(all, answers.Count{Of: answers.CountGivenUp, What: c.String(), N: s.GivenUp[c]})
	}
	r := &s.Refused
	for _, one := range []struct {
		what string
		n    uint64
	}{{"frames", r.Frames}, {"transactions", r.Transactions}, {"blocks", r.Blocks}, {"own_blocks", r.Builds},
		{"contradictions", r.Evidence}, {"executions", r.Hosts}, {"peers", r.Peers}} {
		all = append(all, answers.Count{Of: answers.CountRefused, What: one.what, N: one.n})
	}
	for _, one := range []struct {
		what string
		n    uint64
	}{{answers.CountDeadLetters, s.Roles.DeadLetters}, {"roles_restarted", s.Roles.Restarted}, {"contracts_restarted", s.Roles.Contracts}} {
		all = append(all, answers.Count{Of: answers.CountActors, What: one.what, N: one.n})
	}
	return append(all, runnerCounts(&s.Runners)...)
}

// runnerCounts is what a validator counted of runners.
func runnerCounts(r *validators.Runners) (all []answers.Count) {
	count := func(of, what string, n uint64) { all = append(all, answers.Count{Of: of, What: what, N: n}) }
	count(answers.CountRunners, "arrived", r.Arrived)
	count(answers.CountRunners, "left", r.Left)
	for outcome := gateway.Success; int(outcome) < gateway.Outcomes; outcome++ {
		count(answers.CountRunners, strings.ReplaceAll(outcome.String(), " ", "_"), r.Outcomes[outcome])
	}
	count(answers.CountRunners, "progress", r.Progress)
	count(answers.CountRunners, "not_taken", r.NotTaken)
	for i, reason := range push.Reasons {
		count(answers.CountStrangers, string(reason), r.Refused[i])
	}
	return all
}
