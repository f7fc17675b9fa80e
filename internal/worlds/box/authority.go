package box

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// Patience with an instruction, as in the simulator.
const (
	governPatience = 60 * time.Second // how long it may take to become final
	handInEvery    = 10 * time.Second // it is submitted again if it is not final
)

// Limits of an instruction's transaction: generous, what is unused returns.
const (
	governCycles types.Cycles = 500_000
	governCells  types.Cells  = 50_000
)

// authority signs and sends the devnet's own transactions: instructions of the system
// key, and what runners of the devnet's own tell the registry. It sends one at a time, since
// each has the nonce after the one before, and waits until that is final.
type authority struct {
	origin      *origin
	shared      *shared
	nodes       *nodeList
	readers     *readers
	submissions *submissions
	steering    *network.Steering

	governing sync.Mutex // one transaction at a time
}

// ParamChange is a parameter's value from a height on.
type ParamChange struct {
	Key, Value string
	Class      params.Class
	Height     types.Height // the height from which it holds
	Hash       types.Hash   // of the transaction
}

// SetParam lets the system key set a parameter from a height on, 0 for the next
// block or, by its class, the next epoch's first. It returns when the instruction
// is final.
func (a *authority) SetParam(ctx context.Context, key, value string, at types.Height) (*ParamChange, error) {
	if err := a.origin.strict("setting parameters by the devnet's keys"); err != nil {
		return nil, err
	}
	state := a.nodes.state()
	info, err := api.CheckParameter(state.NextParams(), state.Height(), key, value, at)
	if err != nil {
		return nil, err
	}
	receipt, err := a.govern(ctx, governance.OpSetParameter, governance.SetParameter{Key: key, Value: value, Height: at})
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
func (a *authority) CancelTimer(ctx context.Context, id types.TimerID) (*types.Receipt, error) {
	return a.orderTimer(ctx, id, governance.OpCancelTimer, governance.CancelTimer{TimerID: id})
}

// ExtendTimer has the system key move any actor's timer's expires_at (CIP-1 §12,
// SYS_EXTEND_TIMER). It returns the receipt when the instruction is final.
func (a *authority) ExtendTimer(ctx context.Context, id types.TimerID, expiresAt types.Height) (*types.Receipt, error) {
	return a.orderTimer(ctx, id, governance.OpExtendTimer, governance.ExtendTimer{TimerID: id, NewExpiresAt: expiresAt})
}

func (a *authority) orderTimer(ctx context.Context, id types.TimerID, opcode uint16, args any) (*types.Receipt, error) {
	if err := a.origin.strict("changing timers by the devnet's keys"); err != nil {
		return nil, err
	}
	v, err := a.readers.Reader("")
	if err != nil {
		return nil, err
	}
	if _, err := api.CheckTimer(v, id); err != nil {
		return nil, err
	}
	return a.govern(ctx, opcode, args)
}

// govern signs an instruction by the system key and returns its receipt; one
// that was refused on chain is an error with the chain's code.
func (a *authority) govern(ctx context.Context, opcode uint16, args any) (*types.Receipt, error) {
	if a.steering.Paused() {
		return nil, api.ErrPausedOrder()
	}
	a.governing.Lock()
	defer a.governing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, governPatience)
	defer cancel()
	for tries := 1; ; tries++ {
		receipt, err := a.execute(ctx, a.instruction(opcode, args))
		var refused *api.Error
		if tries == api.NonceTries || !errors.As(err, &refused) ||
			refused.Body.Code != api.CodeNonceTaken && refused.Body.Code != api.CodeNonceTooLow {
			return receipt, err
		}
	}
}

// execute submits a transaction and returns its receipt when that is final; one that
// was refused on chain is an error with the chain's code.
func (a *authority) execute(ctx context.Context, tx *types.Transaction) (*types.Receipt, error) {
	raw := tx.Encode()
	hash, err := a.submissions.Submit(ctx, raw)
	if err != nil {
		return nil, err
	}
	receipt, err := a.resubmit(ctx, hash, raw)
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

// resubmit waits for a transaction's receipt and hands it in at every validator, again and
// again: the best may be cut off from the rest, and one that stops forgets what it held.
func (a *authority) resubmit(ctx context.Context, hash types.Hash, raw []byte) (*api.Executed, error) {
	for {
		a.submissions.spread(raw)
		round, cancel := context.WithTimeout(ctx, handInEvery)
		receipt, err := a.submissions.Wait(round, hash)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return receipt, err
		}
	}
}

func (a *authority) instruction(opcode uint16, args any) *types.Transaction {
	fees, key, cycles, cells := a.nodes.state().NextBaseFees(), a.systemKey(), governCycles, governCells
	draft := wallet.Draft{Cycles: &cycles, Cells: &cells,
		Payload: types.System{Kind: types.KindSystem, Opcode: opcode, Args: codec.Marshal(args)}}
	return draft.Sign(wallet.Times(2, a.origin.genesis.ChainID, fees.Cycle, fees.Cell), key, a.submissions.NextNonce(key.Address()))
}

// systemKey is the key whose instructions count.
func (a *authority) systemKey() crypto.Signer {
	return a.shared.verifier.Signer(wallet.AccountKey(a.origin.seed, wallet.System))
}

// deregister has a runner of the devnet's own deregistered.
func (a *authority) deregister(ctx context.Context, key *crypto.Key) error {
	a.governing.Lock()
	defer a.governing.Unlock()
	naming := codec.Marshal(&system.Naming{Runner: key.Address()})
	return a.send(ctx, a.shared.verifier.Signer(key), types.RegistryAddress, types.Wei{}, "deregister", naming)
}

// register has a runner registered, as its own owner: the system's account gives it
// what that takes. It does nothing where the key is registered already.
func (a *authority) register(ctx context.Context, key *crypto.Key) error {
	if a.steering.Paused() {
		return api.ErrPausedOrder()
	}
	a.governing.Lock()
	defer a.governing.Unlock()
	state := a.nodes.state()
	if state.Runner(key.Address()) != nil {
		return nil
	}
	needs := wallet.RunnerStake.Add(wallet.RunnerFunds)
	if has := state.Account(key.Address()).Balance; has.Less(needs) {
		if err := a.send(ctx, a.systemKey(), key.Address(), needs.Sub(has), "", nil); err != nil {
			return err
		}
	}
	signer := a.shared.verifier.Signer(key)
	in := system.Registration{PublicKey: key.PublicKey(), Stake: wallet.RunnerStake, Offer: OwnOffer()}
	in.Signed = signer.Sign(types.RegistrationDigest(a.origin.genesis.ChainID, key.Address(), in.PublicKey))
	return a.send(ctx, signer, types.RegistryAddress, types.Wei{}, "register", codec.Marshal(&in))
}

// send signs a transfer, or the call of a handler, and waits until it is final. A
// refusal by the chain is an error with the chain's code.
func (a *authority) send(ctx context.Context, key crypto.Signer, to types.Address, value types.Wei, handler string, payload []byte) error {
	ctx, cancel := context.WithTimeout(ctx, governPatience)
	defer cancel()
	fees := a.nodes.state().NextBaseFees()
	draft := wallet.Draft{To: &to, Value: value, Payload: types.Transfer{Kind: types.KindTransfer}}
	if handler != "" {
		draft.Payload = types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload}
	}
	tx := draft.Sign(wallet.Times(2, a.origin.genesis.ChainID, fees.Cycle, fees.Cell), key, a.submissions.NextNonce(key.Address()))
	_, err := a.execute(ctx, tx)
	return err
}
