package fault

import (
	"slices"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Parent is the role of a panic or a hang that is the actor's above the roles.
const Parent = "parent"

// roles lists the roles of each kind of node, the actor above them last.
var roles = map[Whose][]string{
	Validators: {"archive", "execution", "consensus", "intake", "gateway", Parent},
	Runners:    {"runner", Parent},
}

// RolesOf lists the roles of a kind of node that can panic or hang.
func RolesOf(kind Whose) []string { return slices.Clone(roles[kind]) }

// checkVictim judges who is to panic or hang, whatever kind of node it is of.
func checkVictim(o *Order) error {
	_, contract := types.ContractAddress(o.Contract)
	switch {
	case (o.Role == "") == (o.Contract == ""):
		return refusal.New(CodeInvalid, "%s takes a role or a contract: one of them", o.Verb.Name).At("role")
	case o.Contract != "" && !contract:
		return refusal.New(CodeInvalid, "there is no contract %.*q: they are %s", maxShown, o.Contract,
			strings.Join(types.ContractNames(), ", ")).At("contract")
	case o.Role != "" && !slices.Contains(roles[Validators], o.Role) && !slices.Contains(roles[Runners], o.Role):
		return o.noRole(Validators)
	case o.Verb == Hang:
		return checkAtLeast("delay", o.Delay, time.Millisecond)
	}
	return nil
}

// checkVictim says why no node of a kind has the role or the contract of an order.
func (o *Order) checkVictim(kind Whose) error {
	switch {
	case o.Contract != "" && kind != Validators:
		return refusal.New(CodeInvalid, "%s is a runner, and only validators have contracts: give a role", o.Node).At("contract")
	case o.Role != "" && !slices.Contains(roles[kind], o.Role):
		return o.noRole(kind)
	}
	return nil
}

func (o *Order) noRole(kind Whose) error {
	return refusal.New(CodeInvalid, "there is no role %.*q of %s: they are %s", maxShown, o.Role, kind,
		strings.Join(roles[kind], ", ")).At("role")
}
