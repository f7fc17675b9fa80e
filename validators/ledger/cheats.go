package ledger

import (
	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// governedMoney is the accounts of a block in the making as instructions set them.
type governedMoney struct{ state *actors.State }

// SetBalance implements governance.Money.
//
// Spec: decision G2.
func (m governedMoney) SetBalance(at types.Address, balance types.Wei) (before types.Wei, refused *types.Fault) {
	account, supply := actors.AccountOf(m.state, at), supplyOf(m.state)
	before = account.Balance
	if !supply.countChange(before, balance) {
		return before, &types.Fault{Code: "supply", Message: "all balances together would exceed 2^256 wei"}
	}
	account.Balance = balance
	m.state.SetAccount(at, account)
	setSupply(m.state, &supply)
	return before, nil
}

// countChange counts a balance that is set: what it gains was minted or no longer removed,
// and the reverse. ok is false where the supply would exceed an amount.
func (s *Supply) countChange(before, after types.Wei) (ok bool) {
	gained, lost := &s.Minted, &s.Removed
	by := after.Sub(before.Min(after))
	if after.Less(before) {
		gained, lost, by = lost, gained, before.Sub(after)
	}
	back := by.Min(*lost)
	*lost, by = lost.Sub(back), by.Sub(back)
	if *gained, ok = gained.AddOk(by); !ok {
		return false
	}
	_, ok = s.Genesis.AddOk(s.Minted)
	return ok
}

// governedState is the storage of actors as instructions set it.
type governedState struct{ *actors.State }

// HasActor implements governance.State.
func (s governedState) HasActor(at types.Address) bool { return actors.ActorOf(s.State, at) != nil }

// executeImpersonation does what a transaction asks for in the name of another address, if that
// may be impersonated. Nothing of it is signed, so no timer is paid by the sender.
//
// Spec: decision G2.
func (r *run) executeImpersonation(x *actors.Execution, c *Checked, as *governance.Impersonate) (to types.Address, outcome program.Outcome,
	err error) {
	if as.To != nil {
		to = *as.To
	}
	outcome, err = x.Instruct(c.Sender, types.GovernanceAddress, "instruct", func() program.Outcome { return r.executeInstruction(x, as) })
	if err != nil || outcome.Status != types.StatusOK {
		return to, outcome, err
	}
	switch in := as.Asked().(type) {
	case *types.Execute:
		outcome, err = x.Deliver(program.Message{Kind: program.Call, Sender: as.From, Self: to, Handler: in.Handler, Payload: in.Payload},
			as.Value)
	case *types.Deploy:
		to, outcome, err = x.Deploy(as.From, in, as.Value)
	default:
		outcome = r.transferValue(as.From, to, as.Value)
	}
	return to, outcome, err
}
