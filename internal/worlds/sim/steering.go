package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// stall is how long an advance goes on without a final block, in virtual time.
const stall = 5 * time.Minute

// steering is what the operator of a network has decided beside its genesis.
type steering struct {
	members *types.ValidatorSet // of the newest epoch; nil: of genesis
	since   types.Height        // the last block of the epoch before
	joining map[string]struct{} // looked up only
}

// operator steers a network.
type operator struct {
	*watch
	steering
}

// isMember says whether a validator is of the newest epoch's set.
func (o *operator) isMember(name string) bool {
	set := o.members
	if set == nil {
		set = &o.Genesis.Validators
	}
	return set.Index(o.keys[name].Address()) >= 0
}

func (o *operator) isJoining(name string) bool {
	_, joining := o.joining[name]
	return joining
}

// Status is how a validator stands: joining, active, leaving or left.
func (o *operator) Status(name string) string {
	if best := o.best(); best != nil {
		if status := history.Membership(best.Head().State, o.keys[name].Address()); status != history.StatusLeft {
			return status
		}
	}
	if o.isJoining(name) {
		return history.StatusJoining
	}
	return history.StatusLeft
}

// bootstrap are the members that a validator may connect with before it knows
// of them.
func (o *operator) bootstrap(name string) []types.Validator {
	if o.members == nil {
		return nil
	}
	return o.members.Members
}

// follow notes the sets that begin behind borders. Once a block of the new set
// is final, who is in it no more stops.
func (o *operator) follow(r *ledger.Result) {
	switch h := r.Block.Header.Height; {
	case r.NextSet != nil && h > o.since:
		o.members, o.since = r.NextSet, h
	case o.members != nil && h > o.since && r.Block.Header.SetEpoch == o.members.Epoch:
		for _, name := range o.names {
			if o.isMember(name) {
				delete(o.joining, name)
			} else if o.Running(name) && !o.isJoining(name) && o.find(name).frozen == nil {
				o.After(0, func() { o.retire(name) })
			}
		}
	}
}

// joins notes that a validator is to be of the set.
func (o *operator) joins(name string) {
	if o.joining == nil {
		o.joining = map[string]struct{}{}
	}
	o.joining[name] = struct{}{}
}

func (o *operator) retire(name string) {
	if o.Running(name) && !o.isMember(name) && !o.isJoining(name) && o.find(name).frozen == nil {
		if err := o.Stop(name); err != nil && o.failure == nil {
			o.failure = err
		}
	}
}

// operated is a simulated network as its operator finds it.
type operated struct {
	*World
	network *Network
}

var _ network.Operated = operated{}

// Each implements network.Paced.
func (o operated) Each(do func(network.Steered)) {
	for _, name := range o.network.names {
		if v := o.network.Validator(name); v != nil {
			do(v)
		}
	}
}

// Best implements network.Paced.
func (o operated) Best() (best network.Best) {
	n, trust := o.network, 0
	for _, name := range n.names {
		v := n.Validator(name)
		if v == nil {
			continue
		}
		is := network.Trust(n.find(name).Phase(), n.Honest(name))
		if head := v.Head(); is > trust || is == trust && head.State.Height() > best.State.Height() {
			trust, best = is, network.Best{Name: name, Validator: v, State: head.State, Archive: v.Archive()}
		}
	}
	return best
}

// Clock implements network.Paced.
func (o operated) Clock() types.Time { return o.now.Add(o.offset) }

// MoveClock implements network.Paced.
func (o operated) MoveClock(by time.Duration) error {
	o.MoveClocks(by)
	return nil
}

// Stall implements network.Paced.
func (operated) Stall() time.Duration { return stall }

// Lacks implements network.Operated: a simulated network has its keys and all its nodes.
func (operated) Lacks(network.Capability, string) error { return nil }

// Keys implements network.Operated.
func (o operated) Keys() network.Keys {
	n := o.network
	return network.Keys{Seed: n.config.World.Seed, ChainID: n.chainID, Scheme: n.scheme}
}

// Leave has the system key ask for the end of a validator's membership. Its process ends when
// the next epoch has begun.
func (n *Network) Leave(ctx context.Context, name string) error {
	if !slices.Contains(n.names, name) {
		return fmt.Errorf("no validator is called %q", name)
	}
	_, err := n.Instruct(ctx, governance.OpLeaveValidator, governance.LeaveValidator{Address: n.keys[name].Address()})
	if err == nil {
		delete(n.joining, name)
	}
	return err
}

// Pause stops the making of blocks. What is under way still becomes final.
func (n *Network) Pause() { n.Hold(true) }

// Resume lets it go on.
func (n *Network) Resume() { n.Hold(false) }

// Advance is time travel, as network.Steering has it.
func (n *Network) Advance(target history.Target) (*history.Advance, error) {
	receipt, err := n.Travel(context.Background(), target)
	switch wrong := n.Err(); {
	case err != nil && wrong != nil:
		return nil, wrong
	case errors.Is(err, network.ErrLate):
		return nil, fmt.Errorf("advancing to height %d: %w; validators are at %v", n.Goal().Height, err, n.heights())
	}
	return receipt, err
}
