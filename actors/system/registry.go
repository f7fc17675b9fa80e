package system

import (
	"fmt"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Registration is the payload of register. The sender pays the stake and is the
// owner. The runner's key signs for that owner (decision J20).
type Registration struct {
	PublicKey types.PublicKey `cbor:"public_key"`
	Stake     types.Wei       `cbor:"stake"` // in wei, at least cip2.min_stake
	Signed    types.Signature `cbor:"signed"`
	Offer
}

// Amendment is the payload of update.
type Amendment struct {
	Runner types.Address `cbor:"runner"`
	Offer
}

// Naming is the payload of pause, resume and deregister.
type Naming struct {
	Runner types.Address `cbor:"runner"`
}

// Addition is the payload of add_stake.
type Addition struct {
	Runner types.Address `cbor:"runner"`
	Amount types.Wei     `cbor:"amount"`
}

// Size is the number of places of the registry: one more than the highest place that
// is held. It is the length of bitmaps.
type Size struct {
	_      struct{} `cbor:",toarray"`
	Count  uint32
	Before uint32       // at the end of the block before At
	At     types.Height // of the last change of Count
}

// Registered returns the size of the registry.
func Registered(s actors.Reader) Size {
	if size := loadRecord[Size](s, types.RegistryAddress, keyRegistered); size != nil {
		return *size
	}
	return Size{}
}

// AtParent is the size at the parent of the block that the state is of, which
// has a height: what the votes on that block have bits for (CIP-11 §8.4).
func (s Size) AtParent(height types.Height) uint32 {
	if s.At == height {
		return s.Before
	}
	return s.Count
}

func newFault(code, format string, args ...any) *types.Fault {
	return &types.Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// registerRunner enters a runner in the lowest free place.
func (b *InBlock) registerRunner(owner types.Address, in *Registration) (Effect, *types.Fault) {
	address, err := crypto.AddressOf(in.PublicKey)
	switch {
	case err != nil:
		return Effect{}, newFault("bad_public_key", "%s is not a compressed secp256k1 key", in.PublicKey)
	case loadRecord[Profile](b.State, types.RegistryAddress, keyProfile(address)) != nil:
		return Effect{}, newFault("already_registered", "the key of %s was registered before; a key registers once", address)
	case !b.isSignedBy(address, types.RegistrationDigest(b.Params.ChainID, owner, in.PublicKey), in.Signed):
		return Effect{}, newFault("bad_signature", "signed is not the signature of %s for the owner %s on chain %d",
			address, owner, b.Params.ChainID)
	case in.Stake.Less(b.Params.MinStake):
		return Effect{}, newFault("stake_too_low", "a stake of %s wei, at least %s", in.Stake, b.Params.MinStake)
	}
	if fault := in.Offer.Check(); fault != nil {
		return Effect{}, fault
	}
	place := b.freePlace()
	if uint64(place) >= b.Params.MaxRunners {
		return Effect{}, newFault("registry_full", "registry full: all %d places are held; a place is free %d blocks after its runner leaves",
			b.Params.MaxRunners, b.Params.StakeReturnBlocks())
	}
	if !b.State.Move(owner, types.RegistryAddress, in.Stake) {
		return Effect{}, newFault("insufficient_funds", "%s cannot pay a stake of %s wei", owner, in.Stake)
	}
	b.enterRunner(address, &Profile{Index: place, PublicKey: in.PublicKey, Owner: owner, Offer: in.Offer}, in.Stake)
	effect := Effect{Output: address[:]}
	effect.addEvent(types.RegistryAddress, "runner.registered", RunnerEvent{Runner: address, Owner: owner, Index: place, Stake: in.Stake})
	return effect, nil
}

// isSignedBy reports whether a signature is by the key of an address.
func (b *InBlock) isSignedBy(by types.Address, digest types.Hash, sig types.Signature) bool {
	signer, ok := b.Recover(digest, sig)
	return ok && signer == by
}

// RunnerEvent is the data of the registry's events.
type RunnerEvent struct {
	Runner types.Address `cbor:"runner"`
	Owner  types.Address `cbor:"owner"`
	Index  uint32        `cbor:"index"`
	Stake  types.Wei     `cbor:"stake"` // after the event; of stake_returned, what was returned
}

// enterRunner writes a new runner in the free place of its profile. The registry's balance
// holds its stake already.
func (b *InBlock) enterRunner(address types.Address, profile *Profile, stake types.Wei) {
	profile.RegisteredAt = b.Height
	b.takePlace(profile, address)
	b.storeRecord(types.RegistryAddress, keyProfile(address), profile)
	b.storeRecord(types.RegistryAddress, keyStanding(address), &Standing{Health: selection.Healthy, Stake: stake,
		Reputation: b.Params.InitialReputation, ReputedAt: b.Height, LastHeartbeat: b.Height})
}

// findRunnerOf returns a runner that is not deregistered, only for its owner.
func (b *InBlock) findRunnerOf(sender, runner types.Address) (*Runner, *types.Fault) {
	r := RunnerOf(b.State, runner)
	switch {
	case r == nil:
		return nil, newFault("not_registered", "there is no runner %s", runner)
	case r.Owner != sender:
		return nil, newFault("not_owner", "runner %s belongs to %s, not to %s", runner, r.Owner, sender)
	case r.Health == selection.Deregistered:
		return nil, newFault("deregistered", "runner %s was deregistered; its key cannot register again", runner)
	}
	return r, nil
}

// updateOffer replaces a runner's offer.
func (b *InBlock) updateOffer(sender types.Address, in *Amendment) (Effect, *types.Fault) {
	r, fault := b.findRunnerOf(sender, in.Runner)
	if fault == nil {
		fault = in.Offer.Check()
	}
	if fault != nil {
		return Effect{}, fault
	}
	r.Offer = in.Offer
	b.storeRecord(types.RegistryAddress, keyProfile(r.Address), &r.Profile)
	return r.newRunnerEvent("runner.updated"), nil
}

// newRunnerEvent is an event of a runner.
func (r *Runner) newRunnerEvent(name string) (effect Effect) {
	effect.addEvent(types.RegistryAddress, name, RunnerEvent{Runner: r.Address, Owner: r.Owner, Index: r.Index, Stake: r.Stake})
	return effect
}

// pauseRunner keeps a runner out of draws until resume; its open jobs continue.
func (b *InBlock) pauseRunner(sender types.Address, in *Naming) (Effect, *types.Fault) {
	return b.setHealth(sender, in, selection.Healthy, selection.Paused, "runner.paused", "paused already")
}

func (b *InBlock) resumeRunner(sender types.Address, in *Naming) (Effect, *types.Fault) {
	return b.setHealth(sender, in, selection.Paused, selection.Healthy, "runner.resumed", "not paused")
}

// setHealth brings a runner from one health to the other. A runner with another
// health is refused as already.
func (b *InBlock) setHealth(sender types.Address, in *Naming, from, to selection.Health, event, already string) (Effect, *types.Fault) {
	r, fault := b.findRunnerOf(sender, in.Runner)
	if fault != nil {
		return Effect{}, fault
	}
	if r.Health != from {
		return Effect{}, newFault("no_change", "runner %s is %s", in.Runner, already)
	}
	r.Health = to
	b.setStanding(r.Address, &r.Standing)
	return r.newRunnerEvent(event), nil
}

// addStake adds to a stake, from the owner's balance.
func (b *InBlock) addStake(sender types.Address, in *Addition) (Effect, *types.Fault) {
	r, fault := b.findRunnerOf(sender, in.Runner)
	switch {
	case fault != nil:
		return Effect{}, fault
	case in.Amount.IsZero():
		return Effect{}, newFault("no_change", "an amount of 0 wei adds nothing")
	case !b.State.Move(sender, types.RegistryAddress, in.Amount):
		return Effect{}, newFault("insufficient_funds", "%s cannot pay %s wei", sender, in.Amount)
	}
	r.Stake = r.Stake.Add(in.Amount)
	b.setStanding(r.Address, &r.Standing)
	return r.newRunnerEvent("runner.stake_added"), nil
}

// deregisterRunner takes a runner out of draws permanently. Its stake returns, and its place is
// free, Params.StakeReturnBlocks later, or when the last of its jobs ended if that is
// later (decision J20).
func (b *InBlock) deregisterRunner(sender types.Address, in *Naming) (Effect, *types.Fault) {
	r, fault := b.findRunnerOf(sender, in.Runner)
	if fault != nil {
		return Effect{}, fault
	}
	r.Health, r.ReturnsAt = selection.Deregistered, b.Height+types.Height(b.Params.StakeReturnBlocks())
	b.setStanding(r.Address, &r.Standing)
	if r.ActiveJobs == 0 {
		b.awaitReturn(r)
	}
	return r.newRunnerEvent("runner.deregistered"), nil
}

// Enrolment is a runner of genesis (decision J20).
type Enrolment struct {
	_         struct{}        `cbor:",toarray"`
	PublicKey types.PublicKey `json:"public_key"`
	Owner     types.Address   `json:"owner"`
	Stake     types.Wei       `json:"stake"`
	Offer     Offer           `json:"offer"`
}

// Enrol enters the runners of genesis, whose stakes it mints into the registry.
// An error names the runner that cannot be enrolled, and the reason.
func (b *InBlock) Enrol(runners []Enrolment) error {
	for i, in := range runners {
		address, err := crypto.AddressOf(in.PublicKey)
		fault := in.Offer.Check()
		switch {
		case err != nil:
			return fmt.Errorf("runner %d: %s is not a compressed secp256k1 key", i, in.PublicKey)
		case fault != nil:
			return fmt.Errorf("runner %d, %s: %s", i, address, fault.Message)
		case in.Stake.Less(b.Params.MinStake):
			return fmt.Errorf("runner %d, %s: a stake of %s wei, at least cip2.min_stake, %s", i, address, in.Stake, b.Params.MinStake)
		case uint64(i) >= b.Params.MaxRunners:
			return fmt.Errorf("there are %d runners, at most cip11.max_runners, %d", len(runners), b.Params.MaxRunners)
		case loadRecord[Profile](b.State, types.RegistryAddress, keyProfile(address)) != nil:
			return fmt.Errorf("runner %d: %s is listed twice", i, address)
		}
		b.State.Credit(types.RegistryAddress, in.Stake)
		b.enterRunner(address, &Profile{Index: uint32(i), PublicKey: in.PublicKey, Owner: in.Owner, Offer: in.Offer}, in.Stake)
	}
	return nil
}
