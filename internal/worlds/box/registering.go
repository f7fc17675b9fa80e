package box

import (
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/runners/selection"
)

// resumeRunners starts the runners of genesis and those that joined since, but for
// those that were deregistered. One that is beyond help stays down.
func (n *Network) resumeRunners() error {
	if n.config.Here != nil { // each runs in a separate process
		return nil
	}
	state, operated := n.bestState(), backend{n.scheduler, n}
	for i := 0; ; i++ {
		name := wallet.RunnerName(i)
		key := n.KeyOf(state, name)
		if key == nil {
			key = operated.FileKey(name) // the registry forgets a runner whose stake was returned
		}
		if key == nil {
			return nil
		}
		r, err := operated.AddRunner(name, key)
		if err != nil {
			return err
		}
		if is := state.Runner(key.Address()); is == nil || is.Health == selection.Deregistered {
			n.noteLeft(name)
		} else if err := r.Start(); err != nil && !n.files.staysDown(err) {
			return err
		}
	}
}

// Runners implements network.Operated.
func (b backend) Runners() (all []network.Node) {
	for _, runner := range b.network.RunnerList() {
		all = append(all, runner)
	}
	return all
}

// AddRunner implements network.Operated.
func (b backend) AddRunner(name string, key *crypto.Key) (network.Node, error) {
	r := newRunner(b.network, name, key)
	b.network.putRunner(r)
	return r, nil
}

// RunnerKey implements network.Operated.
func (b backend) RunnerKey(name string) *crypto.Key { return b.network.findRunner(name).key }

// FileKey implements network.Operated.
func (b backend) FileKey(name string) *crypto.Key {
	if other := b.network.config.Elsewhere; other != nil {
		return other.Key(name)
	}
	return nil
}

// Offer implements network.Operated.
func (b backend) Offer() system.Offer { return node.OwnOffer() }
