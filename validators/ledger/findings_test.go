package ledger

import (
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// CIP-1 promises actors to "weigh the urgency of their own scheduled tasks"; the
// context of §7.2 does not identify the task: not the timer, its handler, payload
// or limit. So an agent gives the same answer for an urgent and an idle task, and
// an actor with both must keep two agents and name one for each timer.
func TestFindingAnAgentCannotTellTasksApart(t *testing.T) {
	w := newWorld(t, params.Overrides{"cip1.policy": scheduler.EIP1559})
	host := &witness{}
	w.executor.Programs = host
	w.block(w.deploy("alice", "storm", "st", types.CBY), w.deploy("alice", "bidder", "b", types.CBY))
	w.block(w.call("alice", "b", "step", samples.Number(7)))
	bidder := w.address("b")
	w.block(w.call("alice", "st", "set_gas_bidder", bidder[:]),
		w.call("alice", "st", "make", []byte(`{"count":1,"in":1,"gas_limit":2000,"use":1500}`)), // urgent
		w.call("alice", "st", "make", []byte(`{"count":1,"in":1,"gas_limit":9000,"use":10}`)))   // not at all
	w.ok()
	host.messages = nil
	w.block()
	asked := 0 // once when the block is built, once when it is applied
	for _, m := range host.messages {
		if m.Kind == program.Read && m.Handler == program.BidHandler {
			asked++
		}
	}
	fires := w.fired()
	if asked != 2 || len(fires) != 2 || fires[0].Priority != fires[1].Priority || fires[0].Priority != types.WeiOf(7) {
		t.Errorf("asked %d times, fires %+v", asked, fires)
	}
}

// By CIP-1 §7 the protocol calls an agent for each due timer, without a rule on the
// cost; §9 and CIP-3 give every cycle of a block to a lane already. With T15's
// budget the calls of a full block are still on top of its limit.
func TestFindingAgentsAreCalledBesideTheBlocksLimit(t *testing.T) {
	w := newWorld(t, params.Overrides{"cip1.policy": scheduler.EIP1559, "cip3.block_cycles_limit": "62000", "cip3.lane_user_cycles": "50000",
		"cip3.lane_runner_cycles": "0", "cip3.lane_system_cycles": "0", "cip1.lane_timer_cycles": "12000", "cip5.max_cycles_per_fire": "12000"})
	limited := func(c *Checked) *Checked {
		c.Tx.CyclesLimit = 10_000
		return w.checked("alice", c.Tx)
	}
	w.block(limited(w.deploy("alice", "storm", "st", types.CBY)), limited(w.deploy("alice", "bidder", "b", types.CBY)),
		limited(w.deploy("alice", "spender", "s", 0)))
	bidder := w.address("b")
	w.block(limited(w.call("alice", "st", "set_gas_bidder", bidder[:])),
		limited(w.call("alice", "st", "make", []byte(`{"count":3,"in":1,"gas_limit":4000,"use":4000}`))))
	w.ok()
	full := w.call("alice", "s", "spend", samples.Number(49_000))
	full.Tx.CyclesLimit = 50_000
	w.block(w.checked("alice", full.Tx))
	h, limit := w.last.Block.Header, w.head.Params().CyclesLimit
	if h.CyclesUsed != limit+w.last.Lane.AskCycles || w.last.Lane.AskCycles == 0 {
		t.Errorf("%d cycles used of %d, %d of them by agents", h.CyclesUsed, limit, w.last.Lane.AskCycles)
	}
}

// CIP-5 §9.8's state-triggered timers let the writer of a key spend its watchers'
// money: one cheap transaction per block makes them all due, and each pays for its
// own fire.
func TestFindingWhoWritesAKeySpendsItsWatchersMoney(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "c", 0))
	watched := types.Watch{Actor: w.address("c"), Key: types.Bytes("n")}
	const watchers = 6
	for i := range watchers {
		name := fmt.Sprintf("st%d", i)
		w.block(w.deploy("alice", "storm", name, 10*types.CBY))
		w.block(w.call("alice", name, "make", encodeStorm(t, samples.Storm{Count: 1, In: 1, Use: 250_000, Watch: &watched})))
	}
	w.ok()
	w.block(w.call("bob", "c", "increment", nil)) // bob has nothing to do with any of them
	var paid types.Wei
	for _, c := range w.fired() {
		paid = paid.Add(c.FeePaid)
	}
	bobs := w.last.Receipts[0].Fee
	if len(w.fired()) != watchers || paid.Less(bobs.Mul(1000)) {
		t.Errorf("%d fired for %s wei; bob paid %s", len(w.fired()), paid, bobs)
	}
}

// Decisions T11 and T18: the lane counts the use of fires, without a fixed cost per
// fire. By the letter a handler that is refused at once uses nothing, and one block
// fires as many of these as it examines, for no fee. Here each fire pays for the
// call, so the lane bounds them.
func TestFindingAFireThatUsesNothingIsFreeAndUnbounded(t *testing.T) {
	for _, c := range []struct {
		cost  string
		fires int
	}{{"0", 500}, {"100", 11}} { // the eleventh still fits: 1,000 of 2,000 cycles are left
		w := newWorld(t, params.Overrides{"cip1.policy": scheduler.EIP1559, "cip1.lane_timer_cycles": "2000", "cip5.max_cycles_per_fire": "2000",
			"cip3.cycles_actor_call": c.cost})
		w.block(w.deploy("alice", "storm", "st", types.CBY))
		order := w.call("alice", "st", "make", []byte(`{"count":500,"in":1,"gas_limit":1000,"handler":"init"}`))
		order.Tx.CyclesLimit, order.Tx.CellsLimit = 1_000_000, 200_000
		w.block(w.checked("alice", order.Tx))
		w.ok()
		before := w.head.Account(w.address("st")).Balance
		w.block()
		fired := 0
		for _, change := range w.last.Timers {
			if change.Status == types.TimerFired {
				fired++
			}
		}
		free := w.head.Account(w.address("st")).Balance == before
		if fired != c.fires || free != (c.cost == "0") {
			t.Errorf("at %s cycles a call %d fired, free: %v", c.cost, fired, free)
		}
	}
}

// CIP-5 §6.1 prices a payload when it is scheduled, and nothing prices its delivery,
// though every fire reads and hands it over: of two fires that do the same, one with
// a payload longer by hundreds of bytes, both cost alike.
func TestFindingADeliveredPayloadCostsNothing(t *testing.T) {
	short := samples.Storm{Use: 1000}
	long := short
	long.MaxFee, long.Priority, long.Bid = &types.MaxWei, &types.MaxWei, &types.MaxWei // kept unread under fifo
	if bytes := len(encodeStorm(t, long)) - len(encodeStorm(t, short)); bytes < 200 {
		t.Fatalf("it is longer by %d bytes", bytes)
	}
	a, b := oneFire(t, nil, short), oneFire(t, nil, long)
	if a.Status != types.StatusOK || a.Cycles != b.Cycles || a.Cells != b.Cells || a.Fee != b.Fee {
		t.Errorf("%d cycles, %d cells and %s wei; with the longer payload %d, %d and %s", a.Cycles, a.Cells, a.Fee, b.Cycles, b.Cells, b.Fee)
	}
}

// CIP-1 §5 and §9: LANE_TIMER_CYCLES is "governance-tunable via TimerConfig", whose
// instruction has no such field; opcode 64 sets it. The block that changes it holds
// the use of the block before against the new budget: 45 % of the old one lowers the
// base fee, and the same cycles, 75 % of the new one, raise it.
func TestFindingANewBudgetJudgesTheUseOfTheOldOne(t *testing.T) {
	const opcode = governance.OpUpdateTimerConfig
	for name, fine := range map[string]bool{"max_ttl_blocks": true, "lane_timer_cycles": false} {
		_, err := governance.Decode(opcode, codec.Marshal(map[string]map[string]uint64{"config": {name: 1_200_000}}))
		if (err == nil) != fine {
			t.Errorf("TimerConfig with %s: %v", name, err)
		}
	}
	for budget, rises := range map[string]bool{"2000000": false, "1200000": true} {
		w := newWorld(t, params.Overrides{"cip1.policy": scheduler.EIP1559})
		w.block(w.deploy("alice", "storm", "storm", 10*types.CBY))
		gas := types.Cycles(250_000)
		w.block(w.call("bob", "storm", "make", encodeStorm(t, samples.Storm{Count: 4, In: 2, GasLimit: &gas, Use: 225_000})))
		w.ok()
		w.block(w.instruct(governance.OpSetParameter, &governance.SetParameter{Key: "cip1.lane_timer_cycles", Value: budget,
			Height: w.head.Height() + 3}))
		w.ok()
		w.block()
		before, used := w.head.Header().BaseFeeLaneTimer, w.last.Lane.Cycles
		if used < 900_000 || used > 901_000 {
			t.Fatalf("the block used %d", used)
		}
		w.block()
		if after := w.head.Header().BaseFeeLaneTimer; before.Less(after) != rises || after.Less(before) == rises {
			t.Errorf("with a budget of %s from this block on, the fee goes from %s to %s", budget, before, after)
		}
	}
}
