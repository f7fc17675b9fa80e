package ledger

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"pgregory.net/rapid"
)

// stage is a world with one actor of each sample, and small lanes, so that
// blocks get full and queues form.
func stage(t testing.TB, fees, policy string) *world {
	w := newWorld(t, params.Overrides{"cip5.fees": fees, "cip1.policy": policy, "cip1.gba_cycles_per_block": "50000",
		"cip1.ring_buffer_size": "4",
		"cip1.epoch_blocks":     "3", "cip1.queue_epochs": "2", "cip1.max_migrations_per_block": "2", "cip1.fairness_window_blocks": "4",
		"cip5.max_triggered_per_block": "2", "cip5.bias_control_blocks": "3", "cip1.gba_starvation_deferrals": "2", "chain.epoch_blocks": "5",
		"cip3.lane_user_cycles":   "150000",
		"cip3.lane_system_cycles": "60000", "chain.max_deferred_messages_per_block": "3", "cip1.lane_timer_cycles": "12000",
		"cip5.max_cycles_per_fire": "4000", "cip5.max_cells_per_fire": "2000", "cip5.gc_cycles_per_block": "5000",
		"cip3.block_cells_limit": "60000", "cip5.max_ttl_blocks": "6"})
	w.block(w.deploy("alice", "counter", "c", 0))
	w.block(w.deploy("alice", "heartbeat", "hb", 5*types.CBY/100))
	w.block(w.deploy("bob", "spender", "s", types.CBY))
	w.block(w.deploy("bob", "relay", "r", types.CBY))
	w.block(w.deploy("bob", "storm", "st", types.CBY/10), w.deploy("bob", "bidder", "b", types.CBY))
	w.ok()
	return w
}

// draw makes a transaction, sensible or not.
func (w *world) draw(t *rapid.T) *Checked {
	from := rapid.SampledFrom(accountNames).Draw(t, "from")
	number := func(max uint64) []byte { return samples.Number(rapid.Uint64Range(0, max).Draw(t, "number")) }
	target := rapid.SampledFrom([]string{"c", "hb", "s", "r", "carol"}).Draw(t, "target")
	var c *Checked
	switch rapid.IntRange(0, 14).Draw(t, "kind") {
	case 0:
		c = w.transfer(from, target, rapid.Uint64Range(0, 2*types.CBY).Draw(t, "wei"))
	case 1:
		c = w.call(from, "c", rapid.SampledFrom([]string{"increment", "fail", "reset", "nothing"}).Draw(t, "handler"), nil)
	case 2, 3:
		c = w.call(from, "hb", rapid.SampledFrom([]string{"start", "stop"}).Draw(t, "handler"), number(4))
	case 4:
		c = w.call(from, "s", rapid.SampledFrom([]string{"spend", "store", "fill", "panic"}).Draw(t, "handler"), number(50_000))
	case 5:
		address := w.address(target)
		c = w.call(from, "s", "pay", append(address[:], number(types.CBY/2)...))
	case 6, 7:
		order := samples.Order{Target: w.address(target),
			Handler: rapid.SampledFrom([]string{"increment", "fail", "start", "fill"}).Draw(t, "handler"),
			Payload: number(3), Cycles: types.Cycles(rapid.Uint64Range(0, 70_000).Draw(t, "limit")), Cells: 500}
		c = w.call(from, "r", rapid.SampledFrom([]string{"call", "try", "send"}).Draw(t, "verb"), order.Encode())
	case 8:
		c = w.deploy(from, rapid.SampledFrom([]string{"counter", "nonsense"}).Draw(t, "sample"), rapid.StringN(1, 2, 4).Draw(t, "name"), 5)
	case 9, 10, 11:
		c = w.call(from, "st", "make", w.drawStorm(t))
	case 12:
		bidder := w.address(rapid.SampledFrom([]string{"b", "s", "alice"}).Draw(t, "bidder"))
		c = w.call(from, "st", "set_gas_bidder", bidder[:rapid.SampledFrom([]int{0, 20}).Draw(t, "bytes")])
	case 13:
		c = w.call(from, "b", "step", number(5))
	default:
		c = w.drawInstruction(t, from)
	}
	tx := c.Tx
	tx.CyclesLimit = types.Cycles(rapid.Uint64Range(1_000, 60_000).Draw(t, "cycles"))
	tx.CellsLimit = types.Cells(rapid.Uint64Range(10, 9_000).Draw(t, "cells"))
	tx.MaxPriorityFeePerCycle = types.WeiOf(rapid.Uint64Range(0, 5).Draw(t, "tip"))
	if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
		tx.Nonce += types.Nonce(rapid.Uint64Range(0, 2).Draw(t, "ahead"))
		tx.Value = types.WeiOf(rapid.Uint64Range(0, 3*initialBalance).Draw(t, "value"))
		if c.system != nil {
			tx.Value = types.Wei{}
		}
	}
	return w.checked(from, tx)
}

func (w *world) drawInstruction(t *rapid.T, from string) *Checked {
	switch rapid.IntRange(0, 7).Draw(t, "opcode") {
	case 5:
		return w.instructBy(from, governance.OpSetBalance, &governance.SetBalance{
			Address: w.address(rapid.SampledFrom([]string{"carol", "bob", "s", "hb", "v0", "system"}).Draw(t, "who")),
			Balance: types.WeiOf(rapid.Uint64Range(0, 3*initialBalance).Draw(t, "balance"))})
	case 6:
		in := governance.SetState{Actor: w.address(rapid.SampledFrom([]string{"c", "hb", "carol"}).Draw(t, "actor")), Key: []byte("n")}
		if rapid.Bool().Draw(t, "set") {
			value := samples.Number(rapid.Uint64Range(0, 9).Draw(t, "value"))
			in.Value = &value
		}
		return w.instructBy(from, governance.OpSetState, &in)
	case 7:
		to := w.address(rapid.SampledFrom([]string{"c", "s", "bob"}).Draw(t, "to"))
		payload := codec.Marshal(&types.Execute{Kind: types.KindExecute, Handler: "increment", Payload: []byte{}})
		if rapid.Bool().Draw(t, "transfer") {
			payload = codec.Marshal(&types.Transfer{Kind: types.KindTransfer})
		}
		return w.instructBy(from, governance.OpImpersonate, &governance.Impersonate{
			From: w.address(rapid.SampledFrom([]string{"carol", "s", "hb", "v1"}).Draw(t, "who")), To: &to,
			Value: types.WeiOf(rapid.Uint64Range(0, types.CBY).Draw(t, "wei")), Payload: payload})
	case 0:
		key := rapid.SampledFrom([]string{"cip3.min_basefee", "cip3.cycles_transaction", "cip5.max_cells_per_fire", "chain.max_validators",
			"chain.id"}).Draw(t, "key")
		return w.instructBy(from, governance.OpSetParameter,
			&governance.SetParameter{Key: key, Value: rapid.SampledFrom([]string{"1", "5", "1500", "x"}).Draw(t, "value"),
				Height: types.Height(rapid.Uint64Range(0, 30).Draw(t, "height"))})
	case 1:
		return w.instructBy(from, governance.OpJoinValidator,
			&governance.JoinValidator{PublicKey: w.key(rapid.SampledFrom([]string{"v0", "v7", "v8"}).Draw(t, "who")).PublicKey()})
	case 2:
		return w.instructBy(from, governance.OpLeaveValidator,
			&governance.LeaveValidator{Address: w.address(rapid.SampledFrom([]string{"v0", "v1", "v7"}).Draw(t, "who"))})
	case 3:
		return w.instructBy(from, governance.OpCancelTimer, &governance.CancelTimer{TimerID: w.anyTimer()})
	}
	return w.instructBy(from, governance.OpExtendTimer,
		&governance.ExtendTimer{TimerID: w.anyTimer(), NewExpiresAt: types.Height(rapid.Uint64Range(0, 40).Draw(t, "height"))})
}

func (w *world) anyTimer() types.TimerID {
	if pending := w.head.Timers(w.address("hb")); len(pending) > 0 {
		return pending[0].ID
	}
	return types.TimerID{}
}

// TestAnyHistory draws blocks of anything. For each block, w.propose checks that
// Build and Apply agree, that the supply is conserved and the timers are sound.
// Here, the parent's state is unchanged, the fees of the receipts equal the burned
// and tipped amounts, no lane is overdrawn, and the content gives the root again.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := stage(t, rapid.SampledFrom([]string{"paid", "paid", "free"}).Draw(rt, "fees"),
			rapid.SampledFrom(allPolicies).Draw(rt, "policy"))
		for range rapid.IntRange(1, 12).Draw(rt, "blocks") {
			var txs []*Checked
			for range rapid.IntRange(0, 6).Draw(rt, "transactions") {
				txs = append(txs, w.draw(rt))
			}
			parent, root := w.head, w.head.Root()
			proposal := w.proposal()
			proposal.Skipped = min(w.head.Skippable(), rapid.Uint64Range(0, 2).Draw(rt, "skipped"))
			w.propose(proposal, txs...)
			if parent.tree.Root() != root {
				rt.Fatal("the parent's state changed")
			}
			booksAgree(rt, w.last)
			contentGivesTheRoot(rt, w.head)
		}
	})
}

func booksAgree(t *rapid.T, r *Result) {
	var fees types.Wei
	for _, receipt := range r.Receipts {
		fees = fees.Add(receipt.Fee)
	}
	fees = fees.Add(r.Block.Header.BaseFeeCycle.Mul(uint64(r.Lane.AskCycles))) // who asks agents has no receipt
	if want := r.Burned.Cycle.Add(r.Burned.Cell).Add(r.Burned.LaneTimer).Add(r.Tips.Transactions).Add(r.Tips.Timers); fees != want {
		t.Fatalf("the receipts paid %s, %s was burned and tipped", fees, want)
	}
	p, h := r.State.Params(), r.Block.Header
	if h.CyclesUsed > p.CyclesLimit+p.GBABlockCycles || h.CellsUsed > p.CellsLimit || h.TimerCyclesUsed > p.LaneTimerCycles ||
		h.CyclesUsed-h.TimerCyclesUsed-r.Lane.AskCycles > p.LaneUserCycles+p.LaneSystemCycles || r.Lane.AskCycles > p.GBABlockCycles ||
		h.TimerCyclesUsed != r.Lane.Cycles || r.Lane.GCCycles > p.GCCyclesPerBlock {
		t.Fatalf("a lane is overdrawn: %+v", h)
	}
}

func contentGivesTheRoot(t *rapid.T, state *State) {
	var content []Change
	state.Scan(nil, nil, func(k, v []byte) bool {
		content = append(content, Change{Key: slices.Clone(k), Value: slices.Clone(v)})
		return true
	})
	slices.Reverse(content)
	header := state.Header()
	restored, err := Restore(content, &types.Block{Header: header})
	if err != nil {
		t.Fatal(err)
	}
	if *restored.next != *state.next || restored.hasWork != state.hasWork || restored.fees != state.fees {
		t.Fatal("the restored state differs")
	}
}
