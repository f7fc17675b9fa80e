package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Terms of steering, in virtual time.
const (
	resubmitEvery = 10 * time.Second // an instruction that is not final is handed in again
	resubmitTimes = 60
	// stall is how long an advance goes on without a final block.
	stall = 5 * time.Minute
)

// steering is what the operator of a network has decided beside its genesis.
type steering struct {
	members *types.ValidatorSet // of the newest epoch; nil: of genesis
	since   types.Height        // the last block of the epoch before
	joining map[string]struct{} // looked up only
	ordered types.Hash          // the instruction given last
}

// operator steers a network.
type operator struct {
	*watch
	steering
}

// Ordered is the hash of the instruction given last.
func (o *operator) Ordered() types.Hash { return o.ordered }

// Leave has the system key ask for the end of a validator's membership. Its
// process ends when the next epoch has begun.
func (o *operator) Leave(name string) error {
	if !slices.Contains(o.names, name) {
		return fmt.Errorf("no validator is called %q", name)
	}
	delete(o.joining, name)
	o.Instruct(governance.OpLeaveValidator, governance.LeaveValidator{Address: o.keys[name].Address()})
	return nil
}

// SetParam has the system key give a parameter a value from a height on; 0 is
// the next block, or the next epoch's first. Parameters of genesis, and keys
// that are none, are refused at once; for all else the event param.set or a
// reverted receipt tells.
func (o *operator) SetParam(key, value string, at types.Height) (types.Hash, error) {
	info, err := params.Lookup(key)
	if err != nil {
		return types.Hash{}, err
	}
	if info.Class == params.Genesis {
		return types.Hash{}, fmt.Errorf("%s is fixed in genesis", key)
	}
	return o.Instruct(governance.OpSetParameter, governance.SetParameter{Key: key, Value: value, Height: at}), nil
}

// Instruct hands in an instruction of the system key at all validators, again
// and again until it is final, and returns its hash.
func (o *operator) Instruct(opcode uint16, args any) types.Hash {
	tx := o.Sign(wallet.System, nil, types.Wei{}, types.System{Kind: types.KindSystem, Opcode: opcode, Args: codec.Marshal(args)})
	o.ordered = tx.Hash()
	o.resubmit(wallet.System, tx, resubmitTimes)
	return o.ordered
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

// paced is a simulated network whose pace is decided, as network.Steering finds it.
type paced struct{ *fleet }

var _ network.Paced = paced{}

// Each implements network.Paced.
func (p paced) Each(do func(network.Steered)) {
	for _, name := range p.names {
		if v := p.Validator(name); v != nil {
			do(v)
		}
	}
}

// Best implements network.Paced.
func (p paced) Best() (*ledger.State, *history.Archive) {
	if best := p.best(); best != nil {
		return best.Head().State, best.Archive()
	}
	return nil, nil
}

// Clock implements network.Paced.
func (p paced) Clock() types.Time { return p.now.Add(p.offset) }

// MoveClock implements network.Paced.
func (p paced) MoveClock(by time.Duration) error {
	p.MoveClocks(by)
	return nil
}

// Stall implements network.Paced.
func (paced) Stall() time.Duration { return stall }

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
