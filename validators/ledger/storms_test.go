package ledger

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
	"pgregory.net/rapid"
)

var allPolicies = []string{scheduler.Fifo, scheduler.EIP1559, scheduler.GBA, scheduler.BiasVCG, scheduler.BiasFirstPrice}

// harbour is a world for storms of timers: lanes, tiers, windows and escrows so
// small that they fill, empty and turn over within some blocks.
func harbour(t testing.TB, policy string, funds uint64) *world {
	w := newWorld(t, params.Overrides{"cip1.policy": policy, "cip1.lane_timer_cycles": "12000", "cip5.max_cycles_per_fire": "4000",
		"cip5.max_cells_per_fire": "2000", "cip1.gba_cycles_per_call": "1000", "cip1.gba_cycles_per_block": "4000",
		"cip5.gc_cycles_per_block": "10000",
		"cip1.ring_buffer_size":    "4", "cip1.epoch_blocks": "3", "cip1.queue_epochs": "2", "cip1.max_migrations_per_block": "2",
		"cip1.fairness_window_blocks": "4", "cip5.max_triggered_per_block": "2", "cip5.bias_control_blocks": "3",
		"cip1.gba_starvation_deferrals": "2", "cip1.max_examined_timers": "12", "cip1.bid_rejected_from": "1000000"})
	w.block(w.deploy("alice", "counter", "c", 0), w.deploy("alice", "bidder", "b", types.CBY))
	for _, name := range []string{"st0", "st1", "st2"} {
		w.block(w.deploy("alice", "storm", name, funds))
	}
	w.ok()
	return w
}

// weather draws the transactions of a block.
func (w *world) weather(t *rapid.T) (txs []*Checked) {
	for range rapid.IntRange(0, 4).Draw(t, "transactions") {
		storm := rapid.SampledFrom([]string{"st0", "st1", "st2"}).Draw(t, "storm")
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0:
			txs = append(txs, w.call("bob", "c", rapid.SampledFrom([]string{"increment", "reset"}).Draw(t, "handler"), nil))
		case 1:
			bidder := w.address(rapid.SampledFrom([]string{"b", "c", "st0"}).Draw(t, "bidder"))
			txs = append(txs, w.call("bob", storm, "set_gas_bidder", bidder[:rapid.SampledFrom([]int{0, 20, 20}).Draw(t, "bytes")]))
		case 2:
			txs = append(txs, w.call("bob", "b", "step", samples.Number(rapid.Uint64Range(0, 9).Draw(t, "step"))))
		default:
			txs = append(txs, w.call("bob", storm, "make", w.drawStorm(t)))
		}
	}
	return txs
}

// drawStorm is an order for the storm, whose timers fill lanes, escrows and
// watches, or are refused.
func (w *world) drawStorm(t *rapid.T) []byte {
	maybe := func(name string, max, least uint64) *types.Wei {
		if !rapid.Bool().Draw(t, name) {
			return nil
		}
		n := types.WeiOf(least + rapid.Uint64Range(0, max).Draw(t, name+" wei"))
		return &n
	}
	order := samples.Storm{Count: rapid.Uint64Range(1, 5).Draw(t, "count"), In: types.Height(rapid.Uint64Range(1, 9).Draw(t, "in")),
		MaxFee: maybe("max fee", 3000, 700), Priority: maybe("priority", 50, 0), Bid: maybe("bid", types.CBY/1000, 0),
		Use: rapid.Uint64Range(0, 5000).Draw(t, "use"), Again: types.Height(rapid.Uint64Range(0, 2).Draw(t, "again"))}
	if rapid.Bool().Draw(t, "limited") {
		limit := types.Cycles(rapid.Uint64Range(1000, 4100).Draw(t, "gas limit"))
		order.GasLimit = &limit
	}
	if rapid.Bool().Draw(t, "priced by the bidder") {
		bidder := w.address("b")
		order.GBA = &bidder
	}
	if rapid.IntRange(0, 2).Draw(t, "watches") == 0 {
		order.Watch, order.In = &types.Watch{Actor: w.address("c"), Key: types.Bytes("n")}, 1
	}
	if rapid.IntRange(0, 2).Draw(t, "expires") == 0 {
		in := types.Height(rapid.Uint64Range(0, 3).Draw(t, "expires in"))
		order.ExpiresIn = &in
	}
	return encodeStorm(w.t, order)
}

func encodeStorm(t testing.TB, order samples.Storm) []byte {
	t.Helper()
	data, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAnyStorm draws storms of timers under every policy. For each block, w.propose
// checks that Build and Apply agree, that the supply is conserved, escrows
// included, and that the timers are sound. Here, the receipts' fees and the calls
// of agents equal the burned and tipped amounts, no lane is overdrawn, the content
// gives the root again, and at last all of it happened.
func TestAnyStorm(t *testing.T) {
	seen, runs := map[string]int{}, 0
	rapid.Check(t, func(rt *rapid.T) {
		policy := rapid.SampledFrom(allPolicies).Draw(rt, "policy")
		runs++
		w := harbour(t, policy, rapid.SampledFrom([]uint64{types.CBY, types.CBY / 20, types.CBY / 80, types.CBY / 200}).Draw(rt, "funds"))
		for range rapid.IntRange(4, 16).Draw(rt, "blocks") {
			txs := w.weather(rt)
			proposal := w.proposal()
			proposal.Skipped = min(w.head.Skippable(), rapid.Uint64Range(0, 2).Draw(rt, "skipped"))
			w.propose(proposal, txs...)
			booksAgree(rt, w.last)
			dueAgree(rt, w.last)
			contentGivesTheRoot(rt, w.head)
			tally(seen, policy, w.last)
		}
	})
	if runs < 100 {
		return
	}
	for _, policy := range allPolicies {
		for _, what := range []string{"fired", "paid", "moved"} {
			if seen[policy+" "+what] == 0 {
				t.Errorf("never under %s: %s", policy, what)
			}
		}
	}
	for _, what := range []string{"eip1559 tipped", "eip1559 lane burned", "eip1559 asked", "eip1559 pending triggered",
		"fifo pending triggered",
		"gba tipped", "gba asked", "gba lane burned none", "bias-vcg tipped", "bias-first-price tipped", "not examined"} {
		if seen[what] == 0 {
			t.Errorf("never: %s", what)
		}
	}
}

// dueAgree: the timers said to be due are those that the calendar holds, and a
// block defers all of them, examined or not (decision T9).
func dueAgree(t *rapid.T, r *Result) {
	due := scheduler.CountDue(r.State.params, reader{r.State.tree}, r.State.Height())
	if r.State.due != due {
		t.Fatalf("%d timers are due, the state says %d", due, r.State.due)
	}
	told := r.Lane.Unexamined
	for i := range r.Timers {
		if c := &r.Timers[i]; c.Status == types.TimerPending && c.Reason != "" && c.Reason != scheduler.ReasonTriggered {
			told++
		}
	}
	if told != due {
		t.Fatalf("%d timers are due after the block, which says that it deferred %d", due, told)
	}
}

// tally counts what a block did.
func tally(seen map[string]int, policy string, r *Result) {
	mark := func(happened bool, what string) {
		if happened {
			seen[policy+" "+what]++
		}
	}
	for i := range r.Timers {
		c := &r.Timers[i]
		mark(c.Reason != "" && c.Status == types.TimerPending, fmt.Sprintf("pending %s", c.Reason))
		mark(c.Reason == "" || c.Status != types.TimerPending, string(c.Status))
		mark(!c.TipPaid.IsZero(), "tipped")
		mark(!c.FeePaid.IsZero(), "paid")
	}
	mark(r.Lane.AskCycles > 0, "asked")
	mark(len(r.Lane.Moves) > 0, "moved")
	if r.Lane.Unexamined > 0 {
		seen["not examined"]++
	}
	mark(!r.Burned.LaneTimer.IsZero(), "lane burned")
	mark(r.Burned.LaneTimer.IsZero(), "lane burned none")
}

// TestSkippingEqualsWalkingAfterAnyStorm: what is skipped is what empty blocks
// would have been, under every policy: windows decay, epochs turn over, fees fall
// (decision C8).
func TestSkippingEqualsWalkingAfterAnyStorm(t *testing.T) {
	runs, skips := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		policy := rapid.SampledFrom(allPolicies).Draw(rt, "policy")
		runs++
		w := harbour(t, policy, types.CBY)
		for range rapid.IntRange(1, 8).Draw(rt, "blocks") {
			w.propose(w.proposal(), w.weather(rt)...)
		}
		for range 12 { // until something may be skipped
			if w.head.Skippable() > 0 {
				break
			}
			w.block()
		}
		most := w.head.Skippable()
		if most == 0 {
			return
		}
		skips++
		parent := w.head
		proposal := w.proposal()
		proposal.Skipped = rapid.Uint64Range(1, min(most, 40)).Draw(rt, "skipped")
		proposal.View += types.View(proposal.Skipped) // the proposer that the last of the empty blocks has
		proposal.Proposer = parent.set.Leader(proposal.View)
		skipped := w.propose(proposal).State
		w.head = parent
		w.blocks(int(proposal.Skipped) + 1)
		if w.head.Height() != skipped.Height() || w.head.Root() != skipped.Root() || w.head.NextBaseFees() != skipped.NextBaseFees() {
			rt.Fatalf("%s: %d heights skipped at %d lead to another state: %s", policy, proposal.Skipped, parent.Height(),
				firstDifference(w.head, skipped))
		}
	})
	if runs >= 100 && skips < runs/4 {
		t.Errorf("%d of %d runs skipped anything", skips, runs)
	}
}

// firstDifference names a key that two states do not share.
func firstDifference(a, b *State) (found string) {
	content := map[string]string{}
	a.Scan(nil, nil, func(k, v []byte) bool { content[string(k)] = string(v); return true })
	b.Scan(nil, nil, func(k, v []byte) bool {
		if content[string(k)] != string(v) {
			found = fmt.Sprintf("%q is %x walked, %x skipped", k, content[string(k)], v)
			return false
		}
		delete(content, string(k))
		return true
	})
	for k, v := range content {
		if found == "" {
			found = fmt.Sprintf("%q is %x walked", k, v)
		}
	}
	return found
}
