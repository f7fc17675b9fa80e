package ledger

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// writtenOfTimers is the bytes of keys and values under t/ that the last block
// wrote. If nothing is due, its transactions wrote them.
func (w *world) writtenOfTimers() (cells types.Cells) {
	for _, c := range w.last.Changes {
		if c.Key[0] == 't' && c.Value != nil && string(c.Key) != "t/m" { // the cursor belongs to maintenance
			cells += types.Cells(len(c.Key) + len(c.Value))
		}
	}
	return cells
}

// CIP-5 §6.1, decision T29: what a timer keeps in state is paid for, byte by byte,
// when it is scheduled and when it is extended. A transaction is charged, besides
// its own payload, for the bytes that it wrote.
func TestT29SchedulingAndExtendingPayForEveryByteTheyWrite(t *testing.T) {
	w := newWorld(t, params.Overrides{"cip1.policy": scheduler.EIP1559})
	w.block(w.deploy("alice", "storm", "st", types.CBY), w.deploy("alice", "heartbeat", "hb", types.CBY), w.deploy("alice", "bidder", "b", 0))
	bidder, bob, sponsor := w.address("b"), w.address("bob"), types.WeiOf(types.CBY)
	var plain types.Cells
	for i, order := range []string{
		`{"count":1,"in":40}`,
		`{"count":1,"in":40,"handler":"one"}`,
		fmt.Sprintf(`{"count":1,"in":5000,"max_fee":"5000","priority":"77","gba":"%s"}`, bidder),
		fmt.Sprintf(`{"count":1,"in":2000000,"fee_payer":"%s"}`, bob),
		fmt.Sprintf(`{"count":1,"in":1,"watch":{"actor":"%s","key":"0x6e"}}`, bidder),
	} {
		c := w.sponsored("bob", "st", "make", []byte(order), &sponsor)
		w.block(c)
		w.ok()
		wrote, charged := w.writtenOfTimers(), w.last.Receipts[0].Cells-types.Cells(len(c.Tx.Payload))
		if wrote == 0 || charged != wrote {
			t.Errorf("%s: it wrote %d bytes and was charged %d cells", order, wrote, charged)
		}
		if i == 0 {
			plain = wrote
		} else if wrote <= plain {
			t.Errorf("%s writes %d bytes, a plain timer %d", order, wrote, plain)
		}
	}
	w.block(w.call("alice", "hb", "start", samples.Number(50)))
	extend := w.call("alice", "hb", "extend", samples.Number(2_592_008))
	w.block(extend)
	w.ok()
	if wrote, charged := w.writtenOfTimers(), w.last.Receipts[0].Cells-types.Cells(len(extend.Tx.Payload)); wrote == 0 || charged != wrote {
		t.Errorf("extending wrote %d bytes and was charged %d cells", wrote, charged)
	}
}

// A handler whose cells do not hold what it scheduled ends, and nothing is kept.
func TestT29WhoCannotPayForATimersBytesKeepsNone(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "storm", "st", types.CBY))
	c := w.call("bob", "st", "make", []byte(`{"count":1,"in":40}`))
	c.Tx.CellsLimit = types.Cells(len(c.Tx.Payload)) + 150
	w.block(w.checked("bob", c.Tx))
	if r := w.last.Receipts[0]; r.Status != types.StatusOutOfCells || len(w.head.Timers(w.address("st"))) != 0 {
		t.Errorf("%s %v, %d timers", r.Status, r.Error, len(w.head.Timers(w.address("st"))))
	}
	if len((reader{w.head.tree}).Get([]byte("t/s"))) != 0 || actors.ActorOf(reader{w.head.tree}, w.address("st")) == nil {
		t.Error("something of it was kept")
	}
}

// Decision T30: governance cannot stop every timer by parameters that are legal
// one by one, and is told which and the bound.
func TestT30ParametersThatStopEveryTimerAreRefusedTogether(t *testing.T) {
	w := newWorld(t, params.Overrides{"cip1.policy": scheduler.EIP1559})
	for key, c := range map[string]struct{ value, want string }{
		"cip3.block_cells_limit": {"500000", "cip5.max_cells_per_fire is 550000, more than cip3.block_cells_limit, 500000"},
		"cip1.lane_timer_cycles": {"200000", "cip1.max_cycles_per_fire_auction_phase is 250000, more than cip1.lane_timer_cycles, 200000"},
		"cip3.cycles_actor_call": {"2000", "cip3.cycles_actor_call is 2000, more than cip1.min_gas_limit, 1000"},
	} {
		w.block(w.instruct(64, &struct {
			Key    string       `cbor:"key"`
			Value  string       `cbor:"value"`
			Height types.Height `cbor:"height"`
		}{key, c.value, 0}))
		if r := w.last.Receipts[0]; r.Error == nil || !strings.Contains(r.Error.Message, c.want) {
			t.Errorf("%s: %s %v, want %q", key, r.Status, r.Error, c.want)
		}
		g := w.genesis
		g.Params = params.Overrides{"cip1.policy": scheduler.EIP1559, key: c.value}
		if _, err := g.Parameters(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("genesis with %s: %v", key, err)
		}
	}
}
