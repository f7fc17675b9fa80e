package sim

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// runnerJobs is how many jobs a runner of a network does at once.
const runnerJobs = 4

// crew is the runners of a network, and what validators tell their views.
type crew struct {
	runners []string                   // by name, in the order of the registry
	working map[string]*runners.Runner // looked up only
	states  map[string]*ledger.State   // the newest final one of each validator; looked up only
	faces   map[string]*face           // of their present processes; looked up only
	rejoins []rejoining
	looks   []*ledger.Outlook // of the latest blocks, the newest last
}

// keptLooks is of how many blocks the outlooks are kept: validators are seldom further
// apart, and who is has one made.
const keptLooks = 4

// open says whether validators let runners in.
func (n *Network) open() bool { return n.config.Open || n.config.Runners > 0 }

// endpoint is where a validator listens for runners; "" where it lets none in.
func (n *Network) endpoint(name string) string {
	if n.open() {
		return Endpoint(name)
	}
	return ""
}

// enrol enters the runners into genesis, each as its own owner (decision J20).
func (n *Network) enrol() {
	for i := range n.config.Runners {
		name := wallet.RunnerName(i)
		key := wallet.RunnerKey(n.config.World.Seed, name)
		n.runners, n.keys[name] = append(n.runners, name), key
		n.Genesis.Runners = append(n.Genesis.Runners, system.Enrolment{PublicKey: key.PublicKey(), Owner: key.Address(),
			Stake: wallet.RunnerStake, Offer: offer()})
		n.Genesis.Accounts = append(n.Genesis.Accounts, ledger.Funding{Address: key.Address(), Balance: wallet.RunnerFunds})
	}
}

// addRunner adds the machine of a runner, whose key is known.
func (n *Network) addRunner(name string) error {
	parts := Parts{Signer: n.scheme.Signer(n.keys[name]), Verifier: n.scheme, MaxJobs: runnerJobs}
	return n.AddRunner(name, parts, n.bootRunner(name))
}

func (n *Network) bootRunner(name string) Boot[env.Runner] {
	return func(node env.Runner) (func(), error) {
		log := n.config.World.Log
		if log == nil {
			log = slog.New(slog.DiscardHandler)
		}
		node = n.faced(name, node)
		r, err := runners.Start(n.Runtime(), runners.Config{Name: name, ChainID: n.config.ChainID, MaxJobs: runnerJobs, Log: log,
			Tell: n.config.Told}, node)
		if err != nil {
			return nil, err
		}
		n.working[name] = r
		return r.Stop, nil
	}
}

// host lets runners' views ask a validator that has just started.
func (n *Network) host(name string, head *ledger.State) {
	if !n.open() {
		return
	}
	n.states[name] = head
	n.find(name).process.views = func(runner *node, follow []execution.ID) *chainview.Head {
		return n.outlook(n.states[name]).Head(runner.parts.Signer.PublicKey(), follow)
	}
}

// answerViews tells them of a validator's new final state.
func (n *Network) answerViews(name string, head *ledger.State) {
	if process := n.find(name).process; process != nil && process.views != nil {
		n.states[name] = head
		process.answer()
	}
}

// outlook is how runners see a state.
func (n *Network) outlook(s *ledger.State) *ledger.Outlook {
	for _, o := range slices.Backward(n.looks) {
		if o.Of() == s.Hash() {
			return o
		}
	}
	made := s.Outlook
	if last := len(n.looks) - 1; last >= 0 {
		made = func() *ledger.Outlook { return n.looks[last].Next(s) }
	}
	n.looks = append(n.looks, made())
	n.looks = n.looks[max(0, len(n.looks)-keptLooks):]
	return n.looks[len(n.looks)-1]
}

// Runners are the runners' names, in the order of the registry.
func (n *Network) Runners() []string { return slices.Clone(n.runners) }

// Runner returns a running runner, or nil where the node is down.
func (n *Network) Runner(name string) *runners.Runner {
	if !n.Running(name) {
		return nil
	}
	return n.working[name]
}

// JoinRunner starts a runner, the next free name where it is given none, and has the
// system key register it. That it is registered takes some blocks.
func (n *Network) JoinRunner(name string) error {
	for i := 0; name == ""; i++ {
		if free := wallet.RunnerName(i); n.keys[free] == nil {
			name = free
		}
	}
	switch {
	case n.keys[name] != nil:
		return fmt.Errorf("%s is there already", name)
	case !n.open():
		return errors.New("this network lets no runners in: make it with runners, or open to them")
	}
	n.keys[name] = wallet.RunnerKey(n.config.World.Seed, name)
	if err := n.addRunner(name); err != nil {
		delete(n.keys, name)
		return err
	}
	n.runners = append(n.runners, name)
	n.register(name)
	return n.Boot(name)
}

// register has the system key register a runner, which pays its stake and owns it.
func (n *Network) register(name string) {
	n.order(wallet.System, types.RegistryAddress, "register", system.Registration{PublicKey: n.keys[name].PublicKey(),
		Stake: wallet.RunnerStake, Offer: offer()})
}

// offer is what a runner of a network registers.
func offer() system.Offer {
	return system.Offer{Capabilities: judge.Capabilities(), Entitlements: []string{}, MaxConcurrentJobs: runnerJobs}
}

// LeaveRunner has the owner of a runner deregister it, and the runner leave when
// nothing of it is open any more.
func (n *Network) LeaveRunner(name string) error {
	best := n.best()
	if !slices.Contains(n.runners, name) || best == nil {
		return fmt.Errorf("no runner is called %q, or no validator runs", name)
	}
	state := best.Head().State
	r := state.Runner(n.find(name).address)
	if r == nil || r.Health == selection.Deregistered {
		return fmt.Errorf("%s is not registered", name)
	}
	owner := wallet.System
	if r.Owner == n.find(name).address {
		owner = name
	}
	n.order(owner, types.RegistryAddress, "deregister", system.Naming{Runner: r.Address})
	if one := n.Runner(name); one != nil {
		one.Leave(true, func() {
			n.After(0, func() {
				if n.Runner(name) != one {
					return
				}
				if err := n.Stop(name); err != nil {
					n.failed(err)
				}
			})
		})
	}
	return nil
}

// order has an account call a handler, and hands that in again until it is final.
func (n *Network) order(from string, to types.Address, handler string, args any) {
	if best := n.best(); best != nil {
		n.nonces[from] = max(n.nonces[from], best.Head().State.Account(n.keys[from].Address()).Nonce)
	}
	n.resubmit(from, n.Execute(from, to, handler, codec.Marshal(args)), resubmitTimes)
}
