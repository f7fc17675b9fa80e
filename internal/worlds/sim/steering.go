package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/validators"
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
	paused  bool
	goal    types.Height        // of the latest advance
	every   bool                // it makes every height
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

// steer tells a validator that has just started what the operator decided.
func (o *operator) steer(v *validators.Validator) {
	if o.paused {
		v.Pause(true)
	}
	o.send(v)
}

// Pause stops the making of blocks. What is under way still becomes final.
func (o *operator) Pause() { o.setPaused(true) }

// Resume lets it go on.
func (o *operator) Resume() { o.setPaused(false) }

// Paused says whether the network is paused.
func (o *operator) Paused() bool { return o.paused }

func (o *operator) setPaused(on bool) {
	o.paused = on
	for _, name := range o.names {
		if v := o.Validator(name); v != nil {
			v.Pause(on)
		}
	}
}

// Advance is time travel (decision C8): it runs the network until a height is
// final that it gets to by skipping what it may, and moves the clocks along.
// Refusals are *history.TravelError.
func (o *operator) Advance(target history.Target) (*history.Advance, error) {
	best := o.best()
	if best == nil {
		return nil, errors.New("no validator is running")
	}
	state := best.Head().State
	to, clock, err := target.Height(state, o.Now().Add(o.offset))
	if err != nil {
		return nil, err
	}
	o.goal, o.every = to, target.Make > 0
	for _, name := range o.names {
		if v := o.Validator(name); v != nil {
			o.send(v)
		}
	}
	o.MoveClocks(clock)
	if err := o.reach(to); err != nil {
		return nil, err
	}
	receipt, err := o.best().Archive().Advanced(state.Height(), to)
	if err != nil {
		return nil, err
	}
	receipt.Clock = clock
	return receipt, nil
}

// send tells a validator where the latest advance goes.
func (o *operator) send(v *validators.Validator) {
	switch {
	case o.goal == 0:
	case o.every:
		v.MakeTo(o.goal, nil)
	default:
		v.SkipTo(o.goal, nil)
	}
}

// reach runs until a running validator has finalized a height, as long as new
// blocks become final.
func (o *operator) reach(to types.Height) error {
	for {
		before := o.reached()
		if before >= to {
			return nil
		}
		err := o.RunUntil(func() bool { return o.Err() != nil || o.reached() > before }, o.Now().Add(stall))
		if wrong := o.Err(); wrong != nil {
			return wrong
		}
		if err != nil {
			return fmt.Errorf("advancing to height %d: %w; validators are at %v", to, err, o.heights())
		}
	}
}
