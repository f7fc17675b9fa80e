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
	KindUpgrade  = "upgrade"
	KindApply    = "apply_upgrade"
	KindTerms    = "upgrade_terms"
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
	// Upgrade says who may give the actor new code. Nil, and left out: no account, for
	// good (decision C25).
	Upgrade *UpgradeTerms `cbor:"upgrade,omitempty" json:"upgrade,omitempty"`
}

// UpgradeTerms says who may upgrade an actor, and how long an upgrade is announced
// before it applies.
type UpgradeTerms struct {
	By    Address `cbor:"by" json:"by"`
	Delay uint64  `cbor:"delay" json:"delay"` // blocks, at most MaxUpgradeDelay; 0: an upgrade applies at once
}

// MaxUpgradeDelay bounds a delay in blocks, so that no height overflows: a delay of more
// would outlive every network.
const MaxUpgradeDelay = 1<<32 - 1

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

// Upgrade gives the actor at To new code. If its terms have a delay, the upgrade is
// announced, and ApplyUpgrade applies it.
//
// Decision C25. **Deviation**: no draft has an upgrade.
type Upgrade struct {
	Kind    string `cbor:"kind"`
	From    Hash   `cbor:"from"` // of the code that the actor must have
	Code    []byte `cbor:"code"`
	Migrate []byte `cbor:"migrate"` // the payload of the new code's migrate; empty: no arguments
	// End names the continuations that end when it applies, at most MaxUpgradeEnds.
	End []string `cbor:"end,omitempty"`
}

// MaxUpgradeEnds bounds the names of continuations that an upgrade ends. MaxContinuationName
// bounds the bytes of each.
const (
	MaxUpgradeEnds      = 32
	MaxContinuationName = 128
)

// ApplyUpgrade applies the upgrade that was announced, from its height on.
type ApplyUpgrade struct {
	Kind string `cbor:"kind"`
	From Hash   `cbor:"from"`
	To   Hash   `cbor:"to"` // of the announced code
}

// SetUpgradeTerms gives the actor at To other terms, and drops what was announced. A delay
// never becomes shorter.
type SetUpgradeTerms struct {
	Kind  string        `cbor:"kind"`
	Terms *UpgradeTerms `cbor:"terms"` // null: no upgrade any more, for good
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

// Instruction is a decoded payload: *Transfer, *Deploy, *Execute, *Upgrade,
// *ApplyUpgrade, *SetUpgradeTerms, *System or *Report.
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
	case KindUpgrade:
		in = new(Upgrade)
	case KindApply:
		in = new(ApplyUpgrade)
	case KindTerms:
		in = new(SetUpgradeTerms)
	default:
		return nil, fmt.Errorf("payload: kind %q is none of transfer, deploy, execute, system, runner, upgrade, apply_upgrade, "+
			"upgrade_terms", clipText([]byte(head.Kind)))
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
	switch in.(type) {
	case *Upgrade, *ApplyUpgrade, *SetUpgradeTerms:
		if tx.To == nil || !tx.Value.IsZero() {
			return nil, fmt.Errorf("payload of kind %s: want an actor's address in to, and no value", head.Kind)
		}
	}
	if e, ok := in.(*Execute); ok && e.Sponsor != nil && e.Sponsor.IsZero() {
		return nil, errors.New("payload of kind execute: a sponsor of 0 is left out")
	}
	return in, nil
}
