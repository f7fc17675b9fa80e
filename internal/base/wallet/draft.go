package wallet

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// NonceTries is how often a devnet transaction is signed again after another
// transaction took its nonce.
const NonceTries = 8

// Limits of a transaction whose draft states none, on top of the cost of its
// payload and code.
const (
	DefaultCycles types.Cycles = 1_000_000
	DefaultCells  types.Cells  = 100_000
)

// Signer signs for one account.
type Signer interface {
	Address() types.Address
	Sign(digest types.Hash) types.Signature
}

// Offer is the chain and the prices that a transaction is signed for.
type Offer struct {
	ChainID                       uint64
	MaxFeePerCycle, MaxFeePerCell types.Wei
	TipPerCycle, TipPerCell       types.Wei // the most, to the proposer
}

// Times offers a multiple of base fees and no tip: twice them holds for five
// blocks of the steepest rise at least, four times for ten.
func Times(times uint64, chainID uint64, baseFeeCycle, baseFeeCell types.Wei) Offer {
	return Offer{ChainID: chainID, MaxFeePerCycle: baseFeeCycle.Mul(times), MaxFeePerCell: baseFeeCell.Mul(times)}
}

// Draft is a transaction before it has a nonce, fees and a signature.
type Draft struct {
	To      *types.Address // nil for a deploy or an instruction
	Value   types.Wei
	Cycles  *types.Cycles // nil: DefaultCycles, and 4 a byte of code that it brings
	Cells   *types.Cells  // nil: DefaultCells, and 2 a byte of payload
	Payload any           // encoded when it is signed; of a Deploy the salt is set then
}

// Sign completes a draft.
func (d Draft) Sign(o Offer, key Signer, nonce types.Nonce) *types.Transaction {
	code := 0
	if deploy, ok := d.Payload.(types.Deploy); ok {
		deploy.Salt, code = Salt(nonce), len(deploy.Code)
		d.Payload = deploy
	}
	if upgrade, ok := d.Payload.(types.Upgrade); ok {
		code = len(upgrade.Code)
	}
	payload := codec.RawMessage(codec.Marshal(d.Payload))
	tx := &types.Transaction{
		ChainID: o.ChainID, Nonce: nonce, To: d.To, Value: d.Value, Payload: payload,
		CyclesLimit:    orDefault(d.Cycles, DefaultCycles.Add(types.Cycles(4*code))),
		CellsLimit:     orDefault(d.Cells, DefaultCells.Add(types.Cells(2*len(payload)))),
		MaxFeePerCycle: o.MaxFeePerCycle, MaxFeePerCell: o.MaxFeePerCell,
		MaxPriorityFeePerCycle: o.TipPerCycle, MaxPriorityFeePerCell: o.TipPerCell,
	}
	signature := key.Sign(tx.SigningDigest())
	tx.Signature = &signature
	return tx
}

// Salt returns the salt of the deploy with a nonce. The address of an actor depends
// on deployer, salt and code: so one account can deploy one code many times.
func Salt(nonce types.Nonce) types.Hash {
	return types.Keccak([]byte("devnet/deploy"), binary.BigEndian.AppendUint64(nil, uint64(nonce)))
}

func orDefault[T any](given *T, otherwise T) T {
	if given != nil {
		return *given
	}
	return otherwise
}
