package network

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Goodbye is how long a runner may take to say Goodbye before it is stopped: the validators'
// grace, and some more.
const Goodbye = 2 * time.Second

// Registration starts the network's own runners, registers them by the network's keys,
// deregisters them, and stops those that left. Their names are r0, r1, … without a gap: a
// resumed network finds its runners by them.
type Registration struct {
	network   Operated
	orders    *Orders
	authority *Authority
	seen      guardedValue[registry]
}

// registry is what a final state had of the network's own runners.
type registry struct {
	is       any      // all registrations (ledger.State.Registrations)
	leaving  []string // deregistered, in the order of their names
	stopping []string // tasks stop them
}

// findRunner is a runner by its name, or nil.
func (g *Registration) findRunner(name string) Node {
	for _, r := range g.network.Runners() {
		if r.Who().Name == name {
			return r
		}
	}
	return nil
}

// JoinRunner registers a runner of the next free name, with a stake that the system's account
// gives it, and starts it. It returns the name when the registration is final. A given name
// must be the next free one. terms are what it registers with, by what all runners offer.
func (g *Registration) JoinRunner(ctx context.Context, name string, terms func(own system.Offer) (setup.Terms, error)) (string, error) {
	if err := g.orders.Need(OwnRunners); err != nil {
		return "", err
	}
	count := len(g.network.Runners())
	next := wallet.RunnerName(count)
	if count >= setup.MaxRunners {
		return "", errTooManyRunners(setup.MaxRunners)
	}
	if err := checkJoinRunner(name, next, g.findRunner(name) != nil); err != nil {
		return "", err
	}
	with, err := terms(g.network.Offer())
	if err != nil {
		return "", err
	}
	state := g.network.Best().State
	if state == nil {
		return "", ErrNoValidator
	}
	key := g.ownIdentity(state, next)
	if err := g.authority.registerRunner(ctx, key, with.Stake, with.Offer); err != nil {
		return "", err
	}
	return next, closingRefusal(g.orders.nodes.Do(ctx, func() error {
		if g.findRunner(next) != nil { // another caller was first
			return nil
		}
		return g.startNewRunner(next, key)
	}))
}

// startNewRunner makes a runner, and starts it.
func (g *Registration) startNewRunner(name string, key *crypto.Key) error {
	r, err := g.network.AddRunner(name, key)
	if err != nil {
		return err
	}
	return r.Start()
}

// LeaveRunner deregisters a runner of the network's own, and returns when that is final. The
// runner finishes its open jobs, and is stopped.
func (g *Registration) LeaveRunner(ctx context.Context, name string) error {
	if _, err := g.registrationOf(name); err != nil {
		return err
	}
	return g.authority.deregisterRunner(ctx, g.network.RunnerKey(name))
}

// registrationOf is the registration of a runner of the network's own, for orders of its owner.
func (g *Registration) registrationOf(name string) (*system.Runner, error) {
	if err := g.orders.Need(SystemKey); err != nil {
		return nil, err
	}
	r, state := g.findRunner(name), g.network.Best().State
	switch {
	case r == nil:
		return nil, g.orders.backend.Unknown(name)
	case state == nil:
		return nil, ErrNoValidator
	case isUnregistered(state, r):
		return nil, errRunnerGone(name)
	}
	return state.Runner(r.Who().Address), nil
}

// UpdateRunner changes the offer of a runner of the network's own, and returns when that is
// final. amended is the offer in place of the present one.
func (g *Registration) UpdateRunner(ctx context.Context, name string, amended func(now system.Offer) (system.Offer, error)) error {
	is, err := g.registrationOf(name)
	if err != nil {
		return err
	}
	offer, err := amended(is.Offer)
	if err != nil {
		return err
	}
	return g.authority.updateOffer(ctx, g.network.RunnerKey(name), offer)
}

// AddStake adds to the stake of a runner of the network's own, and returns when that is
// final. The system's account gives it the amount.
func (g *Registration) AddStake(ctx context.Context, name string, amount types.Wei) error {
	if _, err := g.registrationOf(name); err != nil {
		return err
	}
	return g.authority.addStake(ctx, g.network.RunnerKey(name), amount)
}

// isUnregistered reports whether a runner is not registered, or not any more.
func isUnregistered(state *ledger.State, r Node) bool {
	is := state.Runner(r.Who().Address)
	return is == nil || is.Health == selection.Deregistered
}

// PrepareRunner is the registration of a runner that StartRunner starts by its name, signed for an owner, without a stake.
// The runner is new, or was deregistered and rejoins under another key.
func (g *Registration) PrepareRunner(name string, owner types.Address) (string, *system.Registration, error) {
	if err := g.orders.Need(OwnRunners); err != nil {
		return name, nil, err
	}
	count := len(g.network.Runners())
	next := wallet.RunnerName(count)
	if name == "" {
		name = next
	}
	state := g.network.Best().State
	if state == nil {
		return name, nil, ErrNoValidator
	}
	keys := g.network.Keys()
	switch r := g.findRunner(name); {
	case r == nil && name != next:
		return name, nil, errNextRunner(name, next)
	case r == nil && count >= setup.MaxRunners:
		return name, nil, errTooManyRunners(setup.MaxRunners)
	case r != nil && !isUnregistered(state, r):
		return name, nil, errRunnerAlready(name)
	}
	_, key := g.latestIdentities(state, name)
	return name, &system.Registration{PublicKey: key.PublicKey(), Offer: g.network.Offer(), Signed: keys.signRegistration(key, owner)}, nil
}

// StartRunner starts a runner whose registration is final, in place of the one of its name.
func (g *Registration) StartRunner(name string) error {
	return closingRefusal(g.orders.nodes.Do(context.Background(), func() error {
		state := g.network.Best().State
		if state == nil {
			return ErrNoValidator
		}
		if former := g.findRunner(name); former != nil && former.Phase() != Stopped {
			if err := g.orders.stopProcess(former); err != nil {
				return err
			}
		}
		return g.startNewRunner(name, g.KeyOf(state, name))
	}))
}

// latestIdentities are the latest key of a runner that is registered in a state, which is nil
// without one, and the first that is not.
func (g *Registration) latestIdentities(state *ledger.State, name string) (latest, next *crypto.Key) {
	for i := 0; ; i++ {
		next = wallet.RunnerIdentity(g.network.Keys().Seed, name, i)
		if state.Runner(next.Address()) == nil {
			return latest, next
		}
		latest = next
	}
}

// ownIdentity is the first key of a runner that is registered to itself, or not registered. Who knows the seed may
// have registered those before it to another owner.
func (g *Registration) ownIdentity(state *ledger.State, name string) *crypto.Key {
	for i := 0; ; i++ {
		key := wallet.RunnerIdentity(g.network.Keys().Seed, name, i)
		if r := state.Runner(key.Address()); r == nil || r.Owner == key.Address() {
			return key
		}
	}
}

// KeyOf is the key of a runner that is registered in a state, or nil: its latest, or the one
// in its files.
func (g *Registration) KeyOf(state *ledger.State, name string) *crypto.Key {
	if latest, _ := g.latestIdentities(state, name); latest != nil {
		return latest
	}
	if key := g.network.FileKey(name); key != nil && state.Runner(key.Address()) != nil {
		return key
	}
	return nil
}

// renewals bounds the attempts to register a runner under its next key: one a block.
const renewals = 64

// renewKey gives a runner that is down its next key, and has it registered. A refusal may pass
// with the next block, after which it is tried again. It returns the last of renewals refusals.
func (g *Registration) renewKey(name string) error {
	for attempt := 1; ; attempt++ {
		err := g.tryRenew(name)
		var refused *refusal.Error
		if !errors.As(err, &refused) || attempt == renewals {
			return err
		}
		at := g.orders.backend.Height()
		higher := func() bool { return g.orders.backend.Height() > at }
		if err := g.orders.heights.waitUntil(context.Background(), g.network, Forever, higher); err != nil {
			return err
		}
	}
}

func (g *Registration) tryRenew(name string) error {
	state := g.network.Best().State
	if state == nil {
		return ErrNoValidator
	}
	_, key := g.latestIdentities(state, name)
	if err := g.authority.registerRunner(context.Background(), key, wallet.RunnerStake, g.network.Offer()); err != nil {
		return err
	}
	return g.orders.nodes.Do(context.Background(), func() error {
		if g.findRunner(name).Phase().Up() { // it was started meanwhile
			return nil
		}
		_, err := g.network.AddRunner(name, key)
		return err
	})
}

// stopLeavers stops the runners that left the registry and have no open job.
func (g *Registration) stopLeavers(r *ledger.Result) {
	now := r.State.Registrations()
	if now == nil {
		return
	}
	changed := false
	g.seen.withValue(func(was *registry) { changed = was.is != now })
	if changed {
		var leaving []string
		for _, one := range g.network.Runners() {
			if is := r.State.Listed(one.Who().Address); is != nil && is.Health == selection.Deregistered {
				leaving = append(leaving, one.Who().Name)
			}
		}
		g.seen.withValue(func(is *registry) { is.is, is.leaving = now, leaving })
	}
	for _, name := range g.listLeavers(r.State) {
		g.network.Go(name+" stops", func() error { return g.stopDeregisteredRunner(name) })
	}
}

// listLeavers lists the runners that left the registry and run, and that no task stops.
func (g *Registration) listLeavers(state *ledger.State) (names []string) {
	var leaving []string
	g.seen.withValue(func(is *registry) { leaving = slices.Clone(is.leaving) })
	for _, name := range leaving {
		r := g.findRunner(name)
		if r == nil || r.Phase() == Stopped || !state.Retired(r.Who().Address) {
			continue
		}
		g.seen.withValue(func(is *registry) {
			if !slices.Contains(is.stopping, name) {
				is.stopping, names = append(is.stopping, name), append(names, name)
			}
		})
	}
	return names
}

// stopDeregisteredRunner stops a runner that left in the latest state, unless it has another key meanwhile.
func (g *Registration) stopDeregisteredRunner(name string) error {
	defer g.seen.withValue(func(is *registry) {
		is.stopping = slices.DeleteFunc(is.stopping, func(one string) bool { return one == name })
	})
	return g.orders.stopLeftNode(func() Node {
		r, state := g.findRunner(name), g.network.Best().State
		if state == nil || !state.Retired(r.Who().Address) {
			return nil
		}
		return r
	}, g.network)
}
