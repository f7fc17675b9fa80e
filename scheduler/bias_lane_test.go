package scheduler

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// auctionHeight replaces the vectors' height 500, before which no timer could have
// waited a thousand blocks.
const auctionHeight = 1 << 30

// possible reports whether each timer's n is its height's distance, as on a
// chain it is.
func (c *auctionCase) possible() bool {
	return !slices.ContainsFunc(c.Timers, func(v auctionTimer) bool { return v.Height+int64(v.N) != 500 })
}

// pending puts the timers of a case into state and their bids into the escrow.
func (c *auctionCase) pending(t *testing.T, w *world) *InBlock {
	t.Helper()
	rate, ok := fixedOf(t, c.Lambda)
	if !ok {
		t.Fatalf("%s: λ %s", c.Name, c.Lambda)
	}
	w.p.LaneTimerCycles, w.p.MaxFiresPerBlock, w.p.MaxFiresPerActor = types.Cycles(c.Budget), c.Fires, c.Actor
	w.p.BiasReservePrice, w.p.MaxCellsPerFire, w.fees = c.Reserve, 0, Fees{}
	block := w.at(auctionHeight)
	writeControl(block.KV, &control{Rate: rate})
	for _, v := range c.Timers {
		timer := types.Timer{ID: types.Keccak([]byte(strconv.Itoa(int(v.Seq)))), Actor: v.Actor, FeePayer: v.Actor,
			Height: auctionHeight - types.Height(v.N), GasLimit: types.Cycles(v.Limit), ExpiresAt: 1 << 40, Bid: v.Bid, Seq: types.Seq(v.Seq)}
		block.insertTimer(&timer, block.placeOf(&timer))
		own := readTally(w.kv, v.Actor)
		writeTally(w.kv, v.Actor, tally{Pending: own.Pending + 1, Nonce: own.Nonce + 1})
	}
	return block
}

// The whole lane is asked, by each payment rule.
func TestVectorsOfAuctions(t *testing.T) {
	for _, c := range vectors.Cases[auctionCase](t, "cip5/9.5-auction.json") {
		if !c.possible() {
			continue // TestVectorsOfAuctionOrders has it
		}
		for _, rule := range []struct{ policy, payment string }{
			{BiasVCG, "runner_up"}, {BiasVCG, PaymentPerCycle}, {BiasFirstPrice, "runner_up"},
		} {
			w := newWorld()
			w.p.Policy, w.p.BiasPayment = rule.policy, rule.payment
			w.fund(types.TimerEscrow, types.MaxWei)
			out, err := c.pending(t, w).RunLane(LaneHost{CellsLeft: w.cells, Fire: w.fire})
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, o := range w.orders {
				got = append(got, fmt.Sprintf("%d for %s", o.Timer.Seq, o.Payment))
			}
			for _, v := range c.Winners {
				paid := v.AsWritten
				if rule.policy == BiasFirstPrice {
					paid = v.FirstPrice
				} else if rule.payment == PaymentPerCycle {
					paid = v.PerCycle
				}
				want = append(want, fmt.Sprintf("%d for %s", v.Seq, paid))
			}
			waiting := make(map[types.Seq]string)
			for _, change := range out.Changes {
				if change.Status == types.TimerPending {
					waiting[change.Timer.Seq] = change.Reason
				}
			}
			for _, v := range c.LeftOut {
				if waiting[types.Seq(v.Seq)] != v.Reason {
					t.Errorf("%s, %s: %d waits for %q, want %q", c.Name, rule.policy, v.Seq, waiting[types.Seq(v.Seq)], v.Reason)
				}
			}
			if !slices.Equal(got, want) || len(waiting) != len(c.LeftOut) {
				t.Errorf("%s, %s %s: %v win and %d wait, want %v and %d", c.Name, rule.policy, rule.payment, got, len(waiting), want, len(c.LeftOut))
			}
		}
	}
}
