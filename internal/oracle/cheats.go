package oracle

import (
	"math/big"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The opcodes of cheats that move money.
const (
	opSetBalance  = 80
	opImpersonate = 82
)

// impersonationEffect is what a transaction of the system key does in another's name.
type impersonationEffect struct {
	From    types.Address    `cbor:"from"`
	To      *types.Address   `cbor:"to"`
	Value   types.Wei        `cbor:"value"`
	Payload codec.RawMessage `cbor:"payload"`
}

// balanceSet is a balance that an instruction set, and what the account held before.
type balanceSet struct {
	Address types.Address `cbor:"address"`
	Before  types.Wei     `cbor:"before"`
	After   types.Wei     `cbor:"after"`
}

// instructionOf is the opcode and the arguments of an instruction of the system key; 0
// of every other transaction.
func instructionOf(tx *types.Transaction) (opcode uint16, args codec.RawMessage) {
	var in types.System
	if codec.Unmarshal(tx.Payload, types.MaxTransactionBytes, &in) != nil || in.Kind != types.KindSystem {
		return 0, nil
	}
	return in.Opcode, in.Args
}

// readImpersonation reads a transaction as one in another's name; nil if it is not.
func readImpersonation(tx *types.Transaction) *impersonationEffect {
	opcode, args := instructionOf(tx)
	as := new(impersonationEffect)
	if opcode != opImpersonate || codec.Unmarshal(args, types.MaxTransactionBytes, as) != nil {
		return nil
	}
	return as
}

// setBalance counts a balance that an executed instruction set (decision G2): the
// account gains the difference, and so does the supply.
func (j *Judge) setBalance(tx *types.Transaction, r *types.Receipt, m *moves, wrong func(string, ...any)) {
	opcode, args := instructionOf(tx)
	if opcode != opSetBalance {
		return
	}
	var asked struct {
		Address types.Address `cbor:"address"`
		Balance types.Wei     `cbor:"balance"`
	}
	var told balanceSet
	if codec.Unmarshal(args, types.MaxTransactionBytes, &asked) != nil || len(r.Events) != 1 || r.Events[0].Name != "balance.set" ||
		codec.Unmarshal(r.Events[0].Data, types.MaxTransactionBytes, &told) != nil {
		wrong("the instruction %s set a balance, and its receipt does not show which", r.Hash)
		return
	}
	if told.Address != asked.Address || told.After != asked.Balance {
		wrong("the instruction %s sets the balance of %s to %s; by its event that of %s became %s", r.Hash, asked.Address, asked.Balance,
			told.Address, told.After)
	}
	change := new(big.Int).Sub(told.After.Big(), told.Before.Big())
	m.addTo(told.Address, change)
	j.supply.set.Add(&j.supply.set, change)
}

// judgeSupplyChange judges the chain's count of the supply that set balances made or removed.
// Money of a height that was passed already cannot be compared with it.
func (j *Judge) judgeSupplyChange(h types.Height, m *Money) {
	if h != j.tip || j.rules.Accounts == nil {
		return
	}
	if chain := new(big.Int).Sub(m.Minted.Big(), m.Removed.Big()); chain.Cmp(&j.supply.set) != 0 {
		j.reportViolation("supply", h, types.Address{}, "the chain minted %s and removed %s, and instructions set balances by %s in all",
			m.Minted,
			m.Removed, &j.supply.set)
	}
}
