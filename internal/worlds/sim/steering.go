package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// stall is how long an advance waits for the next final block, in virtual time.
const stall = 5 * time.Minute

// sets follows the sets of validators.
type sets struct {
	members *types.ValidatorSet // of the newest epoch; nil: of genesis
	since   types.Height        // the last block of the epoch before
}

// Status is the status of a validator: joining, active, leaving or left.
func (n *Network) Status(name string) string {
	var state *ledger.State
	if best := n.bestValidator(); best != nil {
		state = best.Head().State
	}
	return n.Membership.Status(state, n.findNode(name).Who())
}

// bootstrapMembers are the members that a validator may connect with before their block is final.
func (s *sets) bootstrapMembers() []types.Validator {
	if s.members == nil {
		return nil
	}
	return s.members.Members
}

// noteNextSet notes a set that begins after a border.
func (s *sets) noteNextSet(r *ledger.Result) {
	if h := r.Block.Header.Height; r.NextSet != nil && h > s.since {
		s.members, s.since = r.NextSet, h
	}
}

// operatedNetwork is a simulated network as its operator finds it.
type operatedNetwork struct {
	*World
	network *Network
}

var _ network.Operated = operatedNetwork{}

// Each implements network.Operated.
func (o operatedNetwork) Each(do func(network.Steered)) {
	for _, name := range o.network.names {
		if v := o.network.Validator(name); v != nil {
			do(v)
		}
	}
}

// Best implements network.Operated.
func (o operatedNetwork) Best() (best network.Best) {
	n, trust := o.network, 0
	for _, name := range n.names {
		one := o.Validator(name)
		if one.Validator == nil {
			continue
		}
		is := network.Trust(n.findNode(name).Phase(), n.Honest(name))
		if is > trust || is == trust && one.State.Height() > best.State.Height() {
			trust, best = is, one
		}
	}
	return best
}

// Validator implements network.Operated.
func (o operatedNetwork) Validator(name string) network.Best {
	v := o.network.Validator(name)
	if v == nil {
		return network.Best{Name: name}
	}
	return network.Best{Name: name, Validator: v, State: v.Head().State, Archive: v.Archive()}
}

// Clock implements network.Operated.
func (o operatedNetwork) Clock() types.Time { return o.now.Add(o.offset) }

// KeepTravel implements network.Operated: nothing outlives the world.
func (operatedNetwork) KeepTravel(time.Duration, simplex.Goal) error { return nil }

// MoveClock implements network.Operated.
func (o operatedNetwork) MoveClock(by time.Duration) { o.MoveClocks(by) }

// Stall implements network.Operated.
func (operatedNetwork) Stall() time.Duration { return stall }

// Validators implements network.Operated.
func (o operatedNetwork) Validators() (all []network.Node) {
	for _, name := range o.network.names {
		all = append(all, o.findNode(name))
	}
	return all
}

// AddValidator implements network.Operated: the validator starts from genesis.
func (o operatedNetwork) AddValidator(name string) (network.Node, error) {
	n := o.network
	if n.keys[name] != nil {
		return nil, fmt.Errorf("%s is an account's name", name)
	}
	key := wallet.ValidatorKey(n.config.World.Seed, name)
	parts := Parts{Signer: n.scheme.Signer(key), Verifier: n.scheme, Programs: n.config.Programs}
	n.keys[name] = key
	if err := n.AddNode(name, parts, n.bootValidator(name)); err != nil {
		delete(n.keys, name)
		return nil, err
	}
	n.names = append(n.names, name)
	return o.findNode(name), nil
}

// Member implements network.Operated.
func (o operatedNetwork) Member(name string) (types.Validator, error) {
	key := o.network.keys[name]
	return types.Validator{Address: key.Address(), PublicKey: key.PublicKey(), Endpoint: o.network.endpointOf(name)}, nil
}

// ValidatorAddress implements network.Operated.
func (o operatedNetwork) ValidatorAddress(name string) (none types.Address) {
	if slices.Contains(o.network.names, name) {
		return o.network.keys[name].Address()
	}
	return none
}

// Left implements network.Operated: nothing outlives the world that would start the node.
func (operatedNetwork) Left(string) {}

// Keys implements network.Operated.
func (o operatedNetwork) Keys() network.Keys {
	n := o.network
	return network.Keys{Seed: n.config.World.Seed, ChainID: n.chainID, Scheme: n.scheme}
}

// Advance is the time travel of network.Steering.
func (n *Network) Advance(target history.Target) (*history.Advance, error) {
	receipt, err := n.Travel(context.Background(), target)
	switch wrong := n.Err(); {
	case err != nil && wrong != nil:
		return nil, wrong
	case errors.Is(err, network.ErrLate):
		return nil, fmt.Errorf("advancing to height %d: %w; validators are at %v", n.Goal().Height, err, n.finalHeights())
	}
	return receipt, err
}
