package types

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
)

// MaxTransactionBytes bounds an encoded transaction: a payload of 1 MiB and
// room for the rest.
const MaxTransactionBytes = 1<<20 + 4096

// Transaction is what an account signs. It is encoded as an array of its
// fields in this order; the signature covers the array with its last element
// null.
type Transaction struct {
	_                      struct{} `cbor:",toarray"`
	ChainID                uint64
	Nonce                  Nonce
	To                     *Address // nil for deploy and system instructions
	Value                  Wei
	CyclesLimit            Cycles
	CellsLimit             Cells
	MaxFeePerCycle         Wei
	MaxFeePerCell          Wei
	MaxPriorityFeePerCycle Wei
	MaxPriorityFeePerCell  Wei
	Payload                codec.RawMessage
	Signature              *Signature
}

// The kinds of a payload.
const (
	KindTransfer = "transfer"
	KindDeploy   = "deploy"
	KindExecute  = "execute"
	KindSystem   = "system"
	KindRunner   = "runner"
)

// Transfer moves the transaction's value.
type Transfer struct {
	Kind string `cbor:"kind"`
}

// Deploy creates an actor from code and runs its init once.
type Deploy struct {
	Kind     string   `cbor:"kind"`
	Code     []byte   `cbor:"code"`
	Salt     Hash     `cbor:"salt"`
	Init     []byte   `cbor:"init"`
	Manifest Manifest `cbor:"manifest"`
}

// Manifest describes an actor to people.
type Manifest struct {
	Name string `cbor:"name" json:"name"` // at most MaxNameBytes, may be empty
}

// MaxNameBytes bounds the names of actors and handlers.
const MaxNameBytes = 256

// Execute calls a handler of the actor at To.
type Execute struct {
	Kind    string `cbor:"kind"`
	Handler string `cbor:"handler"`
	Payload []byte `cbor:"payload"`
	// Sponsor is the most in wei that timers of that actor may cost the signer;
	// nil, and left out, is nothing (decision T28).
	Sponsor *Wei `cbor:"sponsor,omitempty"`
}

// SponsorOf returns an amount in the form that Execute states: nil for 0.
func SponsorOf(most Wei) *Wei {
	if most.IsZero() {
		return nil
	}
	return &most
}

// Sponsorship is what the signer of an execute transaction agreed to pay for
// timers of the actor that it calls.
//
// Decision T28. **Deviation**: the drafts take the signature for consent to any
// amount, for whatever actor the transaction reaches.
type Sponsorship struct {
	Transaction Hash // that was signed: what timers name their allowance by
	Signer      Address
	Most        Wei // 0: nothing
}

// Sponsorship is what the transaction with this hash and signer agreed to.
func (in *Execute) Sponsorship(transaction Hash, signer Address) *Sponsorship {
	s := &Sponsorship{Transaction: transaction, Signer: signer}
	if in.Sponsor != nil {
		s.Most = *in.Sponsor
	}
	return s
}

// System is an instruction of the system key.
type System struct {
	Kind   string           `cbor:"kind"`
	Opcode uint16           `cbor:"opcode"`
	Args   codec.RawMessage `cbor:"args"` // a map, by opcode
}

// Report is what a validator brings of a runner (decision J15). Its transaction is
// free: to is null, nonce, value, limits and fees are 0.
type Report struct {
	Kind string           `cbor:"kind"`
	Op   string           `cbor:"op"`
	Args codec.RawMessage `cbor:"args"` // a map, by op
}

// Instruction is a decoded payload: *Transfer, *Deploy, *Execute, *System or
// *Report.
type Instruction any

// SigningDigest is what the sender signs.
func (tx *Transaction) SigningDigest() Hash {
	unsigned := *tx
	unsigned.Signature = nil
	return Digest("cowboy/tx/1", tx.ChainID, codec.Marshal(&unsigned))
}

// Encode returns the canonical bytes.
func (tx *Transaction) Encode() []byte { return codec.Marshal(tx) }

// Hash is the keccak256 of the canonical bytes, signature and all.
func (tx *Transaction) Hash() Hash { return Keccak(tx.Encode()) }

// DecodeTransaction reads canonical bytes.
func DecodeTransaction(data []byte) (*Transaction, error) {
	tx := new(Transaction)
	if err := codec.Unmarshal(data, MaxTransactionBytes, tx); err != nil {
		return nil, fmt.Errorf("transaction: %w", err)
	}
	return tx, nil
}

// Instruction decodes the payload.
func (tx *Transaction) Instruction() (Instruction, error) {
	var head struct {
		Kind string `cbor:"kind"`
	}
	if err := codec.UnmarshalPartial(tx.Payload, MaxTransactionBytes, &head); err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	var in Instruction
	switch head.Kind {
	case KindTransfer:
		in = new(Transfer)
	case KindDeploy:
		in = new(Deploy)
	case KindExecute:
		in = new(Execute)
	case KindSystem:
		in = new(System)
	case KindRunner:
		in = new(Report)
	default:
		return nil, fmt.Errorf("payload: kind %q is none of transfer, deploy, execute, system, runner", clip([]byte(head.Kind)))
	}
	if err := codec.Unmarshal(tx.Payload, MaxTransactionBytes, in); err != nil {
		return nil, fmt.Errorf("payload of kind %s: %w", head.Kind, err)
	}
	if _, ok := in.(*Transfer); ok && tx.To == nil {
		return nil, errors.New("a transfer needs an address in to")
	}
	if _, ok := in.(*Execute); ok && tx.To == nil {
		return nil, errors.New("an execute needs an actor's address in to")
	}
	if e, ok := in.(*Execute); ok && e.Sponsor != nil && e.Sponsor.IsZero() {
		return nil, errors.New("payload of kind execute: a sponsor of 0 is left out")
	}
	return in, nil
}
