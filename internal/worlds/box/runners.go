package box

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/executor/settings"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// MaxRunners bounds the runners of a network in one process: each has a socket, a
// connection with each validator of its subset, and some goroutines.
const MaxRunners = 2_000

// goodbye is how long runners may take to say Goodbye when the network ends: the
// validators' grace, and some more.
const goodbye = 2 * time.Second

// Runner is one runner of the network.
type Runner struct {
	machine
	faltering
	runner *node.Runner
	key    *crypto.Key
	manual atomic.Pointer[custom.Manual] // of the run under way
}

// ownOffer is what a runner of the devnet's own says that it does.
func ownOffer() system.Offer {
	does, _ := settings.Own()
	defer does.Close()
	return system.Offer{Capabilities: does.Capabilities(), Entitlements: does.Entitlements(), MaxConcurrentJobs: wallet.RunnerJobs}
}

// enrol enters runners into a genesis, each as its own owner (decision J20).
func enrol(g *ledger.Genesis, keys []types.PublicKey) error {
	if len(keys) == 0 {
		return nil
	}
	offer := ownOffer()
	for _, key := range keys {
		address, err := crypto.AddressOf(key)
		if err != nil {
			return err
		}
		g.Runners = append(g.Runners, system.Enrolment{PublicKey: key, Owner: address, Stake: wallet.RunnerStake, Offer: offer})
		g.Accounts = append(g.Accounts, ledger.Funding{Address: address, Balance: wallet.RunnerFunds})
	}
	return nil
}

// latest is the last key of a runner that is registered in a state; nil where none is.
func (n *Network) latest(state *ledger.State, name string) (key *crypto.Key) {
	for i := 0; ; i++ {
		next := wallet.RunnerIdentity(n.seed, name, i)
		if state.Runner(next.Address()) == nil {
			return key
		}
		key = next
	}
}

// startRunners starts the runners of genesis and those that joined since, but for
// those that were deregistered.
func (n *Network) startRunners() error {
	n.watch.Show(n.Best().Validator().Head().State)
	if n.config.Here != nil { // each runs in a process of its own
		return nil
	}
	state := n.Best().Validator().Head().State
	for i := 0; ; i++ {
		name := wallet.RunnerName(i)
		key := n.latest(state, name)
		if key == nil {
			return nil
		}
		r := n.newRunner(name, key)
		n.addRunner(r)
		if state.Runner(key.Address()).Health == selection.Deregistered {
			continue
		}
		if err := r.start(); err != nil {
			return err
		}
	}
}

// newRunner makes a runner under a key.
func (n *Network) newRunner(name string, key *crypto.Key) *Runner {
	one := &Runner{key: key}
	wrap := func(given env.Runner) env.Runner {
		if n.config.wrapRunner != nil {
			given = n.config.wrapRunner(given)
		}
		if n.config.Strict { // nobody can ask for a fault
			return given
		}
		return one.wrap(n.genesis.ChainID, given)
	}
	one.runner = node.NewRunner(node.RunnerConfig{
		Parts:   node.Parts{Name: name, Signer: n.verifier.Signer(key), Verifier: n.verifier, Clock: n.clock},
		Shell:   runners.Config{ChainID: n.genesis.ChainID, MaxJobs: wallet.RunnerJobs, Tell: n.config.TellRunner},
		Runtime: n.runtime, Log: n.log, WrapConn: n.lossy(name), Wrap: wrap,
		Chain: func() (env.ChainView, error) { return n.watch.View(key.PublicKey()), nil },
		Executor: func() (env.Executor, error) {
			does, manual := settings.Own()
			one.manual.Store(manual)
			return does, nil
		},
	})
	one.machine = machine{Machine: &one.runner.Machine, network: n, process: one}
	return one
}

func (r *Runner) start() error { return r.runner.Start() }

func (r *Runner) stop() error {
	r.thaw()
	r.endAll()
	return r.runner.Stop()
}

func (r *Runner) connections() int { return len(r.Status().Connected) }

// Status is how a runner stands, or stood when it was stopped.
func (r *Runner) Status() runners.Status {
	if shell := r.runner.Shell(); shell != nil {
		return shell.Status()
	}
	return runners.Status{Name: r.Name, Address: r.Address, PublicKey: r.key.PublicKey()}
}

// Manual is the executor of a running runner whose jobs are answered by hand; nil
// where it does not run.
func (r *Runner) Manual() *custom.Manual {
	if !r.Running() {
		return nil
	}
	return r.manual.Load()
}

// RunnerList is the network's own runners, in the order of their names, those that are
// stopped too.
func (n *Network) RunnerList() []*Runner {
	if list := n.ownRunners.Load(); list != nil {
		return *list
	}
	return nil
}

func (n *Network) addRunner(r *Runner) {
	list := append(slices.Clone(n.RunnerList()), r)
	n.ownRunners.Store(&list)
}

// replaceRunner puts a runner in the place of the one of its name.
func (n *Network) replaceRunner(r *Runner) {
	list := slices.Clone(n.RunnerList())
	for i := range list {
		if list[i].Name == r.Name {
			list[i] = r
		}
	}
	n.ownRunners.Store(&list)
}

func (n *Network) findRunner(name string) *Runner {
	for _, r := range n.RunnerList() {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// changeRunner runs do on a runner, with all others standing as they are.
func (n *Network) changeRunner(name string, do func(*Runner) error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return errors.New("the network is closed")
	}
	if r := n.findRunner(name); r != nil {
		return do(r)
	}
	return n.unknown(name)
}

// StopRunner stops one runner, which says Goodbye first, as if its process had ended
// in good order.
func (n *Network) StopRunner(name string) error {
	return n.changeRunner(name, func(r *Runner) error {
		leave([]*Runner{r})
		return r.stop()
	})
}

// StartRunner starts it again.
func (n *Network) StartRunner(name string) error { return n.changeRunner(name, (*Runner).start) }

// leave has runners say Goodbye, all at once, and waits until they have, or for as
// long as that may take.
func leave(all []*Runner) {
	gone := make(chan struct{}, len(all))
	waiting := 0
	for _, r := range all {
		if r.Running() && !r.Frozen() {
			waiting++
			r.runner.Leave(false, func() { gone <- struct{}{} })
		}
	}
	late := time.NewTimer(goodbye)
	defer late.Stop()
	for range waiting {
		select {
		case <-gone:
		case <-late.C:
			return
		}
	}
}

// stopRunners ends all runners in good order.
func (n *Network) stopRunners() (errs []error) {
	leave(n.RunnerList())
	for _, r := range n.RunnerList() {
		errs = append(errs, r.stop())
	}
	return errs
}

// Runners implements api.Backend.
func (n *Network) Runners() []api.NamedAccount {
	var all []api.NamedAccount
	for _, r := range n.RunnerList() {
		all = append(all, api.NamedAccount{Name: r.Name, Address: r.Address})
	}
	return all
}

// RunnerNodes implements api.Backend.
func (n *Network) RunnerNodes() []api.RunnerNode {
	state := n.Best().Validator().Head().State
	var all []api.RunnerNode
	for _, r := range n.RunnerList() {
		all = append(all, r.describe(state))
	}
	return all
}

func (r *Runner) describe(state *ledger.State) api.RunnerNode {
	status := r.Status()
	out := api.RunnerNode{Name: r.Name, Address: r.Address, Running: r.Running(), Height: status.Height, Connected: status.Connected,
		Open: len(status.Open), Accepting: status.Accepting}
	registered := state.Runner(r.Address)
	switch {
	case registered == nil:
		out.Missing = append(out.Missing, "it is not registered")
	case registered.Health == selection.Deregistered:
		out.Left = true
	case r.Failure() != nil:
		out.Missing = append(out.Missing, r.Failure().Error())
	case !out.Running:
		out.Missing = append(out.Missing, "the runner is stopped")
	case r.Frozen():
		out.Missing = append(out.Missing, "the runner is frozen")
	case len(status.Connected) == 0:
		out.Missing = append(out.Missing, "a connection with a validator")
	case registered.Health == selection.Paused || !status.Accepting: // no validator attests who takes no jobs
	case !r.network.config.Auto && !r.network.present(int(registered.Index)):
		out.Missing = append(out.Missing, "it is not present in the votes yet")
	}
	return out
}

// present reports whether a runner is in the latest P that is known.
func (n *Network) present(index int) bool {
	p := n.presence.Load()
	return p != nil && p.bitmap.Has(index)
}

// shownPresence is P of a block.
type shownPresence struct {
	of     types.Height
	bitmap *selection.Bitmap
}

// noteRunners takes note of the newest P, and shows the newest state to runners.
func (n *Network) noteRunners(result *ledger.Result) {
	height := result.Block.Header.Height
	for {
		before := n.presence.Load()
		if before != nil && before.of >= height {
			return
		}
		if n.presence.CompareAndSwap(before, &shownPresence{height, result.Presence.Bitmap}) {
			n.watch.Show(result.State)
			return
		}
	}
}
