package oracle

import (
	"math/big"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// judgeFees judges the receipts of a block: each fee to the wei, if its price follows
// from only the block (decisions C14, T13, T27).
func (j *Judge) judgeFees(o *Observation) {
	c := newCharging(j, o)
	for i := range o.Receipts {
		c.judgeReceipt(i)
	}
	c.findUnpaid()
	c.cycles += j.chargeAgents(o, c.cycles, c.wrong)
	h := c.h
	if types.Cycles(c.cycles) != h.CyclesUsed || types.Cells(c.cells) != h.CellsUsed || types.Cycles(c.fires) != h.TimerCyclesUsed {
		c.wrong("receipts used %d cycles (fires %d) and %d cells, the header has %d (%d) and %d", c.cycles, c.fires, c.cells,
			h.CyclesUsed, h.TimerCyclesUsed, h.CellsUsed)
	}
}

// charging is the state of charge: the items of a block without a receipt yet, and the
// use of the judged ones.
type charging struct {
	*Judge
	o     *Observation
	h     *types.Header
	wrong func(format string, args ...any)

	txs   map[types.Hash]*types.Transaction
	fired map[types.TimerID]*types.TimerChange

	cycles, fires, cells uint64 // used, cycles of fires apart too
}

func newCharging(j *Judge, o *Observation) *charging {
	c := &charging{Judge: j, o: o, h: &o.Block.Header, txs: map[types.Hash]*types.Transaction{},
		fired: map[types.TimerID]*types.TimerChange{}}
	c.wrong = func(format string, args ...any) {
		j.reportViolation("fees", c.h.Height, types.Address{}, format, args...)
	}
	for i := range o.Block.Transactions {
		tx := &o.Block.Transactions[i]
		c.txs[keccak256(codec.Marshal(tx))] = tx
		to := tx.To
		if as := readImpersonation(tx); as != nil {
			to = as.To
		}
		j.supply.given = j.supply.given || to != nil && *to == types.TimerEscrow
	}
	for i := range o.Timers {
		if o.Timers[i].Status == types.TimerFired {
			c.fired[o.Timers[i].Timer.ID] = &o.Timers[i]
		}
	}
	return c
}

// judgeReceipt judges the receipt of an index.
func (c *charging) judgeReceipt(i int) {
	r := &c.o.Receipts[i]
	c.seen.Receipts++
	c.cycles, c.cells = c.cycles+uint64(r.Cycles), c.cells+uint64(r.Cells)
	if r.Height != c.h.Height || int(r.Index) != i {
		c.wrong("receipt %d says it is %d of height %d", i, r.Index, r.Height)
	}
	if r.Fee.Less(r.Tip) {
		c.wrong("receipt %d has a tip of %s in a fee of %s", i, r.Tip, r.Fee)
		return
	}
	c.supply.burned.Add(&c.supply.burned, r.Fee.Sub(r.Tip).Big())
	switch r.Origin {
	case types.OriginTransaction:
		tx := c.txs[r.Hash]
		if tx == nil {
			c.wrong("receipt %d matches no transaction of the block, or one that already has a receipt: %s", i, r.Hash)
			return
		}
		delete(c.txs, r.Hash)
		c.chargeTransaction(c.h, tx, r, c.wrong)
		c.sponsors.noteConsent(tx, r)
	case types.OriginTimer:
		c.fires += uint64(r.Cycles)
		fire := c.fired[r.Hash]
		if fire == nil {
			c.wrong("receipt %d matches no fire of a timer, or one that already has a receipt: %s", i, r.Hash)
			return
		}
		delete(c.fired, r.Hash)
		c.chargeFire(c.o, fire, r, c.wrong)
		c.sponsors.judgeSponsoredFire(fire, c.wrong)
	case types.OriginMessage:
		if !r.Tip.IsZero() {
			c.wrong("the delivery %s paid a tip of %s", r.Hash, r.Tip)
		}
	default:
		c.wrong("receipt %d has the origin %q", i, r.Origin)
	}
}

// findUnpaid finds the transactions and the fires that have no receipt.
func (c *charging) findUnpaid() {
	for i := range c.o.Block.Transactions {
		hash := keccak256(codec.Marshal(&c.o.Block.Transactions[i]))
		if c.txs[hash] != nil {
			c.wrong("transaction %s has no receipt", hash)
		}
	}
	for i := range c.o.Timers {
		if id := c.o.Timers[i].Timer.ID; c.fired[id] != nil {
			c.wrong("the fire of %s has no receipt", id)
		}
	}
}

// chargeTransaction judges a transaction's fee: for each cycle and cell used
// the base fee, and the tip that fits under the maximum.
func (j *Judge) chargeTransaction(h *types.Header, tx *types.Transaction, r *types.Receipt, wrong func(string, ...any)) {
	if j.reportOf(tx) != nil {
		if !r.Fee.IsZero() || !r.Tip.IsZero() {
			wrong("the runner transaction %s, which is free, paid %s", r.Hash, r.Fee)
		}
		return
	}
	cycle, cell := tipAbove(tx.MaxFeePerCycle, tx.MaxPriorityFeePerCycle, h.BaseFeeCycle),
		tipAbove(tx.MaxFeePerCell, tx.MaxPriorityFeePerCell, h.BaseFeeCell)
	if cycle.Sign() < 0 || cell.Sign() < 0 {
		wrong("transaction %s is in a block whose base fees exceed its maxima", r.Hash)
		return
	}
	tips := new(big.Int).Add(multiplyPrice(cycle, uint64(r.Cycles)), multiplyPrice(cell, uint64(r.Cells)))
	fee := new(big.Int).Add(multiplyPrice(h.BaseFeeCycle.Big(), uint64(r.Cycles)), multiplyPrice(h.BaseFeeCell.Big(), uint64(r.Cells)))
	fee.Add(fee, tips)
	if r.Status == types.StatusHostFailed { // all of its limits, all burned (decision C18)
		tips = new(big.Int)
		if r.Cycles != tx.CyclesLimit || r.Cells != tx.CellsLimit {
			wrong("transaction %s, over which enough hosts failed, is charged %d cycles and %d cells; its limits are %d and %d",
				r.Hash, r.Cycles, r.Cells, tx.CyclesLimit, tx.CellsLimit)
		}
	}
	if r.Fee.Big().Cmp(fee) != 0 || r.Tip.Big().Cmp(tips) != 0 {
		wrong("transaction %s with %d cycles and %d cells paid %s, tip %s; want %s, tip %s",
			r.Hash, r.Cycles, r.Cells, r.Fee, r.Tip, fee, tips)
	}
	if r.Cycles > tx.CyclesLimit || r.Cells > tx.CellsLimit {
		wrong("transaction %s used %d cycles and %d cells of %d and %d", r.Hash, r.Cycles, r.Cells, tx.CyclesLimit, tx.CellsLimit)
	}
}

// chargeAgents judges what gas bidding agents used, which no receipt shows: the
// rest of the block's cycles, only under policies that ask, within their budget,
// and burned at the cycle base fee (decision T15). It returns that rest.
func (j *Judge) chargeAgents(o *Observation, shown uint64, wrong func(string, ...any)) uint64 {
	h := &o.Block.Header
	if uint64(h.CyclesUsed) <= shown || o.Lane.Policy != eip1559 && o.Lane.Policy != firstRevision || j.hasFreeFires(o) {
		return 0
	}
	asked := uint64(h.CyclesUsed) - shown
	if types.Cycles(asked) > o.Lane.AskBudget {
		wrong("%d cycles of the block are in no receipt; agents may use %d", asked, o.Lane.AskBudget)
	}
	j.seen.Asked++
	j.supply.burned.Add(&j.supply.burned, multiplyPrice(h.BaseFeeCycle.Big(), asked))
	return asked
}

// chargeFire judges a fire's fee: the cycle base fee, under eip1559 also the
// lane's, and the cell base fee. It also judges the proposer's share, which is a
// tip per cycle under eip1559 and the first revision, and the payment of an auction
// (decisions T12, T13, T23, T24, T27).
func (j *Judge) chargeFire(o *Observation, c *types.TimerChange, r *types.Receipt, wrong func(string, ...any)) {
	h, l := &o.Block.Header, &o.Lane
	fee, tips := new(big.Int), new(big.Int)
	if !j.hasFreeFires(o) {
		fee.Add(multiplyPrice(h.BaseFeeCycle.Big(), uint64(r.Cycles)), multiplyPrice(h.BaseFeeCell.Big(), uint64(r.Cells)))
		switch {
		case l.Policy == eip1559:
			fee.Add(fee, multiplyPrice(l.lanePrice(h), uint64(r.Cycles)))
			tips = multiplyPrice(c.Priority.Big(), uint64(r.Cycles))
			j.judgeTip(l.lanePrice(h), c, wrong)
		case l.Policy == firstRevision:
			tips = multiplyPrice(c.Priority.Big(), uint64(r.Cycles))
			j.judgeTip(h.BaseFeeCycle.Big(), c, wrong)
		case l.isAuction():
			tips = r.Tip.Big()
			j.judgePayment(l, c, r, wrong)
		}
	}
	fee.Add(fee, tips)
	if r.Fee.Big().Cmp(fee) != 0 || r.Tip.Big().Cmp(tips) != 0 {
		wrong("the fire of %s with %d cycles and %d cells paid %s, tip %s; want %s, tip %s", r.Hash, r.Cycles, r.Cells, r.Fee, r.Tip, fee, tips)
	}
	if c.FeePaid != r.Fee || c.TipPaid != r.Tip || c.CyclesUsed != r.Cycles || c.CellsUsed != r.Cells || c.Result != r.Status {
		wrong("the fire of %s: used %d cycles and %d cells for %s, tip %s, and ended %s; receipt: %d, %d, %s, %s and %s", r.Hash,
			c.CyclesUsed, c.CellsUsed, c.FeePaid, c.TipPaid, c.Result, r.Cycles, r.Cells, r.Fee, r.Tip, r.Status)
	}
}

// lanePrice is what a cycle of a fire pays for the lane: its base fee times the
// multiplier, rounded down.
func (l *LaneRules) lanePrice(h *types.Header) *big.Int {
	price := multiplyPrice(h.BaseFeeLaneTimer.Big(), l.FeePermille)
	return price.Quo(price, big.NewInt(1000))
}

// judgeTip judges a tip against what the timer states: never above its maximum
// priority, nor above what its maximum fee leaves over the base fee; exactly the
// lesser where it states both. Blocks do not show agents' answers.
func (j *Judge) judgeTip(base *big.Int, c *types.TimerChange, wrong func(string, ...any)) {
	known := j.timers.pending[c.Timer.ID]
	if known == nil {
		return // age accuses it
	}
	t, paid := &known.timer, c.Priority.Big()
	var most *big.Int
	if t.MaxFeePerCycle != nil {
		if most = new(big.Int).Sub(t.MaxFeePerCycle.Big(), base); most.Sign() < 0 {
			wrong("timer %s, whose maximum is %s a cycle, fired at a base fee of %s", t.ID, t.MaxFeePerCycle, base)
			return
		}
	}
	if p := t.MaxPriorityFeePerCycle; p != nil && (most == nil || p.Big().Cmp(most) < 0) {
		most = p.Big()
	}
	both := t.MaxFeePerCycle != nil && t.MaxPriorityFeePerCycle != nil
	if most != nil && (paid.Cmp(most) > 0 || both && paid.Cmp(most) != 0) {
		wrong("timer %s tips %s a cycle; its stated terms give %s", t.ID, paid, most)
	}
}

// judgePayment judges an auction's payment: at most the bid, and the bid itself where
// the first price is paid; at least the reserve price where the bid reaches it.
func (j *Judge) judgePayment(l *LaneRules, c *types.TimerChange, r *types.Receipt, wrong func(string, ...any)) {
	known := j.timers.pending[c.Timer.ID]
	if known == nil {
		return // age accuses it
	}
	bid := known.timer.Bid
	if bid.Less(r.Tip) || r.Tip.Less(l.Reserve.Min(bid)) || l.Policy == firstPrice && r.Tip != bid {
		wrong("timer %s, which bid %s, won and paid %s; the reserve price is %s", r.Hash, bid, r.Tip, l.Reserve)
	}
}

// tipAbove is the lesser of the priority and what the maximum leaves above the base
// fee; below zero where the base fee exceeds the maximum.
func tipAbove(maximum, priority, base types.Wei) *big.Int {
	room := new(big.Int).Sub(maximum.Big(), base.Big())
	if p := priority.Big(); p.Cmp(room) < 0 {
		return p
	}
	return room
}

func multiplyPrice(price *big.Int, n uint64) *big.Int {
	return new(big.Int).Mul(price, new(big.Int).SetUint64(n))
}

// hasFreeFires reports whether the fires of a block cost nothing: only under fifo (decision
// T2).
func (j *Judge) hasFreeFires(o *Observation) bool { return j.rules.FreeFees && o.Lane.Policy == fifo }
