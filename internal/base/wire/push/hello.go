package push

import "github.com/cowboyinc/devnet/internal/base/types"

// Check judges role and key of a Hello that a side sent over a connection whose
// certificate has a key. The error is a *Fault.
//
// Spec: CIP-11 §6.2.
func (f *Hello) Check(from Role, certificate types.PublicKey) error {
	return checkParty(f, f.PartyRole, f.PartyPubkey, from, certificate)
}

// Check judges role and key of a HelloAck; Verify judges its signature.
func (f *HelloAck) Check(from Role, certificate types.PublicKey) error {
	return checkParty(f, f.PartyRole, f.PartyPubkey, from, certificate)
}

func checkParty(f Frame, role Role, key types.PublicKey, from Role, certificate types.PublicKey) error {
	if role != from {
		return newFault(WrongRole, f.Type().String(), "a %s here, not a %s", from, role)
	}
	if key != certificate {
		return newFault(IdentityMismatch, f.Type().String(), "the certificate's key is %s", certificate)
	}
	return nil
}

// Standing is the chain's record of a runner that says Hello, as its validator
// knows it.
type Standing struct {
	Registered bool // and not deregistered
	Staked     bool // with the minimum stake or more
	InSubset   bool // the validator is in its subset, or during an overlap in the former
}

// Check refuses a runner that may not connect, by the first of the three that it
// lacks. The error is a *Fault.
//
// Spec: CIP-11 §§5.2, 6.2, decision J14.
func (s Standing) Check() error {
	where := TypeHello.String()
	switch {
	case !s.Registered:
		return newFault(NotRegistered, where, "the runner is not registered")
	case !s.Staked:
		return newFault(InsufficientStake, where, "the runner's stake is below the minimum")
	case !s.InSubset:
		return newFault(NotInSubset, where, "this validator is not in the runner's subset")
	}
	return nil
}
