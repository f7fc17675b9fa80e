package scheduler

import (
	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/types"
)

// Policy is what differs between the ways of filling the lane. The others of
// decision T25 stand beside fifo.
type Policy interface {
	// MaxCost is what a fire with this limit can cost at most, in wei: what its
	// payer must hold to be charged before the handler runs.
	MaxCost(p *params.Params, fees Fees, gasLimit types.Cycles) types.Wei
	// Order puts the timers that may fire, given by their places in due, in the
	// order of their turns. They come by trigger height, then sequence, as due
	// has them.
	Order(due []Entry, ready []int)
}

// Fifo is CIP-5's order: trigger height, then sequence.
const Fifo = "fifo"

var policies = map[string]Policy{Fifo: fifo{}}

// PolicyOf returns the policy that p names. An unknown name is refused when the
// parameter is set, so here it is an *Error of whoever skipped that.
func PolicyOf(p *params.Params) (Policy, error) {
	policy, ok := policies[p.Policy]
	if !ok {
		return nil, refuse(CodePolicyUnsupported, "T25", "the lane has no policy %q; it has fifo", p.Policy)
	}
	return policy, nil
}

// HasPolicy reports whether a policy of that name exists.
func HasPolicy(name string) bool { return policies[name] != nil }

type fifo struct{}

// MaxCost is gas_limit × basefee_cycle + max_cells_per_fire × basefee_cell: a
// cycle costs the cycle base fee alone, without tip or lane fee (decision T27).
func (fifo) MaxCost(p *params.Params, fees Fees, gasLimit types.Cycles) types.Wei {
	cycles, cells := FireLimit(p, gasLimit)
	return price(fees, cycles, cells)
}

// Order leaves the timers as they come.
func (fifo) Order([]Entry, []int) {}

// MaxCost is what a fire of the timer can cost at most under p's policy, in wei:
// 0 where fires are free, and types.MaxWei where the sum exceeds all amounts.
func MaxCost(p *params.Params, fees Fees, t *types.Timer) (types.Wei, error) {
	policy, err := PolicyOf(p)
	if err != nil || Free(p) {
		return types.Wei{}, err
	}
	return policy.MaxCost(p, fees, t.GasLimit), nil
}
