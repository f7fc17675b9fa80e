package oracle

import (
	"math/big"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// supply is what the fees oracle says was burned, in wei.
type supply struct {
	burned     big.Int      // by receipts, up to the tip
	lastHeight types.Height // at which Money was seen last
	last       big.Int      // the chain's own count of burned fees, at that time
	lastOwn    big.Int      // ours, then
	given      bool         // a transaction went to the escrow of bids
	set        big.Int      // by which balances that were set changed the supply
}

// judgeSupply judges the money after a block (decision C15), and that the chain counted
// as burned what was paid in fees less tips.
func (j *Judge) judgeSupply(h types.Height, m *Money) {
	j.seen.Summed++
	held := new(big.Int)
	for _, amounts := range [][]types.Wei{m.Balances, m.Escrows} {
		for _, wei := range amounts {
			held.Add(held, wei.Big())
		}
	}
	made := new(big.Int).Add(j.rules.Supply.Big(), m.Minted.Big())
	made.Sub(made, m.Burned.Big()).Sub(made, m.Removed.Big())
	if made.Cmp(held) != 0 {
		j.reportViolation("supply", h, types.Address{}, "genesis %s + minted %s - burned %s - removed %s = %s, and balances and escrows hold %s",
			j.rules.Supply, m.Minted, m.Burned, m.Removed, made, held)
	}
	j.judgeSupplyChange(h, m)
	j.judgeBurnCount(h, m)
	j.judgeEscrow(h, m)
}

// judgeEscrow judges that the escrow holds exactly the bids of the pending timers,
// unless an account sent more to it (CIP-5 §9.7). Money of a height that was passed
// already cannot be compared with the timers.
func (j *Judge) judgeEscrow(h types.Height, m *Money) {
	if h != j.tip {
		return
	}
	bids := new(big.Int)
	for _, l := range j.timers.pending {
		bids.Add(bids, l.timer.Bid.Big())
	}
	if c := m.Bids.Big().Cmp(bids); c < 0 || c > 0 && !j.supply.given {
		j.reportViolation("supply", h, types.Address{}, "the bids of pending timers are %s, and %s are locked", bids, m.Bids)
	}
}

// judgeBurnCount judges the chain's count of burned fees since the last time. Money of a
// height that was passed already cannot be compared with it.
func (j *Judge) judgeBurnCount(h types.Height, m *Money) {
	if h != j.tip {
		return
	}
	s := &j.supply
	burned := m.Burned.Big()
	chain, own := new(big.Int).Sub(burned, &s.last), new(big.Int).Sub(&s.burned, &s.lastOwn)
	if chain.Cmp(own) != 0 {
		j.reportViolation("supply", h, types.Address{},
			"since height %d the chain burned %s, and its receipts and timers paid %s in fees less tips",
			s.lastHeight, chain, own)
	}
	s.lastHeight = h
	s.last.Set(burned)
	s.lastOwn.Set(&s.burned)
}
