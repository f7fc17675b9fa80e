package oracle

import (
	"math/big"

	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/types"
)

// charge judges the receipts of a block: each fee to the wei, where its price is
// known from the block alone (decisions C14, T13, T27).
func (j *Judge) charge(o *Observation) {
	h := &o.Block.Header
	wrong := func(format string, args ...any) {
		j.report("fees", h.Height, types.Address{}, format, args...)
	}
	txs := map[types.Hash]*types.Transaction{}
	for i := range o.Block.Transactions {
		txs[keccak(codec.Marshal(&o.Block.Transactions[i]))] = &o.Block.Transactions[i]
	}
	var cycles, fires, cells uint64
	for i := range o.Receipts {
		r := &o.Receipts[i]
		j.seen.Receipts++
		cycles, cells = cycles+uint64(r.Cycles), cells+uint64(r.Cells)
		if r.Height != h.Height || int(r.Index) != i {
			wrong("receipt %d says it is %d of height %d", i, r.Index, r.Height)
		}
		if r.Fee.Less(r.Tip) {
			wrong("receipt %d has a tip of %s in a fee of %s", i, r.Tip, r.Fee)
			continue
		}
		j.supply.burned.Add(&j.supply.burned, r.Fee.Sub(r.Tip).Big())
		switch r.Origin {
		case types.OriginTransaction:
			tx := txs[r.Hash]
			if tx == nil {
				wrong("receipt %d is of no transaction of the block, or of one that has a receipt: %s", i, r.Hash)
				continue
			}
			delete(txs, r.Hash)
			j.chargeTransaction(h, tx, r, wrong)
		case types.OriginTimer:
			fires += uint64(r.Cycles)
			j.chargeFire(h, r, wrong)
		case types.OriginMessage:
			if !r.Tip.IsZero() {
				wrong("the delivery %s paid a tip of %s", r.Hash, r.Tip)
			}
		default:
			wrong("receipt %d has the origin %q", i, r.Origin)
		}
	}
	for i := range o.Block.Transactions {
		hash := keccak(codec.Marshal(&o.Block.Transactions[i]))
		if txs[hash] != nil {
			wrong("transaction %s has no receipt", hash)
		}
	}
	if types.Cycles(cycles) != h.CyclesUsed || types.Cells(cells) != h.CellsUsed || types.Cycles(fires) != h.TimerCyclesUsed {
		wrong("its receipts used %d cycles (fires %d) and %d cells, the header says %d (%d) and %d", cycles, fires, cells,
			h.CyclesUsed, h.TimerCyclesUsed, h.CellsUsed)
	}
}

// chargeTransaction judges a transaction's fee: for each cycle and cell used
// the base fee, and the tip that fits under the maximum.
func (j *Judge) chargeTransaction(h *types.Header, tx *types.Transaction, r *types.Receipt, wrong func(string, ...any)) {
	cycle, cell := tip(tx.MaxFeePerCycle, tx.MaxPriorityFeePerCycle, h.BaseFeeCycle), tip(tx.MaxFeePerCell, tx.MaxPriorityFeePerCell, h.BaseFeeCell)
	if cycle.Sign() < 0 || cell.Sign() < 0 {
		wrong("transaction %s is in a block whose base fees exceed its maxima", r.Hash)
		return
	}
	tips := new(big.Int).Add(times(cycle, uint64(r.Cycles)), times(cell, uint64(r.Cells)))
	fee := new(big.Int).Add(times(h.BaseFeeCycle.Big(), uint64(r.Cycles)), times(h.BaseFeeCell.Big(), uint64(r.Cells)))
	fee.Add(fee, tips)
	if r.Fee.Big().Cmp(fee) != 0 || r.Tip.Big().Cmp(tips) != 0 {
		wrong("transaction %s with %d cycles and %d cells paid %s, tip %s; want %s, tip %s",
			r.Hash, r.Cycles, r.Cells, r.Fee, r.Tip, fee, tips)
	}
	if r.Cycles > tx.CyclesLimit || r.Cells > tx.CellsLimit {
		wrong("transaction %s used %d cycles and %d cells of %d and %d", r.Hash, r.Cycles, r.Cells, tx.CyclesLimit, tx.CellsLimit)
	}
}

// chargeFire judges a fire's fee under fifo: base fees and no tip.
func (j *Judge) chargeFire(h *types.Header, r *types.Receipt, wrong func(string, ...any)) {
	fee := new(big.Int)
	if !j.rules.FreeFees {
		fee.Add(times(h.BaseFeeCycle.Big(), uint64(r.Cycles)), times(h.BaseFeeCell.Big(), uint64(r.Cells)))
	}
	if r.Fee.Big().Cmp(fee) != 0 || !r.Tip.IsZero() {
		wrong("the fire of %s with %d cycles and %d cells paid %s, tip %s; want %s, tip 0", r.Hash, r.Cycles, r.Cells, r.Fee, r.Tip, fee)
	}
}

// tip is the lesser of the priority and what the maximum leaves above the base
// fee; below zero where the base fee exceeds the maximum.
func tip(maximum, priority, base types.Wei) *big.Int {
	room := new(big.Int).Sub(maximum.Big(), base.Big())
	if p := priority.Big(); p.Cmp(room) < 0 {
		return p
	}
	return room
}

func times(price *big.Int, n uint64) *big.Int {
	return new(big.Int).Mul(price, new(big.Int).SetUint64(n))
}
