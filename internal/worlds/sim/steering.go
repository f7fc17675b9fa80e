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
	members *types.ValidatorSet // of the newest epoch; nil: of genesis
	since   types.Height        // the last block of the epoch before
	joining map[string]struct{} // looked up only
	ordered types.Hash          // the instruction given last
}

// Ordered is the hash of the instruction given last.
func (n *Network) Ordered() types.Hash { return n.ordered }

// Join adds a validator that is started from genesis, or one that has left, and
// has the system key ask for its membership from the next epoch on. It catches
// up before its first vote. That the instruction is final takes some blocks.
func (n *Network) Join(name string) error {
	if n.keys[name] != nil && !slices.Contains(n.names, name) {
		return fmt.Errorf("%s is an account's name", name)
	}
	known := slices.Contains(n.names, name)
	if known && (n.isMember(name) || n.isJoining(name)) {
		return fmt.Errorf("%s is a validator, or joins already", name)
	}
	if !known {
		key := wallet.ValidatorKey(n.config.World.Seed, name)
		parts := Parts{Signer: n.scheme.Signer(key), Verifier: n.scheme, Programs: n.config.Programs}
		n.keys[name] = key
		if err := n.AddNode(name, parts, n.bootValidator(name)); err != nil {
			delete(n.keys, name)
			return err
		}
		n.names = append(n.names, name)
	}
	if n.joining == nil {
		n.joining = map[string]struct{}{}
	}
	n.joining[name] = struct{}{}
	if !n.Running(name) {
		if err := n.Boot(name); err != nil {
			return err
		}
	}
	n.Instruct(governance.OpJoinValidator, governance.JoinValidator{PublicKey: n.keys[name].PublicKey(), Endpoint: n.endpoint(name)})
	return nil
}

// Leave has the system key ask for the end of a validator's membership. Its
// process ends when the next epoch has begun.
func (n *Network) Leave(name string) error {
	if !slices.Contains(n.names, name) {
		return fmt.Errorf("no validator is called %q", name)
	}
	delete(n.joining, name)
	n.Instruct(governance.OpLeaveValidator, governance.LeaveValidator{Address: n.keys[name].Address()})
	return nil
}

// SetParam has the system key give a parameter a value from a height on; 0 is
// the next block, or the next epoch's first. Parameters of genesis, and keys
// that are none, are refused at once; for all else the event param.set or a
// reverted receipt tells.
func (n *Network) SetParam(key, value string, at types.Height) (types.Hash, error) {
	info, err := params.Lookup(key)
	if err != nil {
		return types.Hash{}, err
	}
	if info.Class == params.Genesis {
		return types.Hash{}, fmt.Errorf("%s is fixed in genesis", key)
	}
	return n.Instruct(governance.OpSetParameter, governance.SetParameter{Key: key, Value: value, Height: at}), nil
}

// Instruct hands in an instruction of the system key at all validators, again
// and again until it is final, and returns its hash.
func (n *Network) Instruct(opcode uint16, args any) types.Hash {
	tx := n.Sign(wallet.System, nil, types.Wei{}, types.System{Kind: types.KindSystem, Opcode: opcode, Args: codec.Marshal(args)})
	n.ordered = tx.Hash()
	n.resubmit(wallet.System, tx, resubmitTimes)
	return n.ordered
}

// resubmit hands a transaction in at all validators, until it is final.
func (n *Network) resubmit(from string, tx *types.Transaction, times int) {
	best := n.best()
	if times == 0 || best != nil && best.Head().State.Account(n.keys[from].Address()).Nonce > tx.Nonce {
		return
	}
	for _, name := range n.names {
		n.Submit(name, tx, nil)
	}
	n.After(resubmitEvery, func() { n.resubmit(from, tx, times-1) })
}

// best is the running validator with the highest final block, or nil.
func (n *Network) best() (best *validators.Validator) {
	for _, name := range n.names {
		v := n.Validator(name)
		if v != nil && (best == nil || v.Head().Block.Header.Height > best.Head().Block.Header.Height) {
			best = v
		}
	}
	return best
}

// isMember says whether a validator is of the newest epoch's set.
func (n *Network) isMember(name string) bool {
	set := n.members
	if set == nil {
		set = &n.Genesis.Validators
	}
	return set.Index(n.keys[name].Address()) >= 0
}

func (n *Network) isJoining(name string) bool {
	_, joining := n.joining[name]
	return joining
}

// Status is how a validator stands: joining, active, leaving or left.
func (n *Network) Status(name string) string {
	if best := n.best(); best != nil {
		if status := history.Membership(best.Head().State, n.keys[name].Address()); status != history.StatusLeft {
			return status
		}
	}
	if n.isJoining(name) {
		return history.StatusJoining
	}
	return history.StatusLeft
}

// bootstrap are the members that a validator may connect with before it knows
// of them.
func (n *Network) bootstrap(name string) []types.Validator {
	if n.members == nil {
		return nil
	}
	return n.members.Members
}

// follow notes the sets that begin behind borders. Once a block of the new set
// is final, who is in it no more stops.
func (n *Network) follow(r *ledger.Result) {
	switch h := r.Block.Header.Height; {
	case r.NextSet != nil && h > n.since:
		n.members, n.since = r.NextSet, h
	case n.members != nil && h > n.since && r.Block.Header.SetEpoch == n.members.Epoch:
		for _, name := range n.names {
			if n.isMember(name) {
				delete(n.joining, name)
			} else if n.Running(name) && !n.isJoining(name) && n.find(name).frozen == nil {
				n.After(0, func() { n.retire(name) })
			}
		}
	}
}

func (n *Network) retire(name string) {
	if n.Running(name) && !n.isMember(name) && !n.isJoining(name) && n.find(name).frozen == nil {
		if err := n.Stop(name); err != nil && n.failure == nil {
			n.failure = err
		}
	}
}

// steer tells a validator that has just started what the operator decided.
func (n *Network) steer(v *validators.Validator) {
	if n.paused {
		v.Pause(true)
	}
	if n.goal > 0 {
		v.SkipTo(n.goal, nil)
	}
}

// Pause stops the making of blocks. What is under way still becomes final.
func (n *Network) Pause() { n.setPaused(true) }

// Resume lets it go on.
func (n *Network) Resume() { n.setPaused(false) }

// Paused says whether the network is paused.
func (n *Network) Paused() bool { return n.paused }

func (n *Network) setPaused(on bool) {
	n.paused = on
	for _, name := range n.names {
		if v := n.Validator(name); v != nil {
			v.Pause(on)
		}
	}
}

// Advance is time travel (decision C8): it runs the network until a height is
// final that it gets to by skipping what it may, and moves the clocks along.
// Refusals are *history.TravelError.
func (n *Network) Advance(target history.Target) (*history.Advance, error) {
	best := n.best()
	if best == nil {
		return nil, errors.New("no validator is running")
	}
	state := best.Head().State
	to, clock, err := target.Height(state, n.Now().Add(n.offset))
	if err != nil {
		return nil, err
	}
	n.goal = to
	for _, name := range n.names {
		if v := n.Validator(name); v != nil {
			v.SkipTo(to, nil)
		}
	}
	n.MoveClocks(clock)
	if err := n.reach(to); err != nil {
		return nil, err
	}
	receipt, err := n.best().Archive().Advanced(state.Height(), to)
	if err != nil {
		return nil, err
	}
	receipt.Clock = clock
	return receipt, nil
}

// reach runs until a running validator has finalized a height, as long as new
// blocks become final.
func (n *Network) reach(to types.Height) error {
	for {
		before := n.reached()
		if before >= to {
			return nil
		}
		err := n.RunUntil(func() bool { return n.Err() != nil || n.reached() > before }, n.Now().Add(stall))
		if wrong := n.Err(); wrong != nil {
			return wrong
		}
		if err != nil {
			return fmt.Errorf("advancing to height %d: %w; validators are at %v", to, err, n.heights())
		}
	}
}

// reached is the highest height that a running validator has finalized.
func (n *Network) reached() types.Height {
	if best := n.best(); best != nil {
		return best.Head().Block.Header.Height
	}
	return 0
}
