package box

import (
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/views"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/home"
)

// Info implements api.Backend.
func (n *Network) Info() answers.Info {
	state, _, err := n.genesis.State()
	if err != nil {
		panic("box: the genesis that the network runs on is invalid: " + err.Error())
	}
	return answers.Info{ChainID: n.genesis.ChainID, Genesis: state.Root(), Version: n.config.Version, Strict: n.config.Strict,
		Auto: n.config.Auto, Strategy: n.config.Strategy,
		Node:   n.hereName(),
		Faucet: state.Params().FaucetWei}
}

// Nodes implements api.Backend.
func (n *Network) Nodes() []answers.Node {
	best := n.bestState()
	nodes := make([]answers.Node, 0, len(n.List()))
	for _, node := range n.List() {
		nodes = append(nodes, node.describeNode(best))
	}
	return append(nodes, n.others.listValidators(best)...)
}

// QuorumPeers is how many peers a validator of n needs to decide with.
func QuorumPeers(n int) int { return n - (n-1)/3 - 1 }

// Accounts implements api.Backend.
func (n *Network) Accounts() []answers.NamedAccount {
	var out []answers.NamedAccount
	if !n.knowsAccountKeys() {
		return nil
	}
	for _, name := range wallet.Listed() {
		out = append(out, answers.NamedAccount{Name: name, Address: n.addressOf(name)})
	}
	return out
}

// Signer implements api.Backend.
func (n *Network) Signer(name string) env.Signer {
	if key := n.Key(name); key != nil {
		return key
	}
	return nil
}

// Subscribe implements api.Backend.
func (n *Network) Subscribe(each func(types.Height)) (cancel func()) {
	return n.finality.subscribeHeights(each)
}

// WatchFinal calls each whenever a validator made blocks final, those that others had made final
// too, until cancel; each must not block.
func (n *Network) WatchFinal(each func()) (cancel func()) { return n.finality.watchValidators(each) }

// RunnerNodes implements api.Backend.
func (n *Network) RunnerNodes() []answers.RunnerNode {
	state := n.bestState()
	var all []answers.RunnerNode
	for _, r := range n.RunnerList() {
		all = append(all, r.describeRunner(state))
	}
	return append(all, n.others.runnerNodes(state)...)
}

// RunnerLetters implements api.Backend.
func (n *Network) RunnerLetters() map[types.Address]uint64 {
	all := map[types.Address]uint64{}
	for _, r := range n.RunnerList() {
		all[r.Address] = r.Status().DeadLetters
	}
	return all
}

// Views implements api.Backend.
func (n *Network) Views() *views.Table {
	n.reports.views.Pass(n.reports.clock.Now())
	return &n.reports.views
}

// LogPath implements api.Backend. If nodes run in separate processes, their supervisor
// keeps their logs.
func (n *Network) LogPath(node string) string {
	if n.home == nil || n.config.Here != nil {
		return ""
	}
	return home.NodeLog(n.home.Dir(), node)
}

// Key returns the key of an account, system and the faucet included, or of a runner of
// the network's own, or nil.
func (n *Network) Key(name string) crypto.Signer {
	for _, known := range wallet.Accounts() {
		if name == known && n.knowsAccountKeys() {
			return n.verifier.Signer(wallet.AccountKey(n.seed, name))
		}
	}
	if r := n.findRunner(name); r != nil {
		return n.verifier.Signer(r.key)
	}
	if here := n.config.Here; here != nil && here.Keys[name] != nil {
		return n.verifier.Signer(here.Keys[name])
	}
	return nil
}

// Runners implements api.Backend.
func (n *Network) Runners() []answers.NamedAccount {
	var all []answers.NamedAccount
	for _, r := range n.RunnerList() {
		all = append(all, answers.NamedAccount{Name: r.Name, Address: r.Address})
	}
	return append(all, n.others.listRunners()...)
}
