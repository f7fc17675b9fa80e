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
	*Submissions
	*Authority
	*Membership
	*Registration
}

// Begin is what was decided of a network before it was opened.
type Begin struct {
	Goal    simplex.Goal // of the latest advance
	Joining []string     // validators whose membership was asked for, and is not in a final block
	Spared  []string     // validators that are in no set, and run on
}

// New operates a network, of whose nodes orders orders faults.
func New(n Operated, orders *Orders, b Begin) *Network {
	s, x := NewSteering(n, orders, b.Goal), newExecutions(n)
	a := newAuthority(n, orders, s, x)
	m := &Membership{network: n, orders: orders, authority: a}
	m.moves.withValue(func(is *moves) { is.joining, is.spared = b.Joining, b.Spared })
	g := &Registration{network: n, orders: orders, authority: a}
	orders.renew = g.renewKey
	return &Network{Orders: orders, Steering: s, Executions: x, Submissions: &Submissions{network: n, orders: orders, executions: x},
		Authority: a, Membership: m, Registration: g}
}

// Final notes a block that no validator had finalized before.
func (n *Network) Final(r *ledger.Result) {
	n.Executions.endWaitsOf(r)
	n.Membership.stopFormer(r)
	n.Registration.stopLeavers(r)
	n.Orders.noteHigherBlock()
}
