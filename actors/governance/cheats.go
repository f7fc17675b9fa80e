package governance

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Money and State are the ledger's side of the cheats.
type (
	// Money is the accounts and the supply.
	Money interface {
		// SetBalance gives an account a balance and returns the former one. The
		// difference counts as minted or removed. It refuses a supply above 2^256.
		SetBalance(types.Address, types.Wei) (before types.Wei, refused *types.Fault)
	}
	// State is the storage of actors.
	State interface {
		HasActor(types.Address) bool
		SetStorage(actor types.Address, key, value []byte)
		DeleteStorage(actor types.Address, key []byte)
	}
)

// SetBalance gives an account another balance.
type SetBalance struct {
	Address types.Address `cbor:"address"`
	Balance types.Wei     `cbor:"balance"`
}

// SetState gives a key of an actor's storage another value, or removes it.
type SetState struct {
	Actor types.Address `cbor:"actor"`
	Key   []byte        `cbor:"key"`
	Value *[]byte       `cbor:"value"` // null: the key is removed
}

// Impersonate is a transfer, a deploy or a call in the name of an address. Its
// key is not needed: the system key signs and pays the fee.
type Impersonate struct {
	From    types.Address    `cbor:"from"`
	To      *types.Address   `cbor:"to"` // null for a deploy
	Value   types.Wei        `cbor:"value"`
	Payload codec.RawMessage `cbor:"payload"` // as in the transaction of From

	asked types.Instruction // the payload, decoded
}

// Cycles implements Instruction.
func (*SetBalance) Cycles(p *params.Params) types.Cycles { return p.CostStorageWrite }

// Cycles implements Instruction.
func (*SetState) Cycles(p *params.Params) types.Cycles { return p.CostStorageWrite }

// Cycles implements Instruction. A transfer of value costs as much as in any
// transaction.
func (in *Impersonate) Cycles(p *params.Params) types.Cycles {
	if _, transfer := in.asked.(*types.Transfer); transfer || !in.Value.IsZero() {
		return p.CostTransfer
	}
	return 0
}

// Asked is the decoded payload: *types.Transfer, *types.Deploy or *types.Execute.
func (in *Impersonate) Asked() types.Instruction { return in.asked }

// decodePayload reads the payload. Its error is the sender's fault.
func (in *Impersonate) decodePayload() error {
	asked, err := (&types.Transaction{To: in.To, Payload: in.Payload}).Instruction()
	if err != nil {
		return err
	}
	switch asked := asked.(type) {
	case *types.Transfer:
	case *types.Deploy:
		if in.To != nil {
			return errors.New("a deploy has no address in to")
		}
	case *types.Execute:
		switch {
		case len(asked.Handler) > types.MaxNameBytes:
			return fmt.Errorf("a handler's name of %d bytes, at most %d", len(asked.Handler), types.MaxNameBytes)
		case asked.Sponsor != nil:
			return errors.New("a sponsor signs, so an impersonated call has none")
		}
	default:
		return errors.New("only a transfer, a deploy or a call can be impersonated")
	}
	in.asked = asked
	return nil
}

// BalanceSet is the data of the event balance.set.
type BalanceSet struct {
	Address types.Address `cbor:"address"`
	Before  types.Wei     `cbor:"before"`
	After   types.Wei     `cbor:"after"`
}

// StateSet is the data of the event state.set.
type StateSet struct {
	Actor   types.Address `cbor:"actor"`
	Key     []byte        `cbor:"key"`
	Deleted bool          `cbor:"deleted"`
}

// Execute implements Instruction. An address of the system band is refused: stakes,
// escrows and bids must add up to its balance.
//
// Spec: decision G2.
func (in *SetBalance) Execute(c Chain) (Effect, *types.Fault) {
	switch {
	case !c.Params.Cheats:
		return refuseStrict("setting a balance")
	case in.Address.InSystemBand():
		return newRefusal("reserved", "the balance of %s belongs to the chain: stakes, escrows and bids add up to it", in.Address)
	case in.Address == Key(c.KV):
		return newRefusal("reserved", "%s is the system key's account, which pays for instructions", in.Address)
	}
	before, refused := c.Money.SetBalance(in.Address, in.Balance)
	if refused != nil {
		return Effect{}, refused
	}
	return Effect{Events: []types.Event{newEvent("balance.set", BalanceSet{in.Address, before, in.Balance})}}, nil
}

// Execute implements Instruction. It changes the storage of deployed actors only. Key
// and value have the limits of a program's own writes.
//
// Spec: decision G2.
func (in *SetState) Execute(c Chain) (Effect, *types.Fault) {
	switch {
	case !c.Params.Cheats:
		return refuseStrict("setting state")
	case !c.State.HasActor(in.Actor):
		return newRefusal("no_actor", "there is no actor at %s", in.Actor)
	case uint64(len(in.Key)) > c.Params.MaxStateKeyBytes:
		return newRefusal("key_too_long", "a key of %d bytes, at most %d", len(in.Key), c.Params.MaxStateKeyBytes)
	case in.Value != nil && uint64(len(*in.Value)) > c.Params.MaxStateValueBytes:
		return newRefusal("value_too_long", "a value of %d bytes, at most %d", len(*in.Value), c.Params.MaxStateValueBytes)
	}
	if in.Value == nil {
		c.State.DeleteStorage(in.Actor, in.Key)
	} else {
		c.State.SetStorage(in.Actor, in.Key, *in.Value)
	}
	return Effect{Events: []types.Event{newEvent("state.set", StateSet{in.Actor, in.Key, in.Value == nil})}}, nil
}

// Execute implements Instruction. It judges whether the address may be impersonated;
// the ledger then does what is asked. An address of the system band calls deployed
// actors only and moves no value: its money and its records belong to the chain.
//
// Spec: decision G2.
func (in *Impersonate) Execute(c Chain) (Effect, *types.Fault) {
	if !c.Params.Cheats {
		return refuseStrict("impersonation")
	}
	_, call := in.asked.(*types.Execute)
	if in.From.InSystemBand() && (!call || in.To.InSystemBand() || !in.Value.IsZero()) {
		return newRefusal("reserved", "%s belongs to the chain: impersonated, it calls deployed actors only, without value", in.From)
	}
	return Effect{}, nil
}

func refuseStrict(what string) (Effect, *types.Fault) {
	return newRefusal("strict", "%s is a cheat, and this chain has none (chain.cheats)", what)
}
