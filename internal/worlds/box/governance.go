package box

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
)

// governPatience is how long an instruction may take to become final.
const governPatience = 60 * time.Second

// Limits of an instruction's transaction: generous, what is unused returns.
const (
	governCycles types.Cycles = 500_000
	governCells  types.Cells  = 50_000
)

// Join starts a validator of a new name, or one that has left, and has the
// system key ask for its membership from the next epoch on. It returns when the
// instruction is final; the validator catches up meanwhile. An empty name means
// the next of v0, v1, … that is free.
func (n *Network) Join(ctx context.Context, name string) (*Node, error) {
	if n.config.Strict {
		return nil, strict("joining by the devnet's keys")
	}
	if err := n.elsewhere("joining by the devnet's keys"); err != nil {
		return nil, err
	}
	if n.Paused() {
		return nil, api.ErrPausedOrder()
	}
	if err := n.refuseBounded("a validator", "join"); err != nil {
		return nil, err
	}
	node, err := n.admitNode(name)
	if err != nil {
		return nil, err
	}
	_, err = n.govern(ctx, governance.OpJoinValidator, governance.JoinValidator{PublicKey: wallet.ValidatorKey(n.seed, node.Name).PublicKey()})
	if err != nil {
		node.joining.Store(false) // the reaper stops it, unless the instruction becomes final later
		return nil, err
	}
	return node, nil
}

// admitNode starts the node of a validator that is to join.
func (n *Network) admitNode(name string) (*Node, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, api.Refuse(http.StatusServiceUnavailable, "closing", "the network ends")
	}
	if name == "" {
		for i := 0; n.find(wallet.ValidatorName(i)) != nil; i++ {
			name = wallet.ValidatorName(i + 1)
		}
	}
	node, status := n.find(name), ""
	if node != nil {
		status = node.status(n.Best().Validator().Head().State)
	}
	if err := api.CheckJoin(name, wallet.Accounts(), status); err != nil {
		return nil, err
	}
	if node == nil {
		if len(n.List()) >= MaxValidators {
			return nil, api.Refuse(http.StatusConflict, "too_many_validators", "a network in one process has at most %d validators", MaxValidators)
		}
		var err error
		if node, err = n.newNode(name); err != nil {
			return nil, err
		}
		n.add(node)
	}
	node.joining.Store(true)
	if node.Started() {
		return node, nil
	}
	if err := node.start(); err != nil {
		node.joining.Store(false)
		return nil, err
	}
	return node, nil
}

// Leave has the system key ask for the end of a validator's membership, which
// comes with the epoch's. It returns when the instruction is final.
func (n *Network) Leave(ctx context.Context, name string) (*Node, error) {
	if n.config.Strict {
		return nil, strict("leaving by the devnet's keys")
	}
	node := n.find(name)
	if node == nil {
		return nil, api.Refuse(http.StatusNotFound, "unknown_node", "no node is called %q", name).
			Hint("GET /validators lists them.").At("name")
	}
	_, err := n.govern(ctx, governance.OpLeaveValidator, governance.LeaveValidator{Address: node.Address})
	if err != nil {
		return nil, err
	}
	node.joining.Store(false)
	return node, nil
}

// ParamChange is a parameter's value from a height on.
type ParamChange struct {
	Key, Value string
	Class      params.Class
	Height     types.Height // from which it holds
	Hash       types.Hash   // of the transaction
}

// SetParam has the system key give a parameter a value from a height on, 0 for
// the next block or, by its class, the next epoch's first. It returns when the
// instruction is final.
func (n *Network) SetParam(ctx context.Context, key, value string, at types.Height) (*ParamChange, error) {
	if n.config.Strict {
		return nil, strict("setting parameters by the devnet's keys")
	}
	state := n.Best().Validator().Head().State
	info, err := api.CheckParameter(state.NextParams(), state.Height(), key, value, at)
	if err != nil {
		return nil, err
	}
	receipt, err := n.govern(ctx, governance.OpSetParameter, governance.SetParameter{Key: key, Value: value, Height: at})
	if err != nil {
		return nil, err
	}
	change := &ParamChange{Key: key, Value: value, Class: info.Class, Hash: receipt.Hash}
	for _, e := range receipt.Events {
		var set governance.ParamSet
		if e.Name == "param.set" && codec.Unmarshal(e.Data, types.MaxTransactionBytes, &set) == nil && set.Key == key {
			change.Height = set.Height
		}
	}
	return change, nil
}

// CancelTimer has the system key cancel any actor's timer (CIP-1 §12,
// SYS_CANCEL_TIMER). It returns the receipt when the instruction is final.
func (n *Network) CancelTimer(ctx context.Context, id types.TimerID) (*types.Receipt, error) {
	return n.orderTimer(ctx, id, governance.OpCancelTimer, governance.CancelTimer{TimerID: id})
}

// ExtendTimer has the system key move any actor's timer's expires_at (CIP-1 §12,
// SYS_EXTEND_TIMER). It returns the receipt when the instruction is final.
func (n *Network) ExtendTimer(ctx context.Context, id types.TimerID, expiresAt types.Height) (*types.Receipt, error) {
	return n.orderTimer(ctx, id, governance.OpExtendTimer, governance.ExtendTimer{TimerID: id, NewExpiresAt: expiresAt})
}

func (n *Network) orderTimer(ctx context.Context, id types.TimerID, opcode uint16, args any) (*types.Receipt, error) {
	if n.config.Strict {
		return nil, strict("changing timers by the devnet's keys")
	}
	v, err := n.Reader("")
	if err != nil {
		return nil, err
	}
	if _, err := api.CheckTimer(v, id); err != nil {
		return nil, err
	}
	return n.govern(ctx, opcode, args)
}

// govern signs an instruction by the system key and returns its receipt; one
// that was refused on chain is an error with the chain's code.
func (n *Network) govern(ctx context.Context, opcode uint16, args any) (*types.Receipt, error) {
	if n.Paused() {
		return nil, api.ErrPausedOrder()
	}
	n.governing.Lock()
	defer n.governing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, governPatience)
	defer cancel()
	hash, err := n.Submit(ctx, n.instruction(opcode, args).Encode())
	if err != nil {
		return nil, err
	}
	receipt, err := n.Wait(ctx, hash)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, api.ErrNotFinal(hash, governPatience.String())
	}
	if err != nil {
		return nil, err
	}
	if err := api.Judged(&receipt.Receipt); err != nil {
		return nil, err
	}
	return &receipt.Receipt, nil
}

func (n *Network) instruction(opcode uint16, args any) *types.Transaction {
	fees, key, cycles, cells := n.Best().Validator().Head().State.NextBaseFees(), n.Key(wallet.System), governCycles, governCells
	draft := wallet.Draft{Cycles: &cycles, Cells: &cells,
		Payload: types.System{Kind: types.KindSystem, Opcode: opcode, Args: codec.Marshal(args)}}
	return draft.Sign(wallet.Times(2, n.genesis.ChainID, fees.Cycle, fees.Cell), key, n.NextNonce(key.Address()))
}
