package ledger

import (
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// relayed has an actor that sends, and what it sends to.
func relayed(t *testing.T, overrides params.Overrides) *world {
	w := newWorld(t, overrides)
	w.block(w.deploy("alice", "relay", "r", 100_000_000_000), w.deploy("alice", "counter", "c", 0))
	w.ok()
	return w
}

// send makes the relay send n increments with a limit of cycles each, next to other
// transactions.
func (w *world) send(n int, cycles uint64, others ...*Checked) {
	order := samples.Order{Target: w.address("c"), Handler: "increment", Cycles: types.Cycles(cycles), Cells: 100}
	for range n {
		others = append(others, w.call("bob", "r", "send", order.Encode()))
	}
	w.block(others...)
	w.ok()
}

func (w *world) waiting() (messages []*actors.Message) {
	w.head.Messages(func(m *actors.Message) bool {
		messages = append(messages, m)
		return true
	})
	return messages
}

// C16: a delivery costs its use at the prices of the block that sent it, and the
// rest of the payment is refunded, once; also if its limit exceeds what a block has
// by then.
func TestC16ADeliveryIsChargedAtItsPrepaidPricesAndRefundedOnce(t *testing.T) {
	w := relayed(t, nil)
	for _, clamped := range []bool{false, true} {
		var others []*Checked
		if clamped {
			others = append(others, w.instruct(governance.OpSetParameter, &governance.SetParameter{Key: "cip3.lane_system_cycles", Value: "100000"}))
		}
		w.send(1, 3_000_000, others...)
		m, before := w.waiting()[0], w.balance("r")
		w.block()
		var receipt *types.Receipt
		for i := range w.last.Receipts {
			if w.last.Receipts[i].Origin == types.OriginMessage {
				receipt = &w.last.Receipts[i]
			}
		}
		if receipt == nil || receipt.Status != types.StatusOK {
			t.Fatalf("it is not delivered: %+v", receipt)
		}
		if limit := w.head.Params().LaneSystemCycles; clamped != (m.Cycles > limit) {
			t.Fatalf("a limit of %d cycles, and a lane of %d", m.Cycles, limit)
		}
		if w.last.Block.Header.BaseFeeCycle == m.PriceCycle {
			t.Fatal("the base fee did not change since the sending block, so that this shows nothing")
		}
		cost := m.PriceCycle.Mul(uint64(receipt.Cycles)).Add(m.PriceCell.Mul(uint64(receipt.Cells)))
		if receipt.Fee != cost {
			t.Errorf("clamped %v: its fee is %s; its use cost %s when it was paid", clamped, receipt.Fee, cost)
		}
		if back, want := w.balance("r").Sub(before), m.Prepaid().Sub(cost); back != want {
			t.Errorf("clamped %v: %s wei were refunded of %s; that is not the rest, %s", clamped, back, m.Prepaid(), want)
		}
	}
}

// C16, CIP-3: what deliveries use beyond the system lane is taken from the user
// lane, and counts.
func TestC16DeliveriesBeyondTheSystemLaneCount(t *testing.T) {
	w := relayed(t, params.Overrides{"cip3.lane_system_cycles": "500"})
	w.send(3, 400)
	w.block()
	used := types.Cycles(0)
	for i := range w.last.Receipts {
		used += w.last.Receipts[i].Cycles
	}
	if len(w.last.Receipts) != 3 || used <= 500 {
		t.Fatalf("%d deliveries used %d cycles, not more than the lane has", len(w.last.Receipts), used)
	}
	if counted := w.last.Block.Header.CyclesUsed; counted != used {
		t.Errorf("%d cycles are counted of the %d that deliveries used", counted, used)
	}
}
