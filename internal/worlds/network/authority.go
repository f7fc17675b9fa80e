package network

import (
	"context"
	"errors"
	"time"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Patience with a transaction of the network's own.
const (
	governPatience = 60 * time.Second // how long it may take to become final
	handInEvery    = 10 * time.Second // it is submitted again if it is not final
)

// Limits of an instruction's transaction: generous, unused gas is refunded.
const (
	governCycles types.Cycles = 500_000
	governCells  types.Cells  = 50_000
)

// Keys are what the operator of a network signs with.
type Keys struct {
	Seed    uint64
	ChainID uint64
	Scheme  crypto.Scheme
}

// systemKey is the key whose instructions the chain follows.
func (k Keys) systemKey() *crypto.Key { return wallet.AccountKey(k.Seed, wallet.System) }

// signRegistration is what a new runner signs for its registration by an owner.
func (k Keys) signRegistration(key *crypto.Key, owner types.Address) types.Signature {
	return k.Scheme.Signer(key).Sign(types.RegistrationDigest(k.ChainID, owner, key.PublicKey()))
}

// Authority signs and sends the network's own transactions: instructions of the system key,
// and registrations of the network's own runners. It sends one at a time, since each takes
// the nonce after the one before, and returns when that is final.
type Authority struct {
	network    Operated
	orders     *Orders
	steering   *Steering
	executions *Executions
	turn       *Turn // of transactions
}

// newAuthority makes the authority of a network that is steered.
func newAuthority(n Operated, w *Orders, s *Steering, x *Executions) *Authority {
	return &Authority{network: n, orders: w, steering: s, executions: x, turn: NewTurn(n)}
}

// SetParam sets a parameter from a height on by the system key. 0 is the next block or, by
// the parameter's class, the next epoch's first.
func (a *Authority) SetParam(ctx context.Context, key, value string, at types.Height) (change model.ParamChange, err error) {
	if err := a.orders.Need(SystemKey); err != nil {
		return change, err
	}
	best := a.network.Best()
	if best.State == nil {
		return change, ErrNoValidator
	}
	info, err := checkParameter(best.State.NextParams(), best.State.Height(), key, value, at)
	if err != nil {
		return change, err
	}
	receipt, err := a.sendInstruction(ctx, governance.OpSetParameter, governance.SetParameter{Key: key, Value: value, Height: at})
	if err != nil {
		return change, err
	}
	change = model.ParamChange{Key: key, Value: value, Class: string(info.Class), Hash: receipt.Hash}
	for _, e := range receipt.Events {
		var set governance.ParamSet
		if e.Name == "param.set" && codec.Unmarshal(e.Data, types.MaxTransactionBytes, &set) == nil && set.Key == key {
			change.Height = set.Height
		}
	}
	return change, nil
}

// CancelTimer cancels any actor's timer by the system key (CIP-1 §12, SYS_CANCEL_TIMER). judge refuses
// one that is not pending.
func (a *Authority) CancelTimer(ctx context.Context, id types.TimerID, judge func(types.TimerID) error) (*types.Receipt, error) {
	return a.orderTimer(ctx, id, judge, governance.OpCancelTimer, governance.CancelTimer{TimerID: id})
}

// ExtendTimer moves the expires_at of any actor's timer by the system key (CIP-1 §12,
// SYS_EXTEND_TIMER).
func (a *Authority) ExtendTimer(ctx context.Context, id types.TimerID, expiresAt types.Height,
	judge func(types.TimerID) error) (*types.Receipt, error) {
	return a.orderTimer(ctx, id, judge, governance.OpExtendTimer, governance.ExtendTimer{TimerID: id, NewExpiresAt: expiresAt})
}

func (a *Authority) orderTimer(ctx context.Context, id types.TimerID, judge func(types.TimerID) error, opcode uint16,
	args any) (*types.Receipt, error) {
	if err := a.orders.Need(SystemKey); err != nil {
		return nil, err
	}
	if err := judge(id); err != nil {
		return nil, err
	}
	return a.sendInstruction(ctx, opcode, args)
}

// sendInstruction sends an instruction of the system key and returns its receipt. The error of an
// instruction that the chain refused has the chain's code.
func (a *Authority) sendInstruction(ctx context.Context, opcode uint16, args any) (receipt *types.Receipt, err error) {
	cycles, cells := governCycles, governCells
	draft := wallet.Draft{Cycles: &cycles, Cells: &cells,
		Payload: types.System{Kind: types.KindSystem, Opcode: opcode, Args: codec.Marshal(args)}}
	err = a.sendAlone(ctx, func() error {
		receipt, err = a.sendDraft(ctx, a.network.Keys().systemKey(), draft)
		return err
	})
	return receipt, err
}

// registerRunner registers a runner as its own owner. The system's account gives it what that
// takes. A registered key stays as it is.
func (a *Authority) registerRunner(ctx context.Context, key *crypto.Key, stake types.Wei, offer system.Offer) error {
	return a.sendAlone(ctx, func() error {
		best := a.network.Best()
		if best.State == nil {
			return ErrNoValidator
		}
		if best.State.Runner(key.Address()) != nil {
			return nil
		}
		if err := a.fundAccount(ctx, best.State, key.Address(), stake.Add(wallet.RunnerFunds)); err != nil {
			return err
		}
		in := system.Registration{PublicKey: key.PublicKey(), Stake: stake, Offer: offer,
			Signed: a.network.Keys().signRegistration(key, key.Address())}
		return a.callRegistry(ctx, key, "register", codec.Marshal(&in))
	})
}

// fundAccount has the system's account pay what an account lacks of an amount.
func (a *Authority) fundAccount(ctx context.Context, state *ledger.State, to types.Address, needs types.Wei) error {
	has := state.Account(to).Balance
	if !has.Less(needs) {
		return nil
	}
	_, err := a.sendDraft(ctx, a.network.Keys().systemKey(), wallet.Draft{To: &to, Value: needs.Sub(has),
		Payload: types.Transfer{Kind: types.KindTransfer}})
	return err
}

// updateOffer gives a runner another offer, by its own key.
func (a *Authority) updateOffer(ctx context.Context, key *crypto.Key, offer system.Offer) error {
	return a.sendAlone(ctx, func() error {
		return a.callRegistry(ctx, key, "update", codec.Marshal(&system.Amendment{Runner: key.Address(), Offer: offer}))
	})
}

// addStake adds to a runner's stake what the system's account gives it, by its own key.
func (a *Authority) addStake(ctx context.Context, key *crypto.Key, amount types.Wei) error {
	return a.sendAlone(ctx, func() error {
		best := a.network.Best()
		if best.State == nil {
			return ErrNoValidator
		}
		if err := a.fundAccount(ctx, best.State, key.Address(), amount.Add(wallet.RunnerFunds)); err != nil {
			return err
		}
		return a.callRegistry(ctx, key, "add_stake", codec.Marshal(&system.Addition{Runner: key.Address(), Amount: amount}))
	})
}

// deregisterRunner deregisters a runner by its own key.
func (a *Authority) deregisterRunner(ctx context.Context, key *crypto.Key) error {
	return a.sendAlone(ctx, func() error {
		return a.callRegistry(ctx, key, "deregister", codec.Marshal(&system.Naming{Runner: key.Address()}))
	})
}

// callRegistry has an account call a handler of the registry.
func (a *Authority) callRegistry(ctx context.Context, key *crypto.Key, handler string, payload []byte) error {
	to := types.RegistryAddress
	_, err := a.sendDraft(ctx, key, wallet.Draft{To: &to, Payload: types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload}})
	return err
}

// sendAlone has do send transactions while no other caller does. A paused network makes no block
// for them.
func (a *Authority) sendAlone(ctx context.Context, do func() error) error {
	if a.steering.Paused() {
		return errPausedOrder()
	}
	return closingRefusal(a.turn.Do(ctx, do))
}

// refusal is a wait's error as an API shows it.
func closingRefusal(err error) error {
	if errors.Is(err, ErrClosed) {
		return ErrClosing
	}
	return err
}

// sendDraft signs a draft with the next nonce and returns the receipt when that is final. It signs
// again if another transaction took the nonce meanwhile.
func (a *Authority) sendDraft(ctx context.Context, key *crypto.Key, draft wallet.Draft) (*types.Receipt, error) {
	for tries := 1; ; tries++ {
		receipt, err := a.sendOnce(ctx, key, draft)
		var refused *refusal.Error
		if tries == wallet.NonceTries || !errors.As(err, &refused) ||
			refused.Code != refusal.CodeNonceTaken && refused.Code != refusal.CodeNonceTooLow {
			return receipt, err
		}
	}
}

func (a *Authority) sendOnce(ctx context.Context, key *crypto.Key, draft wallet.Draft) (*types.Receipt, error) {
	best := a.network.Best()
	if best.Validator == nil {
		return nil, ErrNoValidator
	}
	keys, fees := a.network.Keys(), best.State.NextBaseFees()
	offer := wallet.Times(2, keys.ChainID, fees.Cycle, fees.Cell)
	tx := draft.Sign(offer, keys.Scheme.Signer(key), best.nextNonce(ctx, a.network, key.Address()))
	end := a.executions.Await(tx.Hash())
	defer end.GiveUp()
	if _, err := best.Submit(ctx, a.network, tx.Encode()); err != nil {
		return nil, err
	}
	answers.TellHandedIn(ctx, tx.Hash())
	return a.awaitReceipt(ctx, end, tx)
}

// awaitReceipt waits for a transaction's receipt. It submits the transaction to all validators again
// and again. The best may be cut off from the others, and a validator that stops forgets its
// pool.
func (a *Authority) awaitReceipt(ctx context.Context, end *Execution, tx *types.Transaction) (*types.Receipt, error) {
	raw := tx.Encode()
	for range governPatience / handInEvery {
		a.network.Each(func(v Steered) { v.Submit(raw, func(types.Hash, error) {}) }) // a known transaction is refused
		switch ended, err := end.Wait(ctx, handInEvery); {
		case errors.Is(err, ErrLate):
		case errors.Is(err, context.DeadlineExceeded):
			return nil, errNotFinal(tx.Hash(), governPatience.String())
		case err != nil:
			return nil, err
		case ended.Receipt == nil:
			return nil, ErrDropped(ended.Dropped)
		default:
			return ended.Receipt, refusal.OfReceipt(ended.Receipt)
		}
	}
	return nil, errNotFinal(tx.Hash(), governPatience.String())
}

// Submit hands a transaction to the best validator, which runs, and waits for its answer.
func (b Best) Submit(ctx context.Context, s Scheduler, raw []byte) (types.Hash, error) {
	type answer struct {
		hash types.Hash
		err  error
	}
	a, err := Ask(ctx, s, func(done func(answer)) {
		b.Validator.Submit(raw, func(hash types.Hash, err error) { done(answer{hash, err}) })
	})
	if err != nil {
		return types.Hash{}, ErrNoAnswer(b.Name, err)
	}
	return a.hash, validators.Refusal(a.err)
}

// nextNonce is the nonce of an account after all that the best validator has of it, final or
// in its pool.
func (b Best) nextNonce(ctx context.Context, s Scheduler, account types.Address) types.Nonce {
	final := b.State.Account(account).Nonce
	next, err := Ask(ctx, s, func(done func(types.Nonce)) { b.Validator.NextNonce(account, final, done) })
	if err != nil {
		return final
	}
	return next
}

// Ask puts a question to a validator and waits for the answer, for a limited time. A validator
// that stops meanwhile does not answer.
func Ask[T any](ctx context.Context, s Scheduler, question func(answer func(T))) (answer T, err error) {
	answered, given := new(Signal), &guardedValue[T]{}
	question(func(a T) {
		given.withValue(func(is *T) { *is = a })
		answered.Fire()
	})
	if err := s.Wait(ctx, answered, answerPatience); err != nil {
		return answer, err
	}
	given.withValue(func(is *T) { answer = *is })
	return answer, nil
}
