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

// crew is the runners of a network, and what validators tell their views.
type crew struct {
	runners  []string                   // by name, in the order of the registry
	working  map[string]*runners.Runner // looked up only
	states   map[string]*ledger.State   // the newest final one of each validator; looked up only
	faces    map[string]*face           // of their present processes; looked up only
	rejoins  []rejoining
	entering []string          // not registered: they wait for what that takes
	looks    []*ledger.Outlook // of the latest blocks, the newest last
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
			Stake: wallet.RunnerStake, Offer: n.RunnerOffer()})
		n.Genesis.Accounts = append(n.Genesis.Accounts, ledger.Funding{Address: key.Address(), Balance: wallet.RunnerFunds})
	}
}

// addRunner adds the machine of a runner, whose key is known.
func (n *Network) addRunner(name string) error {
	parts := Parts{Signer: n.scheme.Signer(n.keys[name]), Verifier: n.scheme, MaxJobs: wallet.RunnerJobs}
	return n.AddRunner(name, parts, n.bootRunner(name))
}

func (n *Network) bootRunner(name string) Boot[env.Runner] {
	return func(node env.Runner) (func(), error) {
		log := n.config.World.Log
		if log == nil {
			log = slog.New(slog.DiscardHandler)
		}
		node = n.faced(name, node)
		r, err := runners.Start(n.Runtime(), runners.Config{Name: name, ChainID: n.config.ChainID, MaxJobs: wallet.RunnerJobs, Log: log,
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

// JoinRunner starts a runner, the next free name where it is given none, and has it
// registered. That it is registered takes some blocks.
func (n *Network) JoinRunner(name string) error {
	name, err := n.enter(name)
	if err != nil {
		return err
	}
	n.register(name)
	return n.Boot(name)
}

// StartRunner starts a runner whose registration is somebody else's, with the key of
// its name.
func (n *Network) StartRunner(name string) error {
	name, err := n.enter(name)
	if err != nil {
		return err
	}
	return n.Boot(name)
}

// enter adds a runner, the next free name where it is given none.
func (n *Network) enter(name string) (string, error) {
	for i := 0; name == ""; i++ {
		if free := wallet.RunnerName(i); n.keys[free] == nil {
			name = free
		}
	}
	switch {
	case n.keys[name] != nil:
		return "", fmt.Errorf("%s is there already", name)
	case !n.open():
		return "", errors.New("this network lets no runners in: make it with runners, or open to them")
	}
	n.keys[name] = wallet.RunnerKey(n.config.World.Seed, name)
	if err := n.addRunner(name); err != nil {
		delete(n.keys, name)
		return "", err
	}
	n.runners = append(n.runners, name)
	return name, nil
}

// register has a runner registered, as its own owner: the system's account gives it
// what that takes.
func (n *Network) register(name string) {
	n.follows(wallet.System)
	n.resubmit(wallet.System, n.Transfer(wallet.System, n.keys[name].Address(), wallet.RunnerStake.Add(wallet.RunnerFunds)), resubmitTimes)
	n.entering = append(n.entering, name)
}

// funded has those register who can pay for it in a new final state.
func (n *Network) funded(s *ledger.State) {
	n.entering = slices.DeleteFunc(n.entering, func(name string) bool {
		key := n.keys[name]
		if s.Account(key.Address()).Balance.Less(wallet.RunnerStake.Add(wallet.RunnerFunds)) {
			return false
		}
		n.After(0, func() {
			n.order(name, types.RegistryAddress, "register", system.Registration{PublicKey: key.PublicKey(),
				Stake: wallet.RunnerStake, Offer: n.RunnerOffer()})
		})
		return true
	})
}

// RunnerOffer is what a runner of a network registers.
func (n *Network) RunnerOffer() system.Offer {
	return system.Offer{Capabilities: capabilities(n.answers), Entitlements: []string{}, MaxConcurrentJobs: wallet.RunnerJobs}
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
	n.order(name, types.RegistryAddress, "deregister", system.Naming{Runner: r.Address})
	n.RetireRunner(name)
	return nil
}

// RetireRunner has a runner that runs leave when nothing of it is open any more.
func (n *Network) RetireRunner(name string) {
	one := n.Runner(name)
	if one == nil {
		return
	}
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

// order has an account call a handler, and hands that in again until it is final.
func (n *Network) order(from string, to types.Address, handler string, args any) {
	n.follows(from)
	n.resubmit(from, n.Execute(from, to, handler, codec.Marshal(args)), resubmitTimes)
}

// follows has an account's next nonce be none that the chain has seen.
func (n *Network) follows(account string) {
	if best := n.best(); best != nil {
		n.nonces[account] = max(n.nonces[account], best.Head().State.Account(n.keys[account].Address()).Nonce)
	}
}
