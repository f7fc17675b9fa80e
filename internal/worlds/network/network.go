package network

import (
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Network is all that the operator of one network does with it.
type Network struct {
	*Orders
	*Steering
	*Executions
	*Authority
}

// New operates a network: orders are the faults of its nodes, and goal that of its latest
// advance.
func New(n Operated, orders *Orders, goal simplex.Goal) *Network {
	s, x := NewSteering(n, orders, goal), &Executions{scheduler: n}
	return &Network{Orders: orders, Steering: s, Executions: x, Authority: newAuthority(n, s, x)}
}

// Final notes a block that no validator had finalized before.
func (n *Network) Final(r *ledger.Result) {
	n.Executions.final(r)
	n.Orders.rise()
}
