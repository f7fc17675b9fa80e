package sim

import (
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
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// runnerNodes is the runners of a network, and what validators tell their views.
type runnerNodes struct {
	*validatorNodes
	config  *NetworkConfig
	runners []string                   // by name, in the order of the registry
	working map[string]*runners.Runner // looked up only
	states  map[string]*ledger.State   // the newest final one of each validator; looked up only
	looks   []*ledger.Outlook          // of the latest blocks, the newest last
}

// keptLooks is the number of blocks whose outlooks are kept: validators seldom differ
// by more, and one that does gets a new one.
const keptLooks = 4

// admitsRunners says whether validators let runners in.
func (c *runnerNodes) admitsRunners() bool { return c.config.Open || c.config.Runners > 0 }

// endpointOf is where a validator listens for runners; "" where it lets none in.
func (c *runnerNodes) endpointOf(name string) string {
	if c.admitsRunners() {
		return Endpoint(name)
	}
	return ""
}

// addRunner adds the machine of a runner, whose key is known.
func (c *runnerNodes) addRunner(name string) error {
	parts := Parts{Signer: c.scheme.Signer(c.keys[name]), Verifier: c.scheme, MaxJobs: wallet.RunnerJobs}
	return c.AddRunner(name, parts, c.bootRunner(name))
}

func (c *runnerNodes) bootRunner(name string) Boot[env.Runner] {
	return func(node env.Runner) (func(), error) {
		log := c.config.World.Log
		if log == nil {
			log = slog.New(slog.DiscardHandler)
		}
		mask, node := byzantine.NewRunnerMask(node)
		r, err := runners.Start(c.Runtime(), runners.Config{Name: name, ChainID: c.config.ChainID, MaxJobs: wallet.RunnerJobs, Log: log,
			Tell: c.config.Told, Strategy: c.config.Strategy, OnFailure: func(err error) { c.onNodeEnded(name, err) }}, node)
		if err != nil {
			return nil, err
		}
		c.working[name] = r
		process := c.findNode(name).process
		process.runner = r
		process.does = &byzantine.RunnerProcess{Mask: mask, Shell: r}
		return r.Stop, nil
	}
}

// serveViews lets runners' views ask a validator that has just started.
func (c *runnerNodes) serveViews(name string, head *ledger.State) {
	if !c.admitsRunners() {
		return
	}
	c.states[name] = head
	c.findNode(name).process.views = func(runner *node, follow []execution.ID, enough func(types.Height) bool) *chainview.Head {
		if !enough(c.states[name].Height()) { // most of a crowd asks too early, and is not looked up for that
			return nil
		}
		return c.outlookOf(c.states[name]).Head(runner.parts.Signer.PublicKey(), follow)
	}
	c.findNode(name).process.polled = func(runner *node, q polling.Question, answer func(polling.Answer)) {
		if v := c.Validator(name); v != nil {
			v.Answer(runner.address, q, answer)
		}
	}
}

// answerViews answers them from a validator's new final state.
func (c *runnerNodes) answerViews(name string, head *ledger.State) {
	if process := c.findNode(name).process; process != nil && process.views != nil {
		c.states[name] = head
		process.answerWaiting()
	}
}

// outlookOf is how runners see a state.
func (c *runnerNodes) outlookOf(s *ledger.State) *ledger.Outlook {
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
func (c *runnerNodes) Runners() []string { return slices.Clone(c.runners) }

// Runner returns a running runner, or nil where the node is down.
func (c *runnerNodes) Runner(name string) *runners.Runner {
	if !c.Running(name) {
		return nil
	}
	return c.working[name]
}

// RunnerLetters is how many events a runner's role was told after it had stopped, since the
// runner started last.
func (c *runnerNodes) RunnerLetters(name string) uint64 {
	if r := c.working[name]; r != nil {
		return r.Status().DeadLetters
	}
	return 0
}

// Runners implements network.Operated.
func (o operatedNetwork) Runners() (all []network.Node) {
	for _, name := range o.network.runners {
		all = append(all, o.findNode(name))
	}
	return all
}

// AddRunner implements network.Operated.
func (o operatedNetwork) AddRunner(name string, key *crypto.Key) (network.Node, error) {
	c := &o.network.runnerNodes
	known := c.keys[name] != nil
	if c.keys[name] = key; !known {
		if err := c.addRunner(name); err != nil {
			delete(c.keys, name)
			return nil, err
		}
		c.runners = append(c.runners, name)
		return c.findNode(name), nil
	}
	node := c.findNode(name)
	node.parts.Signer, node.address, c.nonces[name] = c.scheme.Signer(key), key.Address(), 0
	c.byAddress[node.address] = node
	return node, nil
}

// RunnerKey implements network.Operated.
func (o operatedNetwork) RunnerKey(name string) *crypto.Key { return o.network.keys[name] }

// FileKey implements network.Operated: all keys follow from the seed.
func (operatedNetwork) FileKey(string) *crypto.Key { return nil }

// Offer implements network.Operated.
func (o operatedNetwork) Offer() system.Offer { return o.network.RunnerOffer() }

// Leave implements network.Node.
func (n *node) Leave(finish bool, gone func()) {
	if r := n.process.runner; r != nil {
		r.Leave(finish, gone)
		return
	}
	gone()
}

// RunnerOffer is what a runner of a network registers.
func (c *runnerNodes) RunnerOffer() system.Offer {
	return system.Offer{Capabilities: capabilitiesOf(c.answers), Entitlements: []string{}, MaxConcurrentJobs: wallet.RunnerJobs}
}
