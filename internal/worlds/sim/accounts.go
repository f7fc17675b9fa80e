package sim

import (
	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// accounts sign for a network: those of its users, its validators and its runners.
type accounts struct {
	chainID uint64
	scheme  crypto.Scheme
	keys    map[string]*crypto.Key // looked up only
	nonces  map[string]types.Nonce
}

// Key is the key of an account or a validator.
func (a *accounts) Key(name string) *crypto.Key { return a.keys[name] }

// Sign completes a transaction of an account: its next nonce, generous limits,
// and fees that hold while base fees do not rise a hundredfold.
func (a *accounts) Sign(from string, to *types.Address, value types.Wei, payload any) *types.Transaction {
	cycles, cells := types.Cycles(200_000), types.Cells(20_000)
	offer := wallet.Offer{ChainID: a.chainID, MaxFeePerCycle: types.WeiOf(100_000), MaxFeePerCell: types.WeiOf(100_000),
		TipPerCycle: types.WeiOf(10), TipPerCell: types.WeiOf(1)}
	nonce := a.nonces[from]
	a.nonces[from]++
	draft := wallet.Draft{To: to, Value: value, Cycles: &cycles, Cells: &cells, Payload: payload}
	return draft.Sign(offer, a.scheme.Signer(a.keys[from]), nonce)
}

// Transfer is a transaction that pays.
func (a *accounts) Transfer(from string, to types.Address, value types.Wei) *types.Transaction {
	return a.Sign(from, &to, value, types.Transfer{Kind: types.KindTransfer})
}

// Deploy returns a transaction that creates an actor from a Go sample or other
// code, with its own funds, and the actor's address.
func (a *accounts) Deploy(from string, code []byte, funds types.Wei) (*types.Transaction, types.Address) {
	address := actors.ActorAddress(a.keys[from].Address(), wallet.Salt(a.nonces[from]), code)
	return a.Sign(from, nil, funds, types.Deploy{Kind: types.KindDeploy, Code: code}), address
}

// Execute is a transaction that calls a handler.
func (a *accounts) Execute(from string, to types.Address, handler string, payload []byte) *types.Transaction {
	return a.Sign(from, &to, types.Wei{}, types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload})
}

// Scheme signs and verifies for the network's nodes and accounts.
func (a *accounts) Scheme() crypto.Scheme { return a.scheme }
