package box

import (
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// handshakes is how many handshakes of its runners one process has under way: enough
// for two cores, and so few that each is done long before its time is over.
const handshakes = 32

// Runner is one runner of the network.
type Runner struct {
	*node.Identity
	remote.RunnerNode
	network *Network
	key     *crypto.Key
}

// newRunner makes a runner under a key.
func newRunner(n *Network, name string, key *crypto.Key) *Runner {
	one := &Runner{network: n, key: key}
	if other := n.config.Elsewhere; other != nil {
		one.RunnerNode, one.Identity = other.Runner(name, key, n.links.remoteSockets(name)), &node.Identity{Name: name, Address: key.Address()}
		return one
	}
	supervised := &supervisedNode{node: one}
	runner := n.openLocalRunner(name, key, n.roleWatcher(supervised))
	one.RunnerNode, one.Identity, supervised.machine = runner, &runner.Identity, &runner.Machine
	return one
}

// Running reports whether the runner takes part, frozen or not.
func (r *Runner) Running() bool { return r.Phase().Up() }

// pollOf has validators answer a runner that polls. A stopped validator is not
// reached, and a frozen one answers nothing. Questions and answers go over the links
// between the two (decision J11).
func (n *Network) pollOf(name string) node.Answering {
	return func(runner types.Address, q polling.Question, answer func(polling.Answer)) {
		at := slices.IndexFunc(n.List(), func(one *Node) bool { return one.Address == q.Validator.Address })
		if at < 0 || !n.List()[at].Running() {
			answer(polling.Answer{ID: q.ID, Lost: true})
			return
		}
		one := n.List()[at]
		shell, here := one.Validator().(*validators.Validator)
		if !here {
			return
		}
		n.links.carryMessage(name, one.Name, func() {
			if one.Phase() == network.Frozen {
				return
			}
			shell.Answer(runner, q, func(a polling.Answer) {
				n.links.carryMessage(one.Name, name, func() { answer(a) })
			})
		})
	}
}

// leaveAll has runners say Goodbye, all at once, and waits until they have, or for as
// long as that may take.
func leaveAll(all []*Runner) {
	gone := make(chan struct{}, len(all))
	waiting := 0
	for _, r := range all {
		if r.Phase() == network.Running {
			waiting++
			r.Leave(false, func() { gone <- struct{}{} })
		}
	}
	late := time.NewTimer(network.Goodbye)
	defer late.Stop()
	for range waiting {
		select {
		case <-gone:
		case <-late.C:
			return
		}
	}
}

// describeRunner returns the status of a runner that the chain does not have.
func (r *Runner) describeRunner(state *ledger.State) answers.RunnerNode {
	status := r.Status()
	out := answers.RunnerNode{Name: r.Name, Address: r.Address, Running: r.Running(), Height: status.Height, Connected: status.Connected,
		Open: len(status.Open), Accepting: status.Accepting}
	registered, phase := state.Runner(r.Address), selection.PhaseOf(state.Params())
	switch {
	case registered == nil && !out.Running: // the registry forgets a runner whose stake was returned
		out.Left = true
	case registered == nil:
		out.Missing = append(out.Missing, "it is not registered")
	case registered.Health == selection.Deregistered:
		out.Left = true
	case r.Failure() != nil:
		out.Missing = append(out.Missing, r.Failure().Error())
	case !out.Running:
		out.Missing = append(out.Missing, "the runner is stopped")
	case r.Phase() == network.Frozen:
		out.Missing = append(out.Missing, "the runner is frozen")
	case phase == selection.Off: // it has no connections
		out.Missing = append(out.Missing, missingPollAnswer(phase, &status, state)...)
	case len(status.Connected) == 0:
		out.Missing = append(out.Missing, "a connection with a validator")
	case registered.Health == selection.Paused || !status.Accepting: // no validator attests who takes no jobs
	case !r.network.config.Auto && !r.network.presence.hasRunner(int(registered.Index)):
		out.Missing = append(out.Missing, "it is not present in the votes yet")
	case phase == selection.Shadow:
		out.Missing = append(out.Missing, missingPollAnswer(phase, &status, state)...)
	}
	return out
}

// unpolledBlocks is for how many blocks a runner's polls may stay without an answer before
// the runner is not ready.
const unpolledBlocks = 64

// missingPollAnswer names an answer as missing if no validator answers a runner's polls.
func missingPollAnswer(phase selection.Phase, s *runners.Status, state *ledger.State) []string {
	if s.Polled > 0 && s.Polled+unpolledBlocks >= state.Height() {
		return nil
	}
	return []string{"a validator's answer to its polls: nothing is pushed while cip11.push is " + string(phase)}
}
