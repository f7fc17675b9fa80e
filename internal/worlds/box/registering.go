package box

import (
	"context"
	"errors"
	"net/http"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/runners/selection"
)

// JoinRunner starts a runner of the next free name, and has it registered, with a
// stake that the system's account gives it. It returns the name when the registration
// is final. A name may be given, where it is the next.
func (n *Network) JoinRunner(ctx context.Context, name string) (string, error) {
	if n.config.Strict {
		return "", strict("joining by the devnet's keys")
	}
	if err := n.elsewhere("a runner without a key of its own"); err != nil {
		return "", err
	}
	next := wallet.RunnerName(len(n.RunnerList()))
	switch {
	case len(n.RunnerList()) >= MaxRunners:
		return "", api.Refuse(http.StatusConflict, "too_many_runners", "a network in one process has at most %d runners", MaxRunners)
	case name != "" && n.findRunner(name) != nil:
		return "", api.Refuse(http.StatusConflict, "runner_exists", "there is a runner %s already", name).
			Hint("A runner that has left does not come again: its key is registered for ever.").At("name")
	case name != "" && name != next:
		return "", api.Refuse(http.StatusBadRequest, "invalid_name", "%.40q is not the name of the next runner, which is %s", name, next).
			Hint("Give no name, or a public key to register a runner that the devnet does not start.").At("name")
	}
	key := wallet.RunnerKey(n.seed, next)
	if err := n.register(ctx, key); err != nil {
		return "", err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return "", api.Refuse(http.StatusServiceUnavailable, "closing", "the network ends")
	}
	if n.findRunner(next) != nil {
		return next, nil
	}
	r := n.newRunner(next, key)
	n.addRunner(r)
	return next, r.start()
}

// LeaveRunner deregisters a runner of the network's own. It returns when that is final
// and the runner has said Goodbye and stopped.
func (n *Network) LeaveRunner(ctx context.Context, name string) error {
	if n.config.Strict {
		return strict("leaving by the devnet's keys")
	}
	r := n.findRunner(name)
	if r == nil {
		return n.unknown(name)
	}
	registered := n.Best().Validator().Head().State.Runner(r.Address)
	if registered == nil || registered.Health == selection.Deregistered {
		return api.Refuse(http.StatusConflict, "deregistered", "%s has left already", name).At("name")
	}
	n.governing.Lock()
	naming := codec.Marshal(&system.Naming{Runner: r.Address})
	err := n.send(ctx, n.verifier.Signer(r.key), types.RegistryAddress, types.Wei{}, "deregister", naming)
	n.governing.Unlock()
	if err != nil {
		return err
	}
	return n.StopRunner(name)
}

// register has a runner registered, as its own owner: the system's account gives it
// what that takes. It does nothing where the key is registered already.
func (n *Network) register(ctx context.Context, key *crypto.Key) error {
	if n.Paused() {
		return api.ErrPausedOrder()
	}
	n.governing.Lock()
	defer n.governing.Unlock()
	state := n.Best().Validator().Head().State
	if state.Runner(key.Address()) != nil {
		return nil
	}
	needs := wallet.RunnerStake.Add(wallet.RunnerFunds)
	if has := state.Account(key.Address()).Balance; has.Less(needs) {
		if err := n.send(ctx, n.Key(wallet.System), key.Address(), needs.Sub(has), "", nil); err != nil {
			return err
		}
	}
	in := system.Registration{PublicKey: key.PublicKey(), Stake: wallet.RunnerStake, Offer: ownOffer()}
	return n.send(ctx, n.verifier.Signer(key), types.RegistryAddress, types.Wei{}, "register", codec.Marshal(&in))
}

// send signs a transfer, or the call of a handler, and waits until it is final. What
// was refused on chain is an error with the chain's code.
func (n *Network) send(ctx context.Context, key crypto.Signer, to types.Address, value types.Wei, handler string, payload []byte) error {
	ctx, cancel := context.WithTimeout(ctx, governPatience)
	defer cancel()
	fees := n.Best().Validator().Head().State.NextBaseFees()
	draft := wallet.Draft{To: &to, Value: value, Payload: types.Transfer{Kind: types.KindTransfer}}
	if handler != "" {
		draft.Payload = types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload}
	}
	tx := draft.Sign(wallet.Times(2, n.genesis.ChainID, fees.Cycle, fees.Cell), key, n.NextNonce(key.Address()))
	hash, err := n.Submit(ctx, tx.Encode())
	if err != nil {
		return err
	}
	receipt, err := n.Wait(ctx, hash)
	if errors.Is(err, context.DeadlineExceeded) {
		return api.ErrNotFinal(hash, governPatience.String())
	}
	if err != nil {
		return err
	}
	return api.Judged(&receipt.Receipt)
}
