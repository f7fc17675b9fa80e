package sim

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// crew is the runners of a network, and what validators tell their views.
type crew struct {
	*fleet
	config   *NetworkConfig
	runners  []string                   // by name, in the order of the registry
	working  map[string]*runners.Runner // looked up only
	states   map[string]*ledger.State   // the newest final one of each validator; looked up only
	entering []string                   // not registered: they wait for what that takes
	reaped   types.Height               // of the newest state that was looked at
	registry any                        // that was looked through last (ledger.State.Registrations)
	leaving  []string                   // deregistered in it, in the order of the registry
	looks    []*ledger.Outlook          // of the latest blocks, the newest last
}

// keptLooks is the number of blocks whose outlooks are kept: validators seldom differ
// by more, and one that does gets a new one.
const keptLooks = 4

// open says whether validators let runners in.
func (c *crew) open() bool { return c.config.Open || c.config.Runners > 0 }

// endpoint is where a validator listens for runners; "" where it lets none in.
func (c *crew) endpoint(name string) string {
	if c.open() {
		return Endpoint(name)
	}
	return ""
}

// enrol enters the runners into genesis, each as its own owner (decision J20).
func (c *crew) enrol() {
	for i := range c.config.Runners {
		name := wallet.RunnerName(i)
		key := wallet.RunnerKey(c.config.World.Seed, name)
		c.runners, c.keys[name] = append(c.runners, name), key
		c.Genesis.Runners = append(c.Genesis.Runners, system.Enrolment{PublicKey: key.PublicKey(), Owner: key.Address(),
			Stake: wallet.RunnerStake, Offer: c.RunnerOffer()})
		c.Genesis.Accounts = append(c.Genesis.Accounts, ledger.Funding{Address: key.Address(), Balance: wallet.RunnerFunds})
	}
}

// addRunner adds the machine of a runner, whose key is known.
func (c *crew) addRunner(name string) error {
	parts := Parts{Signer: c.scheme.Signer(c.keys[name]), Verifier: c.scheme, MaxJobs: wallet.RunnerJobs}
	return c.AddRunner(name, parts, c.bootRunner(name))
}

func (c *crew) bootRunner(name string) Boot[env.Runner] {
	return func(node env.Runner) (func(), error) {
		log := c.config.World.Log
		if log == nil {
			log = slog.New(slog.DiscardHandler)
		}
		mask, node := byzantine.NewRunnerMask(node)
		r, err := runners.Start(c.Runtime(), runners.Config{Name: name, ChainID: c.config.ChainID, MaxJobs: wallet.RunnerJobs, Log: log,
			Tell: c.config.Told, Strategy: c.config.Strategy, OnFailure: func(err error) { c.ended(name, err) }}, node)
		if err != nil {
			return nil, err
		}
		c.working[name] = r
		process := c.find(name).process
		process.supervisor = r
		process.does = &byzantine.RunnerProcess{Mask: mask, Shell: r, Actors: &process.supervised}
		return r.Stop, nil
	}
}

// host lets runners' views ask a validator that has just started.
func (c *crew) host(name string, head *ledger.State) {
	if !c.open() {
		return
	}
	c.states[name] = head
	c.find(name).process.views = func(runner *node, follow []execution.ID, enough func(types.Height) bool) *chainview.Head {
		if !enough(c.states[name].Height()) { // most of a crowd asks too early, and is not looked up for that
			return nil
		}
		return c.outlook(c.states[name]).Head(runner.parts.Signer.PublicKey(), follow)
	}
	c.find(name).process.polled = func(runner *node, q polling.Question, answer func(polling.Answer)) {
		if v := c.Validator(name); v != nil {
			v.Answer(runner.address, q, answer)
		}
	}
}

// answerViews answers them from a validator's new final state.
func (c *crew) answerViews(name string, head *ledger.State) {
	if process := c.find(name).process; process != nil && process.views != nil {
		c.states[name] = head
		process.answer()
	}
}

// outlook is how runners see a state.
func (c *crew) outlook(s *ledger.State) *ledger.Outlook {
	for _, o := range slices.Backward(c.looks) {
		if o.Of() == s.Hash() {
			return o
		}
	}
	made := s.Outlook
	if last := len(c.looks) - 1; last >= 0 {
		made = func() *ledger.Outlook { return c.looks[last].Next(s) }
	}
	c.looks = append(c.looks, made())
	c.looks = c.looks[max(0, len(c.looks)-keptLooks):]
	return c.looks[len(c.looks)-1]
}

// Runners are the runners' names, in the order of the registry.
func (c *crew) Runners() []string { return slices.Clone(c.runners) }

// Runner returns a running runner, or nil where the node is down.
func (c *crew) Runner(name string) *runners.Runner {
	if !c.Running(name) {
		return nil
	}
	return c.working[name]
}

// RunnerLetters is how many events a runner's role was told after it had stopped, since the
// runner started last.
func (c *crew) RunnerLetters(name string) uint64 {
	if r := c.working[name]; r != nil {
		return r.Status().DeadLetters
	}
	return 0
}

// JoinRunner starts a runner, by default under the next free name, and registers
// it. That it is registered takes some blocks.
func (c *crew) JoinRunner(name string) error {
	name, err := c.enter(name)
	if err != nil {
		return err
	}
	c.register(name)
	return c.Boot(name)
}

// StartRunner starts a runner that is registered by another account, with the key of
// its name.
func (c *crew) StartRunner(name string) error {
	name, err := c.enter(name)
	if err != nil {
		return err
	}
	return c.Boot(name)
}

// enter adds a runner, by default under the next free name.
func (c *crew) enter(name string) (string, error) {
	for i := 0; name == ""; i++ {
		if free := wallet.RunnerName(i); c.keys[free] == nil {
			name = free
		}
	}
	switch {
	case c.keys[name] != nil:
		return "", fmt.Errorf("%s exists already", name)
	case !c.open():
		return "", errors.New("this network lets no runners in: make it with runners, or open to them")
	}
	c.keys[name] = wallet.RunnerKey(c.config.World.Seed, name)
	if err := c.addRunner(name); err != nil {
		delete(c.keys, name)
		return "", err
	}
	c.runners = append(c.runners, name)
	return name, nil
}

// register has a runner registered, as its own owner: the system's account gives it
// what that takes.
func (c *crew) register(name string) {
	c.follows(wallet.System)
	c.resubmit(wallet.System, c.Transfer(wallet.System, c.keys[name].Address(), wallet.RunnerStake.Add(wallet.RunnerFunds)), resubmitTimes)
	c.entering = append(c.entering, name)
}

// funded has those register who can pay for it in a new final state.
func (c *crew) funded(s *ledger.State) {
	c.entering = slices.DeleteFunc(c.entering, func(name string) bool {
		key := c.keys[name]
		if s.Account(key.Address()).Balance.Less(wallet.RunnerStake.Add(wallet.RunnerFunds)) {
			return false
		}
		c.After(0, func() {
			c.order(name, types.RegistryAddress, "register", system.Registration{PublicKey: key.PublicKey(),
				Stake: wallet.RunnerStake, Signed: c.RegistrationBy(key, key.Address()), Offer: c.RunnerOffer()})
		})
		return true
	})
}

// RegistrationBy is what a new runner signs for its registration by an owner.
func (c *crew) RegistrationBy(key *crypto.Key, owner types.Address) types.Signature {
	return c.scheme.Signer(key).Sign(types.RegistrationDigest(c.config.ChainID, owner, key.PublicKey()))
}

// RunnerOffer is what a runner of a network registers.
func (c *crew) RunnerOffer() system.Offer {
	return system.Offer{Capabilities: capabilities(c.answers), Entitlements: []string{}, MaxConcurrentJobs: wallet.RunnerJobs}
}

// LeaveRunner has the owner of a runner deregister it. The runner finishes its open jobs,
// says Goodbye and stops.
func (c *crew) LeaveRunner(name string) error {
	best := c.best()
	if !slices.Contains(c.runners, name) || best == nil {
		return fmt.Errorf("no runner is called %q, or no validator runs", name)
	}
	state := best.Head().State
	r := state.Runner(c.find(name).address)
	if r == nil || r.Health == selection.Deregistered {
		return fmt.Errorf("%s is not registered", name)
	}
	c.order(name, types.RegistryAddress, "deregister", system.Naming{Runner: r.Address})
	return nil
}

// retireRunners ends the runners that left the registry and have no open job in a new final state.
func (c *crew) retireRunners(s *ledger.State) {
	if s.Height() <= c.reaped {
		return
	}
	c.reaped = s.Height()
	if now := s.Registrations(); now != c.registry {
		c.registry, c.leaving = now, nil
		for _, name := range c.runners {
			if r := s.Listed(c.keys[name].Address()); r != nil && r.Health == selection.Deregistered {
				c.leaving = append(c.leaving, name)
			}
		}
	}
	for _, name := range c.leaving {
		if one := c.Runner(name); one != nil && s.Retired(c.keys[name].Address()) {
			c.After(0, func() { c.retire(name, one) })
		}
	}
}

// retire lets a runner say Goodbye, and then stops it.
func (c *crew) retire(name string, one *runners.Runner) {
	one.Leave(false, func() {
		c.After(0, func() {
			if c.Runner(name) != one {
				return
			}
			if err := c.Stop(name); err != nil {
				c.failed(err)
			}
		})
	})
}

// renew gives a runner that is down its next key, and has it registered.
func (c *crew) renew(name string) error {
	node, i := c.find(name), 0
	for c.byAddress[wallet.RunnerIdentity(c.config.World.Seed, name, i).Address()] != nil {
		i++
	}
	key := wallet.RunnerIdentity(c.config.World.Seed, name, i)
	c.keys[name], c.nonces[name] = key, 0
	node.parts.Signer, node.address = c.scheme.Signer(key), key.Address()
	c.byAddress[node.address] = node
	c.register(name)
	return nil
}
