package box

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/readmodel"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// answerTimeout is how long a validator may take to answer a question about
// its mempool; it passes only when the validator stops meanwhile.
const answerTimeout = 5 * time.Second

// The network is what the HTTP API serves.
var _ api.Backend = (*Network)(nil)

// Info implements api.Backend.
func (n *Network) Info() api.Info {
	state, _, err := n.genesis.State()
	if err != nil {
		panic("box: the genesis that the network runs on is invalid: " + err.Error())
	}
	return api.Info{ChainID: n.genesis.ChainID, Genesis: state.Root(), Version: n.config.Version, Strict: n.config.Strict, Auto: n.config.Auto,
		Faucet: state.Params().FaucetWei}
}

// Nodes implements api.Backend.
func (n *Network) Nodes() []api.Node {
	best := n.Best().Validator().Head().State
	nodes := make([]api.Node, 0, len(n.List()))
	for _, node := range n.List() {
		nodes = append(nodes, node.describe(best))
	}
	return nodes
}

func (node *Node) describe(best *ledger.State) api.Node {
	out := api.Node{Name: node.Name, Running: node.Running(),
		Validator: types.Validator{Address: node.Address, PublicKey: node.key.PublicKey(),
			Endpoint: node.network.book.Endpoint(types.Validator{Address: node.Address})}}
	out.Status = node.status(best)
	if v := node.Validator(); v != nil {
		head := v.Head()
		out.Height, out.StateRoot = head.Block.Header.Height, head.State.Root()
	}
	switch {
	case out.Status == history.StatusLeft:
	case node.Failure() != nil:
		out.Missing = append(out.Missing, node.Failure().Error())
	case !out.Running:
		out.Missing = append(out.Missing, "the node is stopped")
	case node.Frozen():
		out.Missing = append(out.Missing, "the node is frozen")
	default:
		status := node.Validator().Status()
		out.View, out.Connections, out.Pooled = status.Round.View, len(status.Connected), status.Pool
		out.Counts = countsOf(&status)
		for _, c := range node.Validator().Connections() {
			out.Runners = append(out.Runners, api.Connected{Runner: c.Runner, Accepting: c.Accepting})
		}
		if out.Height == 0 && !node.network.config.Auto { // with auto no block is made before there is something to do
			out.Missing = append(out.Missing, "the first block is not final here")
		}
		if why := node.network.cutOff(out.Height); why != "" {
			out.Missing = append(out.Missing, why)
		}
		if need := quorumPeers(len(best.Validators().Members)); out.Connections < need && out.Status != history.StatusJoining {
			out.Missing = append(out.Missing, "connections to other validators: "+fmt.Sprintf("%d of at least %d", out.Connections, need))
		}
	}
	return out
}

// countsOf is what a validator counted, as the API names it.
func countsOf(s *validators.Status) (all []api.Count) {
	for c := simplex.NoCause + 1; c < simplex.Causes; c++ {
		all = append(all, api.Count{Of: api.CountGivenUp, What: c.String(), N: s.GivenUp[c]})
	}
	r := &s.Refused
	for _, one := range []struct {
		what string
		n    uint64
	}{{"frames", r.Frames}, {"transactions", r.Transactions}, {"blocks", r.Blocks}, {"own_blocks", r.Builds},
		{"contradictions", r.Evidence}, {"executions", r.Hosts}, {"peers", r.Peers}} {
		all = append(all, api.Count{Of: api.CountRefused, What: one.what, N: one.n})
	}
	return append(all, runnerCounts(&s.Runners)...)
}

// runnerCounts is what a validator counted of runners.
func runnerCounts(r *validators.Runners) (all []api.Count) {
	count := func(of, what string, n uint64) { all = append(all, api.Count{Of: of, What: what, N: n}) }
	count(api.CountRunners, "arrived", r.Arrived)
	count(api.CountRunners, "left", r.Left)
	for outcome := gateway.Success; int(outcome) < gateway.Outcomes; outcome++ {
		count(api.CountRunners, strings.ReplaceAll(outcome.String(), " ", "_"), r.Outcomes[outcome])
	}
	count(api.CountRunners, "progress", r.Progress)
	count(api.CountRunners, "not_taken", r.NotTaken)
	for i, reason := range push.Reasons {
		count(api.CountStrangers, string(reason), r.Refused[i])
	}
	return all
}

// quorumPeers is how many peers a validator of n needs to decide with.
func quorumPeers(n int) int { return n - (n-1)/3 - 1 }

// Reader implements api.Backend.
func (n *Network) Reader(name string) (api.Reader, error) {
	if name != "" {
		node, err := n.running(name)
		if err != nil {
			return nil, err
		}
		return n.views.Of(node.Validator()), nil
	}
	node := n.Best()
	v := node.Validator()
	if v == nil {
		return nil, api.Refuse(http.StatusServiceUnavailable, "node_stopped", "%s is not running", node.Name).At("node")
	}
	return n.views.Of(v), nil
}

// Submit implements api.Backend.
func (n *Network) Submit(ctx context.Context, raw []byte) (types.Hash, error) {
	node := n.Best()
	if !node.Running() {
		return types.Hash{}, api.Refuse(http.StatusServiceUnavailable, "no_validator", "no validator is running")
	}
	type answer struct {
		hash types.Hash
		err  error
	}
	a, err := awaited(ctx, node, func(done func(answer)) {
		node.Validator().Submit(raw, func(hash types.Hash, err error) { done(answer{hash, err}) })
	})
	if err == nil {
		err = readmodel.Refusal(a.err)
	}
	return a.hash, err
}

// Pending implements api.Backend.
func (n *Network) Pending(hash types.Hash) (*types.Transaction, types.Address) {
	found, ok := ask(n, func(v *validators.Validator, answer func(*ledger.Checked)) { v.Waiting(hash, answer) })
	if ok && found != nil {
		return found.Tx, found.Sender
	}
	return nil, types.Address{}
}

// NextNonce implements api.Backend.
func (n *Network) NextNonce(a types.Address) types.Nonce {
	account := n.Best().Validator().Head().State.Account(a).Nonce
	next, ok := ask(n, func(v *validators.Validator, answer func(types.Nonce)) { v.NextNonce(a, account, answer) })
	if ok {
		return next
	}
	return account
}

// ask asks the best node's validator; ok is false where the node is stopped.
func ask[T any](n *Network, question func(v *validators.Validator, answer func(T))) (answer T, ok bool) {
	node := n.Best()
	if !node.Running() {
		return answer, false
	}
	answers := make(chan T, 1)
	question(node.Validator(), func(a T) { answers <- a })
	select {
	case answer = <-answers:
		return answer, true
	case <-time.After(answerTimeout):
		return answer, false
	}
}

// Wait implements api.Backend.
func (n *Network) Wait(ctx context.Context, hash types.Hash) (*api.Receipt, error) {
	ends, giveUp := n.finality.wait(hash)
	defer giveUp()
	if receipt, err := readmodel.Receipt(n.Best().Validator().Archive(), hash); err != nil || receipt != nil {
		return receipt, err
	}
	select {
	case end := <-ends:
		if end.receipt == nil {
			return nil, api.Refuse(http.StatusConflict, api.CodeDropped, "the transaction was dropped: %s", end.dropped).
				Hint("Nothing of it was executed. Send it again, with a fresh nonce and a sufficient fee.")
		}
		return &api.Receipt{Receipt: *end.receipt, Logs: end.printed}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accounts implements api.Backend.
func (n *Network) Accounts() []api.NamedAccount {
	var out []api.NamedAccount
	if !n.signs() {
		return nil
	}
	for _, name := range wallet.Listed() {
		out = append(out, api.NamedAccount{Name: name, Address: n.address(name)})
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
	return n.finality.subscribe(each)
}
