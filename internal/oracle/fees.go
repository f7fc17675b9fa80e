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
	changes := map[types.TimerID]*types.TimerChange{}
	for i := range o.Timers {
		if o.Timers[i].Status == types.TimerFired {
			changes[o.Timers[i].Timer.ID] = &o.Timers[i]
		}
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
			j.chargeFire(o, r, changes[r.Hash], wrong)
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
	cycles += o.Lane.AskCycles
	j.supply.burned.Add(&j.supply.burned, times(h.BaseFeeCycle.Big(), o.Lane.AskCycles))
	if types.Cycles(cycles) != h.CyclesUsed || types.Cells(cells) != h.CellsUsed || types.Cycles(fires) != h.TimerCyclesUsed {
		wrong("its receipts and agents used %d cycles (fires %d) and %d cells, the header says %d (%d) and %d", cycles, fires, cells,
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

// chargeFire judges a fire's fee: base fees, the lane's under eip1559, and the
// tip that the policy has for it (CIP-1 §3 step 8, CIP-5 §9.5, decisions T13,
// T23, T24, T27).
func (j *Judge) chargeFire(o *Observation, r *types.Receipt, c *types.TimerChange, wrong func(string, ...any)) {
	h := &o.Block.Header
	if c == nil {
		wrong("the receipt of timer %s is of no fire", r.Hash)
		return
	}
	perCycle, tips := h.BaseFeeCycle.Big(), new(big.Int)
	switch o.Lane.Policy {
	case "eip1559":
		lane := times(h.BaseFeeLaneTimer.Big(), o.Lane.FeePermille)
		lane.Div(lane, big.NewInt(1000))
		perCycle.Add(perCycle, lane)
		tips = times(c.Priority.Big(), uint64(r.Cycles))
		j.bounded(c, lane, wrong)
	case "gba":
		tips = times(c.Priority.Big(), uint64(r.Cycles))
	case "bias-vcg", "bias-first-price":
		tips = r.Tip.Big() // whatever it is, it is part of the bid
		if c.Timer.Bid.Less(r.Tip) {
			wrong("the fire of %s paid %s of a bid of %s", r.Hash, r.Tip, c.Timer.Bid)
		}
		if o.Lane.Policy == "bias-first-price" && r.Tip != c.Timer.Bid {
			wrong("the fire of %s paid %s, and bid %s", r.Hash, r.Tip, c.Timer.Bid)
		}
	}
	fee := new(big.Int).Set(tips)
	if j.rules.FreeFees {
		fee.SetInt64(0)
	} else {
		fee.Add(fee, times(perCycle, uint64(r.Cycles)))
		fee.Add(fee, times(h.BaseFeeCell.Big(), uint64(r.Cells)))
	}
	if r.Fee.Big().Cmp(fee) != 0 || !j.rules.FreeFees && r.Tip.Big().Cmp(tips) != 0 {
		wrong("the fire of %s with %d cycles and %d cells paid %s, tip %s; want %s, tip %s", r.Hash, r.Cycles, r.Cells, r.Fee, r.Tip, fee, tips)
	}
	if c.FeePaid != r.Fee || c.TipPaid != r.Tip || c.CyclesUsed != r.Cycles || c.CellsUsed != r.Cells {
		wrong("timer %s says it paid %s, tip %s, for %d and %d; its receipt says %s, %s, %d and %d", r.Hash,
			c.FeePaid, c.TipPaid, c.CyclesUsed, c.CellsUsed, r.Fee, r.Tip, r.Cycles, r.Cells)
	}
}

// bounded judges a priority by what its timer states (CIP-1 §3 step 6).
func (j *Judge) bounded(c *types.TimerChange, lane *big.Int, wrong func(string, ...any)) {
	t := &c.Timer
	if t.MaxFeePerCycle != nil && new(big.Int).Add(lane, c.Priority.Big()).Cmp(t.MaxFeePerCycle.Big()) > 0 {
		wrong("timer %s pays %s and a tip of %s a cycle, at most %s", t.ID, lane, c.Priority, t.MaxFeePerCycle)
	}
	if t.MaxPriorityFeePerCycle != nil && t.MaxPriorityFeePerCycle.Less(c.Priority) {
		wrong("timer %s tips %s a cycle, at most %s", t.ID, c.Priority, t.MaxPriorityFeePerCycle)
	}
	if t.MaxFeePerCycle == nil || t.MaxPriorityFeePerCycle == nil {
		return // its bidder's word counts too
	}
	want := new(big.Int).Sub(t.MaxFeePerCycle.Big(), lane)
	if p := t.MaxPriorityFeePerCycle.Big(); p.Cmp(want) < 0 {
		want = p
	}
	if c.Priority.Big().Cmp(want) != 0 {
		wrong("timer %s tips %s a cycle, and states %s", t.ID, c.Priority, want)
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
