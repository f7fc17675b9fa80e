package scheduler

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Faults of the drafts, shown with their figures. docs/SPEC.md, section Findings,
// tells each in words.

// CIP-5 §6.2 with CIP-3's block limit: a fire needs max_cells_per_fire, 550,000, to
// fit into the rest of the block's 1,000,000 cells. Transactions that use 450,001
// cells thus keep every timer from firing. That is below half the limit, so the fee
// of a cell falls meanwhile.
func TestFindingTransactionsBelowTheirTargetKeepAllTimersFromFiring(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000))})
	w.block()
	const blocked, fits = 450_001, 450_000
	base := types.WeiOf(1000)
	for range 100 {
		w.cells = w.p.CellsLimit - blocked
		wantStatuses(t, w.block(), "pending:block_cells_full")
		next := feemarket.Next(base, blocked, uint64(w.p.CellsLimit), w.p.BaseFeeDivisor, w.p.MinBaseFee)
		if base.Less(next) {
			t.Fatalf("the fee of a cell rose from %s to %s", base, next)
		}
		base = next
	}
	if !base.Less(types.WeiOf(320)) {
		t.Fatalf("after 100 blocks the fee of a cell is still %s", base)
	}
	w.cells = w.p.CellsLimit - fits
	wantStatuses(t, w.block(), "fired")
}

// The same two figures: where fires use their cells, one fires a block, though
// the lane's 2,000,000 cycles have room for three.
func TestFindingOneFireThatUsesItsCellsFillsTheBlock(t *testing.T) {
	for _, c := range []struct {
		cells types.Cells
		want  string
	}{
		{550_000, "fired pending:block_cells_full pending:block_cells_full pending:block_cells_full"},
		{0, "fired fired fired pending:lane_full"},
	} {
		w := rich()
		w.handle = func(_ *world, order Fire) Fired {
			return Fired{Result: types.StatusOK, Cycles: order.Cycles, Cells: c.cells}
		}
		for range 4 {
			w.must(t, alice, program.TimerRequest{Height: 2})
		}
		w.block()
		wantStatuses(t, w.block(), c.want)
	}
}

// CIP-5 §3.3 as written: the nonce of the transaction. One transaction that
// schedules the same payload twice makes one id of two timers. Ours differ.
func TestFindingATransactionsNonceGivesTwoTimersOneID(t *testing.T) {
	const transactionNonce = 7
	asWritten := func() types.TimerID { return TimerID(alice, 9, []byte("x"), transactionNonce) }
	if first, second := asWritten(), asWritten(); first != second {
		t.Fatal("the id depends on more than actor, height, payload and nonce")
	}
	w := rich()
	first := w.must(t, alice, program.TimerRequest{Height: 9, Payload: []byte("x")})
	if second := w.must(t, alice, program.TimerRequest{Height: 9, Payload: []byte("x")}); first.ID == second.ID {
		t.Fatal("two timers have one id")
	}
}

// CIP-5 §4.2 asks for a height above the current one and no more. Since every
// timer expires (newer CIP-5), one beyond the TTL would end before it fires,
// with an expires_at or without: the horizon is max_ttl_blocks.
func TestFindingNoTimerReachesBeyondTheTTL(t *testing.T) {
	w := rich()
	horizon := w.now() + types.Height(w.p.MaxTTLBlocks)
	w.must(t, alice, program.TimerRequest{Height: horizon})
	_, err := w.schedule(alice, program.TimerRequest{Height: horizon + 1})
	wantCode(t, err, CodeExpiresTooEarly)
	_, err = w.schedule(alice, program.TimerRequest{Height: horizon + 1, ExpiresAt: ptr(horizon + 1)})
	wantCode(t, err, CodeExpiresTooLate)
}

// CIP-5 §3.1 allows a payload of 1 MiB, and CIP-3 charges a cell per byte: more
// than a block has, so the longest payload cannot be scheduled. The longest from a
// fire is below max_cells_per_fire.
func TestFindingTheLongestPayloadFitsIntoNoBlock(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 9, Payload: make([]byte, w.p.MaxTimerPayload)})
	if cells := types.Cells(w.p.MaxTimerPayload); cells != 1_048_576 || cells <= w.p.CellsLimit || cells <= w.p.MaxCellsPerFire {
		t.Fatalf("%d cells, a block has %d, a fire %d", cells, w.p.CellsLimit, w.p.MaxCellsPerFire)
	}
}

// CIP-5 §4.2's convention reads whatever the payload is. An actor that passes on
// another party's bytes as a payload lets him choose the handler, and a fire has
// the actor itself as sender. Naming the handler keeps the payload opaque.
func TestFindingAPayloadFromOutsideChoosesTheHandler(t *testing.T) {
	w := rich()
	outside := []byte(`{"_handler": "withdraw", "_payload": ""}`)
	w.must(t, alice, program.TimerRequest{Height: 2, Payload: outside})
	w.must(t, alice, program.TimerRequest{Height: 2, Handler: DefaultHandler, Payload: outside})
	w.block()
	w.block()
	if got := w.orders[0].Timer; got.Handler != "withdraw" || len(got.Payload) != 0 {
		t.Errorf("the convention gave %q with %q", got.Handler, got.Payload)
	}
	if got := w.orders[1].Timer; got.Handler != DefaultHandler || string(got.Payload) != string(outside) {
		t.Errorf("named, it is %q with %q", got.Handler, got.Payload)
	}
}

// CIP-1 §9 and decision T19: ending a timer unfired takes 5,000 unpaid cycles,
// scheduling it 200 that its maker paid: 25 cycles of work for one.
func TestFindingBuryingATimerCostsMoreThanMakingIt(t *testing.T) {
	w := newWorld() // alice holds nothing
	cycles := w.p.CostSetTimer
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.block()
	out := w.block()
	wantStatuses(t, out, "insufficient_funds")
	if out.GCCycles != 25*cycles || out.Changes[0].FeePaid != (types.Wei{}) {
		t.Fatalf("scheduled for %d cycles, buried for %d", cycles, out.GCCycles)
	}
}

// CIP-1 §11 says that a storm of ending timers cannot starve live ones. With
// decision T16 one of timers that cannot pay holds a live one up until each was
// examined once. Here 2 are examined and 1 is buried a block: the live one is the
// sixth, and fires in the third.
func TestFindingAStormOfEndingTimersKeepsLiveOnesUnexamined(t *testing.T) {
	w := rich()
	w.p.MaxExamined, w.p.GCCyclesPerBlock = 2, w.p.GCCyclesPerTimer
	poor := addressOf("poor")
	for range 5 {
		w.must(t, poor, program.TimerRequest{Height: 2})
	}
	live := w.must(t, alice, program.TimerRequest{Height: 2})
	w.block()
	for buried := 1; ; buried++ {
		w.block()
		if len(w.orders) > 0 {
			if w.orders[0].Timer.ID != live.ID || buried != 3 {
				t.Fatalf("%s fired when %d were buried", w.orders[0].Timer.ID, buried)
			}
			return
		}
		if buried > 3 {
			t.Fatal("it never fired")
		}
	}
}

// CIP-1 §13.1 lets a heartbeat name a fee_payer. Only the signer of the transaction
// may be one (decisions T18, T28), and a fire has none: the actor pays for timers
// that a handler schedules again, so a sponsor pays for the first fire only.
func TestFindingASponsorPaysForTheFirstFireOnly(t *testing.T) {
	w := rich()
	if _, _, err := w.blockNow().Schedule(alice, signedBy(bob, types.MaxWei), program.TimerRequest{Height: 2, FeePayer: &bob}); err != nil {
		t.Fatal(err)
	}
	w.handle = func(w *world, _ Fire) Fired {
		_, err := w.schedule(alice, program.TimerRequest{Height: 12, FeePayer: &bob})
		wantCode(t, err, CodeFeePayerForeign)
		w.must(t, alice, program.TimerRequest{Height: 12})
		return Fired{Result: types.StatusOK}
	}
	w.block()
	w.block()
	if len(w.orders) != 1 || w.orders[0].Timer.FeePayer != bob {
		t.Fatalf("%+v", w.orders)
	}
	if again := Pending(&w.p, w.kv, w.head, alice); len(again) != 1 || again[0].FeePayer != alice {
		t.Fatalf("%+v", again)
	}
}

// CIP-1 §3 step 7 gates a fire by consumed + limit ≤ lane - used, where consumed
// and used are the same cycles: as written half of the lane is never given out.
// Decision T11 subtracts them once.
func TestFindingTheGateOfStepSevenCountsTheLaneTwice(t *testing.T) {
	w := rich()
	w.handle = func(_ *world, order Fire) Fired { return Fired{Result: types.StatusOK, Cycles: order.Cycles} }
	for range 8 {
		w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(250_000))})
	}
	asWritten := 0
	for used := types.Cycles(0); used+250_000 <= w.p.LaneTimerCycles.Sub(used); used += 250_000 {
		asWritten++
	}
	w.block()
	w.block()
	if asWritten != 4 || len(w.orders) != 8 {
		t.Fatalf("as written %d fire, here %d", asWritten, len(w.orders))
	}
}

// CIP-3's lanes together are the whole block, and CIP-1 §9's TIMER_GC_CYCLES is on
// top of them: a block may do a quarter more than its limit.
func TestFindingTheCleanupLaneStandsBesideTheBlocksLimit(t *testing.T) {
	p := newWorld().p
	lanes := p.LaneUserCycles + p.LaneRunnerCycles + p.LaneTimerCycles + p.LaneSystemCycles
	if lanes != p.CyclesLimit || p.GCCyclesPerBlock*4 != p.CyclesLimit {
		t.Fatalf("lanes of %d, a limit of %d, and %d for cleaning up", lanes, p.CyclesLimit, p.GCCyclesPerBlock)
	}
}

// CIP-5 §6.2 with the newer fee model: a payer must hold the price of all
// 550,000 cells of each fire, whatever the handler uses and the timer's gas
// limit is. At the initial fees that is 0.55 CBY; the handler here uses 10.
func TestFindingTheReserveOfAFireIsMostlyCellsNobodyUses(t *testing.T) {
	w := newWorld()
	request := program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000))}
	w.fund(alice, types.WeiOf(550_000_000+1_000_000-1)) // wei
	w.must(t, alice, request)
	w.block()
	wantStatuses(t, w.block(), "insufficient_funds")

	w = newWorld()
	w.fund(alice, types.WeiOf(550_000_000+1_000_000))
	w.must(t, alice, request)
	w.block()
	out := w.block()
	wantStatuses(t, out, "fired")
	if out.Cells != 10 {
		t.Fatalf("it used %d cells", out.Cells)
	}
}
