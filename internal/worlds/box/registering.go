package box

import (
	"context"
	"errors"
	"net/http"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// registration starts the network's own runners, registers them by the devnet's
// keys, deregisters them, and lets them rejoin.
type registration struct {
	origin    *origin
	nodes     *nodeList
	runners   *runnerList
	roster    *roster
	authority *network.Authority
	scheduler *scheduler
	shared    *shared
	make      func(name string, key *crypto.Key) *Runner // a runner that is not started
}

// renew gives a runner that is down its next key, and has it registered.
func (g *registration) renew(name string) error {
	before := g.runners.findRunner(name)
	state := g.nodes.state()
	i := 0
	for state.Runner(wallet.RunnerIdentity(g.origin.seed, name, i).Address()) != nil {
		i++
	}
	key := wallet.RunnerIdentity(g.origin.seed, name, i)
	if err := g.authority.Register(context.Background(), key, OwnOffer()); err != nil {
		return err
	}
	return g.roster.alone(func() error {
		if !before.Started() {
			g.runners.replaceRunner(g.make(name, key))
		}
		return nil
	})
}

// latest returns the last key of a runner that is registered in a state; nil if none
// is.
func (g *registration) latest(state *ledger.State, name string) (key *crypto.Key) {
	for i := 0; ; i++ {
		next := wallet.RunnerIdentity(g.origin.seed, name, i)
		if state.Runner(next.Address()) == nil {
			return key
		}
		key = next
	}
}

// keyOf returns the key of a runner that is registered in a state, nil if none is:
// its latest, or the one that was drawn for it at the beginning.
func (g *registration) keyOf(state *ledger.State, name string) *crypto.Key {
	if key := g.latest(state, name); key != nil || g.origin.config.Elsewhere == nil {
		return key
	}
	if key := g.origin.config.Elsewhere.Key(name); key != nil && state.Runner(key.Address()) != nil {
		return key
	}
	return nil
}

// resume starts the runners of genesis and those that joined since, but for
// those that were deregistered.
func (g *registration) resume() error {
	if g.origin.config.Here != nil { // each runs in a separate process
		return nil
	}
	state := g.nodes.state()
	for i := 0; ; i++ {
		name := wallet.RunnerName(i)
		key := g.keyOf(state, name)
		if key == nil && g.origin.config.Elsewhere != nil {
			key = g.origin.config.Elsewhere.Key(name) // the registry forgets a runner whose stake was returned
		}
		if key == nil {
			return nil
		}
		if r := state.Runner(key.Address()); r == nil || r.Health == selection.Deregistered {
			g.runners.addRunner(g.make(name, key))
			g.origin.noteLeft(name)
			continue
		}
		if err := g.begin(name, key); err != nil {
			return err
		}
	}
}

// JoinRunner starts a runner of the next free name, and has it registered, with a
// stake that the system's account gives it. It returns the name when the registration
// is final. A given name must be the next free one.
func (g *registration) JoinRunner(ctx context.Context, name string) (string, error) {
	if err := g.origin.strict("joining by the devnet's keys"); err != nil {
		return "", err
	}
	if err := g.origin.elsewhere("a runner without its own key"); err != nil {
		return "", err
	}
	next := wallet.RunnerName(len(g.runners.RunnerList()))
	switch {
	case len(g.runners.RunnerList()) >= MaxRunners:
		return "", api.Refuse(http.StatusConflict, "too_many_runners", "a network in one process has at most %d runners", MaxRunners)
	case name != "" && g.runners.findRunner(name) != nil:
		return "", api.Refuse(http.StatusConflict, "runner_exists", "there is a runner %s already", name).
			Hint("A deregistered runner cannot return: its key stays registered.").At("name")
	case name != "" && name != next:
		return "", api.Refuse(http.StatusBadRequest, "invalid_name", "%.40q is not the name of the next runner, which is %s", name, next).
			Hint("Give no name, or a public key to register a runner that the devnet does not start.").At("name")
	}
	key := wallet.RunnerKey(g.origin.seed, next)
	if err := g.authority.Register(ctx, key, OwnOffer()); err != nil {
		return "", err
	}
	err := g.roster.alone(func() error {
		if g.runners.findRunner(next) != nil {
			return nil
		}
		return g.begin(next, key)
	})
	if errors.Is(err, network.ErrClosed) {
		return "", api.Refuse(http.StatusServiceUnavailable, "closing", "the network ends")
	}
	return next, err
}

// begin adds a runner, and starts it.
func (g *registration) begin(name string, key *crypto.Key) error {
	r := g.make(name, key)
	g.runners.addRunner(r)
	return r.start()
}

// LeaveRunner deregisters a runner of the network's own, and returns when that is final.
// The runner finishes its open jobs; then the reaper stops it.
func (g *registration) LeaveRunner(ctx context.Context, name string) error {
	if err := g.origin.strict("leaving by the devnet's keys"); err != nil {
		return err
	}
	r := g.runners.findRunner(name)
	if r == nil {
		return g.roster.unknown(name)
	}
	registered := g.nodes.state().Runner(r.Address)
	if registered == nil || registered.Health == selection.Deregistered {
		return api.Refuse(http.StatusConflict, "deregistered", "%s has left already", name).At("name")
	}
	return g.authority.Deregister(ctx, r.key)
}
