package scheduler

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// One test per MUST, and per decision that stands for one, in the order of
// CIP-5.

var alice, bob = addressOf("alice"), addressOf("bob")

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code != code || refusal.Section == "" || refusal.Message == "" {
		t.Fatalf("got %v, want code %s with section and message", err, code)
	}
}

// rich is a world in which alice and bob can pay for everything.
func rich() *world {
	w := newWorld()
	w.fund(alice, types.WeiOf(1<<60))
	w.fund(bob, types.WeiOf(1<<60))
	return w
}

func (w *world) must(t *testing.T, actor types.Address, req program.TimerRequest) types.Timer {
	t.Helper()
	timer, err := w.schedule(actor, req)
	if err != nil {
		t.Fatal(err)
	}
	return timer
}

// statuses lists what a block did to timers, as status and reason.
func statuses(out LaneResult) (all []string) {
	for _, c := range out.Changes {
		s := string(c.Status)
		if c.Reason != "" && c.Reason != s {
			s += ":" + c.Reason
		}
		all = append(all, s)
	}
	return all
}

func wantStatuses(t *testing.T, out LaneResult, want string) {
	t.Helper()
	if got := strings.Join(statuses(out), " "); got != want {
		t.Fatalf("the block did %q, want %q", got, want)
	}
}

func TestSection33TimerIDIsKeccakOfActorHeightPayloadAndTheActorsOwnNonce(t *testing.T) {
	w := rich()
	for nonce := range uint64(3) { // decision T1: the same call three times in one transaction
		timer := w.must(t, alice, program.TimerRequest{Height: 9, Payload: []byte("x")})
		if want := TimerID(alice, 9, []byte("x"), nonce); timer.ID != want || timer.Seq != types.Seq(nonce) {
			t.Fatalf("timer %d has id %s and sequence %d, want %s", nonce, timer.ID, timer.Seq, want)
		}
	}
	if other := w.must(t, bob, program.TimerRequest{Height: 9, Payload: []byte("x")}); other.ID != TimerID(bob, 9, []byte("x"), 0) ||
		other.Seq != 3 {
		t.Fatalf("bob's first timer: id %s, sequence %d", other.ID, other.Seq)
	}
}

func TestSection33ANonceIsNeverUsedTwiceEvenAfterEveryTimerEnded(t *testing.T) {
	w := rich()
	first := w.must(t, alice, program.TimerRequest{Height: 9})
	if _, err := w.blockNow().Cancel(alice, first.ID); err != nil {
		t.Fatal(err)
	}
	if again := w.must(t, alice, program.TimerRequest{Height: 9}); again.ID == first.ID {
		t.Fatal("two timers have one id")
	}
}

func TestSection42HeightMustBeAboveTheCurrentHeight(t *testing.T) {
	w := rich()
	w.head = 6 // block 7 is being made
	for _, h := range []types.Height{0, 6, 7} {
		_, err := w.schedule(alice, program.TimerRequest{Height: h})
		wantCode(t, err, CodeHeightNotFuture)
	}
	w.must(t, alice, program.TimerRequest{Height: 8})
}

func TestSection42EachTimerFiresExactlyOnceAndIsRemoved(t *testing.T) {
	w := rich()
	timer := w.must(t, alice, program.TimerRequest{Height: 2, Payload: []byte("tick")})
	fires := 0
	for range 5 {
		w.block()
		fires += len(w.orders)
	}
	if fires != 1 {
		t.Fatalf("fired %d times", fires)
	}
	if _, pending := Get(&w.p, w.kv, w.head, timer.ID); pending || pendingCount(w.kv, alice) != 0 {
		t.Fatal("the timer is still in state")
	}
	for _, p := range w.kv.dump() {
		if s := string(p.key); s != "t/s" && s != "t/m" && !strings.HasPrefix(s, "t/a/") {
			t.Fatalf("left behind: %q", s)
		}
	}
}

func TestSection42PayloadAndHandlerLimits(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 9, Payload: make([]byte, 1<<20)})
	_, err := w.schedule(alice, program.TimerRequest{Height: 9, Payload: make([]byte, 1<<20+1)})
	wantCode(t, err, CodePayloadTooLarge)
	w.must(t, alice, program.TimerRequest{Height: 9, Handler: strings.Repeat("h", 256)})
	_, err = w.schedule(alice, program.TimerRequest{Height: 9, Handler: strings.Repeat("h", 257)})
	wantCode(t, err, CodeHandlerTooLong)
	_, err = w.schedule(alice, program.TimerRequest{Height: 9, Payload: []byte(`{"_handler":"` + strings.Repeat("h", 257) + `","_payload":""}`)})
	wantCode(t, err, CodeHandlerTooLong)
}

func TestSection42JSONPayloadNamesTheHandlerAndEverythingElseGoesToTheDefault(t *testing.T) {
	w := rich()
	for _, c := range []struct{ payload, handler, inner string }{
		{`{"_handler": "tick", "_payload": "aGk="}`, "tick", "hi"},
		{`{"_handler": "tick", "_payload": "aGk"}`, DefaultHandler, `{"_handler": "tick", "_payload": "aGk"}`},
		{"plain", DefaultHandler, "plain"},
		{"", DefaultHandler, ""},
	} {
		w.must(t, alice, program.TimerRequest{Height: w.now() + 1, Payload: []byte(c.payload)})
		w.block()
		w.block()
		if len(w.orders) != 1 || w.orders[0].Timer.Handler != c.handler || string(w.orders[0].Timer.Payload) != c.inner {
			t.Fatalf("%s fired as %+v", c.payload, w.orders)
		}
	}
	named := w.must(t, alice, program.TimerRequest{Height: 99, Handler: "mine", Payload: []byte(`{"_handler":"tick","_payload":""}`)})
	if named.Handler != "mine" {
		t.Fatal("a handler that was named gives way to the payload's")
	}
}

func TestSection43RollbackLeavesNoTrace(t *testing.T) {
	w := rich()
	kept := w.must(t, alice, program.TimerRequest{Height: 9, Payload: []byte("a")})
	before := w.kv.dump()
	mark := w.kv.mark()
	w.must(t, alice, program.TimerRequest{Height: 9, Payload: []byte("b")})
	if _, err := w.blockNow().Cancel(alice, kept.ID); err != nil {
		t.Fatal(err)
	}
	w.kv.rollback(mark)
	wantDump(t, w.kv.dump(), before)
}

func wantDump(t *testing.T, got, want []pair) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d keys, want %d", len(got), len(want))
	}
	for i := range got {
		if string(got[i].key) != string(want[i].key) || string(got[i].value) != string(want[i].value) {
			t.Fatalf("key %q differs", got[i].key)
		}
	}
}

func TestARefusalWritesNothing(t *testing.T) {
	w := rich()
	w.p.MaxTimers = 1
	timer := w.must(t, alice, program.TimerRequest{Height: 9})
	writes := w.kv.writes
	_, err := w.schedule(alice, program.TimerRequest{Height: 9})
	wantCode(t, err, CodeTooManyTimers)
	_, err = w.schedule(alice, program.TimerRequest{Height: 0})
	wantCode(t, err, CodeHeightNotFuture)
	_, err = w.blockNow().Cancel(bob, timer.ID)
	wantCode(t, err, CodeNotOwner)
	_, err = w.blockNow().Extend(alice, timer.ID, timer.ExpiresAt)
	wantCode(t, err, CodeExpiresNotLater)
	if w.kv.writes != writes {
		t.Fatal("a refusal wrote to state")
	}
}

func TestSection51InsertionOrderWithinAHeight(t *testing.T) {
	w := rich()
	w.p.LaneTimerCycles, w.p.CyclesLimit = 20_000_000, 40_000_000
	var want []types.TimerID
	for i := range 30 {
		want = append(want, w.must(t, []types.Address{bob, alice}[i%2], program.TimerRequest{Height: 3}).ID)
	}
	w.block()
	w.block()
	w.block()
	if len(w.orders) != 30 {
		t.Fatalf("%d fired", len(w.orders))
	}
	for i, o := range w.orders {
		if o.Timer.ID != want[i] {
			t.Fatalf("fire %d is out of insertion order", i)
		}
	}
}

func TestSection51TheTimerIsRemovedBeforeItsHandlerRuns(t *testing.T) { // and T18: leaves the count first
	w := rich()
	w.p.MaxTimers = 1
	w.must(t, alice, program.TimerRequest{Height: 2})
	ran := false
	w.handle = func(w *world, o Fire) Fired {
		ran = true
		_, err := w.blockNow().Cancel(alice, o.Timer.ID)
		wantCode(t, err, CodeUnknownTimer)
		w.must(t, alice, program.TimerRequest{Height: w.now() + 10}) // the freed place is its own to use
		return Fired{Result: types.StatusOK}
	}
	w.block()
	w.block()
	if !ran || pendingCount(w.kv, alice) != 1 {
		t.Fatal("the heartbeat stopped")
	}
}

func TestSection53TimersScheduledInABlockNeverFireInIt(t *testing.T) { // T4, also from a fire's handler
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.handle = func(w *world, o Fire) Fired {
		_, err := w.schedule(alice, program.TimerRequest{Height: w.now()})
		wantCode(t, err, CodeHeightNotFuture)
		w.must(t, alice, program.TimerRequest{Height: w.now() + 1})
		return Fired{Result: types.StatusOK}
	}
	w.block()
	for range 5 {
		if w.block(); len(w.orders) != 1 {
			t.Fatalf("%d fires in block %d", len(w.orders), w.head)
		}
	}
}

func TestSection62BudgetOfAFire(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000))})
	w.block()
	w.block()
	if o := w.orders; o[0].Cycles != 550_000 || o[0].Cells != 550_000 || o[1].Cycles != 1000 {
		t.Fatalf("limits %d/%d and %d", o[0].Cycles, o[0].Cells, o[1].Cycles)
	}
}

func TestSection63FreeFiresAskForNoMoney(t *testing.T) {
	w := newWorld()
	w.p.Fees = params.FeesFree
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.block()
	out := w.block()
	wantStatuses(t, out, "fired")
	if !w.orders[0].MaxCost.IsZero() || !out.Changes[0].FeePaid.IsZero() {
		t.Fatal("a free fire costs")
	}
}

func TestSection8TheThousandAndTwentyFifthTimerIsRefused(t *testing.T) {
	w := rich()
	for range 1024 {
		w.must(t, alice, program.TimerRequest{Height: 9})
	}
	_, err := w.schedule(alice, program.TimerRequest{Height: 9})
	wantCode(t, err, CodeTooManyTimers)
	w.must(t, bob, program.TimerRequest{Height: 9})
	if n := len(Pending(&w.p, w.kv, 0, alice)); n != 1024 {
		t.Fatalf("%d pending", n)
	}
}

func TestT2FeePayerIsTheActorOrTheSignerOnly(t *testing.T) {
	w := rich()
	ask := func(signer *types.Address, payer types.Address) error {
		var signed *types.Sponsorship
		if signer != nil {
			signed = signedBy(*signer, types.WeiOf(1))
		}
		_, _, err := w.at(1).Schedule(alice, signed, program.TimerRequest{Height: 9, FeePayer: &payer})
		return err
	}
	carol := addressOf("carol")
	for _, err := range []error{ask(nil, alice), ask(&bob, alice), ask(&bob, bob)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, ask(nil, bob), CodeFeePayerForeign) // T18: run by a timer, there is no signer; T28: nor deeper in the stack
	wantCode(t, ask(&bob, carol), CodeFeePayerForeign)
	system := types.SystemAddress(0x09)
	wantCode(t, ask(&system, system), CodeFeePayerSystem)
	_, _, err := w.at(1).Schedule(system, nil, program.TimerRequest{Height: 9})
	wantCode(t, err, CodeFeePayerSystem)
}

func TestT5Defaults(t *testing.T) {
	w := rich()
	timer := w.must(t, alice, program.TimerRequest{Height: 9})
	if timer.Handler != "handle_timer" || timer.GasLimit != types.DefaultGasLimit ||
		timer.ExpiresAt != 1+2_592_000 || timer.FeePayer != alice {
		t.Fatalf("defaults: %+v", timer)
	}
}

// T5: a default limit is the cap, whatever it is when the timer fires: 550,000 cycles, then
// 20,000, then 700,000 of a timer from before. A stated limit stays what it is.
func TestT5ADefaultLimitIsTheCapOfItsFire(t *testing.T) {
	w := rich()
	w.p.MaxCyclesPerFire, w.p.LaneTimerCycles = 550_000, 2_000_000
	for height := range types.Height(3) {
		w.must(t, alice, program.TimerRequest{Height: 2 + height})
	}
	w.must(t, alice, program.TimerRequest{Height: 4, GasLimit: ptr(types.Cycles(30_000))})
	w.block()
	for _, most := range []types.Cycles{550_000, 20_000, 700_000} {
		w.p.MaxCyclesPerFire = most
		w.block()
		if got := w.orders[0].Cycles; got != most {
			t.Errorf("a default timer fires with %d cycles under a cap of %d", got, most)
		}
	}
	if len(w.orders) != 2 || w.orders[1].Cycles != 30_000 {
		t.Errorf("a stated limit: %+v", w.orders)
	}
}

func TestT6ExpiresAtBounds(t *testing.T) {
	w := rich()
	w.p.MaxTTLBlocks = 100
	ask := func(height, expires types.Height) error {
		_, err := w.schedule(alice, program.TimerRequest{Height: height, ExpiresAt: &expires})
		return err
	}
	if err := errors.Join(ask(50, 50), ask(50, 101), ask(101, 101)); err != nil {
		t.Fatal(err)
	}
	wantCode(t, ask(50, 49), CodeExpiresTooEarly)
	wantCode(t, ask(50, 102), CodeExpiresTooLate)
	_, err := w.schedule(alice, program.TimerRequest{Height: 102}) // its default expires before it is due
	wantCode(t, err, CodeExpiresTooEarly)
	_, err = w.schedule(alice, program.TimerRequest{Height: math.MaxUint64})
	wantCode(t, err, CodeExpiresTooEarly)
	w.head = math.MaxUint64 - 10 // nothing wraps at the end of heights
	w.must(t, alice, program.TimerRequest{Height: math.MaxUint64})
}

func TestT6FiresAtItsExpiryAndExpiresAfterIt(t *testing.T) {
	for _, late := range []bool{false, true} {
		w := rich()
		w.must(t, alice, program.TimerRequest{Height: 2, ExpiresAt: ptr(types.Height(2))})
		w.block()
		if !late {
			wantStatuses(t, w.block(), "fired")
			continue
		}
		w.cells = 0 // no room at its height
		wantStatuses(t, w.block(), "pending:block_cells_full")
		w.cells = w.p.CellsLimit
		out := w.block()
		wantStatuses(t, out, "expired")
		var data Expired
		if err := codec.Unmarshal(out.Events[0].Data, 1000, &data); err != nil || out.Events[0].Name != "TimerExpired" ||
			data.ExpiresAt != 2 || data.CurrentHeight != 3 || data.TimerID != out.Changes[0].Timer.ID {
			t.Fatalf("event %+v, %+v, %v", out.Events[0], data, err)
		}
	}
}

func TestT9ExpiredComesBeforeInsolvent(t *testing.T) {
	w := newWorld() // no account has money
	w.must(t, alice, program.TimerRequest{Height: 2, ExpiresAt: ptr(types.Height(2))})
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.p.GCCyclesPerBlock = 0
	w.block()
	wantStatuses(t, w.block(), "pending:gc_lane_full pending:gc_lane_full")
	w.p.GCCyclesPerBlock = 10_000
	wantStatuses(t, w.block(), "expired insufficient_funds")
}

func TestT11AFireNeedsItsLimitAndOnesThatDoNotFitArePassedOver(t *testing.T) {
	w := rich()
	w.p.LaneTimerCycles = 10_000
	gas := func(n types.Cycles) program.TimerRequest { return program.TimerRequest{Height: 2, GasLimit: &n} }
	w.handle = func(_ *world, o Fire) Fired { return Fired{Result: types.StatusOK, Cycles: o.Cycles} }
	w.must(t, alice, gas(6000))
	w.must(t, alice, gas(6000))
	w.must(t, alice, gas(4000)) // fits exactly
	w.must(t, alice, gas(1000))
	w.block()
	out := w.block()
	wantStatuses(t, out, "fired fired pending:lane_full pending:lane_full")
	if out.Cycles != 10_000 || w.orders[1].Cycles != 4000 {
		t.Fatalf("used %d", out.Cycles)
	}
}

func TestT11TheLaneCountsUseAndNotLimits(t *testing.T) {
	w := rich()
	w.p.LaneTimerCycles, w.p.CellsLimit = 1_000_000, 10_000_000
	w.cells = 10_000_000
	for range 3 {
		w.must(t, alice, program.TimerRequest{Height: 2}) // 550,000 each, 1,000 used
	}
	w.block()
	wantStatuses(t, w.block(), "fired fired fired")
}

func TestT13APayerEmptiedByAnEarlierFireEndsTheLater(t *testing.T) {
	w := rich()
	cost := w.blockNow().MaxCost
	first := w.must(t, alice, program.TimerRequest{Height: 2})
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.fund(alice, cost(&first)) // enough for each separately
	w.block()
	out := w.block()
	wantStatuses(t, out, "fired insufficient_funds")
	var data InsufficientFunds
	if err := codec.Unmarshal(out.Events[0].Data, 1000, &data); err != nil || out.Events[0].Name != "TimerCancelledInsufficientFunds" {
		t.Fatal(err, out.Events)
	}
	if data.FeePayer != alice || data.Required != cost(&first) || data.Available != cost(&first).Sub(out.Changes[0].FeePaid) {
		t.Fatalf("event %+v", data)
	}
	if out.GCCycles != 5000 {
		t.Fatalf("the end at its turn cost %d of the cleanup lane", out.GCCycles)
	}
}

func TestT13TheExactMaxCostIsEnough(t *testing.T) {
	w := rich()
	timer := w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000))})
	cost := w.blockNow().MaxCost(&timer)
	if want := types.WeiOf(1000*1000 + 550_000*1000); cost != want {
		t.Fatalf("max_cost %s, want %s", cost, want)
	}
	w.fund(alice, cost)
	w.block()
	wantStatuses(t, w.block(), "fired")
}

func TestMaxCostNeverWraps(t *testing.T) {
	w := rich()
	timer := w.must(t, alice, program.TimerRequest{Height: 2})
	half, _ := types.ParseWei("57896044618658097711785492504343953926634992332820282019728792003956564819968")
	for _, fees := range []Fees{{Cycle: types.MaxWei}, {Cell: types.MaxWei}, {Cycle: half.Div(550_000), Cell: half.Div(549_000)}} {
		w.fees = fees
		if cost := w.blockNow().MaxCost(&timer); cost != types.MaxWei {
			t.Fatalf("max_cost %s", cost)
		}
	}
}

func TestT18GasLimitBounds(t *testing.T) {
	w := rich()
	for _, c := range []struct {
		gas  types.Cycles
		code string
	}{{0, CodeGasLimitTooLow}, {999, CodeGasLimitTooLow}, {1000, ""}, {550_000, ""}, {550_001, CodeGasLimitTooHigh},
		{math.MaxUint64, CodeGasLimitTooHigh}} {
		_, err := w.schedule(alice, program.TimerRequest{Height: 9, GasLimit: &c.gas})
		if c.code == "" && err != nil {
			t.Fatal(err)
		}
		if c.code != "" {
			wantCode(t, err, c.code)
		}
	}
	if cycles, _ := FireLimit(&w.p, math.MaxUint64); cycles != 550_000 {
		t.Errorf("a fire may use %d cycles before the activation", cycles)
	}
}

func TestT18OnlyTheOwnerCancelsAndExtendsAndExtendingOnlyLengthens(t *testing.T) {
	w := rich()
	timer := w.must(t, alice, program.TimerRequest{Height: 9, ExpiresAt: ptr(types.Height(20))})
	ask := func(actor types.Address, to types.Height) error {
		_, err := w.blockNow().Extend(actor, timer.ID, to)
		return err
	}
	wantCode(t, ask(bob, 30), CodeNotOwner)
	wantCode(t, ask(alice, 20), CodeExpiresNotLater)
	wantCode(t, ask(alice, 19), CodeExpiresNotLater)
	wantCode(t, ask(alice, 2_592_002), CodeExpiresTooLate)
	if err := ask(alice, 2_592_001); err != nil {
		t.Fatal(err)
	}
	if got, _ := Get(&w.p, w.kv, 0, timer.ID); got.ExpiresAt != 2_592_001 || got.Height != 9 || got.Seq != timer.Seq {
		t.Fatalf("extended to %+v", got)
	}
	_, err := w.at(1).Cancel(bob, timer.ID)
	wantCode(t, err, CodeNotOwner)
	if _, err := w.at(1).Cancel(alice, timer.ID); err != nil {
		t.Fatal(err)
	}
	_, err = w.at(1).Cancel(alice, timer.ID) // T20: each timer ends once
	wantCode(t, err, CodeUnknownTimer)
}

func TestT18ExtendingSavesATimerThatWaitsForTheCleanupLane(t *testing.T) {
	w := rich()
	timer := w.must(t, alice, program.TimerRequest{Height: 2, ExpiresAt: ptr(types.Height(2))})
	w.cells, w.p.GCCyclesPerBlock = 0, 0
	w.block()
	w.block()
	wantStatuses(t, w.block(), "pending:gc_lane_full")
	if _, err := w.blockNow().Extend(alice, timer.ID, 50); err != nil {
		t.Fatal(err)
	}
	w.cells = w.p.CellsLimit
	wantStatuses(t, w.block(), "fired")
}

func TestT19WhatTheCleanupLaneHasNoRoomForWaitsUnfired(t *testing.T) {
	w := newWorld()
	w.p.GCCyclesPerBlock = 10_000 // two
	for range 3 {
		w.must(t, alice, program.TimerRequest{Height: 2})
	}
	w.must(t, bob, program.TimerRequest{Height: 2})
	w.fund(bob, types.WeiOf(1<<60))
	w.handle = func(w *world, o Fire) Fired { // bob's fire makes alice rich: too late for this block
		w.fund(alice, types.WeiOf(1<<60))
		return Fired{Result: types.StatusOK}
	}
	w.block()
	out := w.block()
	wantStatuses(t, out, "insufficient_funds insufficient_funds fired pending:gc_lane_full")
	if len(w.orders) != 1 || out.GCCycles != 10_000 {
		t.Fatalf("%d fires, %d cycles of cleanup", len(w.orders), out.GCCycles)
	}
	wantStatuses(t, w.block(), "fired") // classified again
}

// C13: what the cleanup lane uses does not wrap, whatever its parameters.
func TestT19TheCleanupLaneNeverWraps(t *testing.T) {
	w := newWorld()
	w.p.GCCyclesPerTimer, w.p.GCCyclesPerBlock = 1<<63, math.MaxUint64
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.block()
	out := w.block()
	wantStatuses(t, out, "insufficient_funds pending:gc_lane_full")
	if out.GCCycles != 1<<63 {
		t.Fatalf("%d cycles of cleanup", out.GCCycles)
	}
}

func TestT19TheCleanupLaneTakesNothingFromTheFires(t *testing.T) {
	w := newWorld()
	w.fund(bob, types.WeiOf(1<<60))
	w.p.LaneTimerCycles = 550_000
	for range 20 {
		w.must(t, alice, program.TimerRequest{Height: 2})
	}
	w.must(t, bob, program.TimerRequest{Height: 2})
	w.block()
	if out := w.block(); out.Cycles != 1000 || out.GCCycles != 100_000 || len(w.orders) != 1 {
		t.Fatalf("fires %d cycles, cleanup %d", out.Cycles, out.GCCycles)
	}
}

func TestT20AFailingHandlerIsAFire(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.handle = func(_ *world, o Fire) Fired { return Fired{Result: types.StatusReverted, Cycles: 5} }
	w.block()
	out := w.block()
	if c := out.Changes[0]; c.Status != types.TimerFired || c.Result != types.StatusReverted || c.CyclesUsed != 5 ||
		c.FeePaid != types.WeiOf(5000) {
		t.Fatalf("change %+v", c)
	}
	if pendingCount(w.kv, alice) != 0 {
		t.Fatal("it is still pending")
	}
}

func TestT22ABidIsAcceptedIgnoredAndWarnedOf(t *testing.T) {
	w := rich()
	timer, events, err := w.at(1).Schedule(alice, nil, program.TimerRequest{Height: 9, Bid: ptr(types.WeiOf(7))})
	var data BidIgnored
	if err != nil || len(events) != 1 || events[0].Name != EventBidIgnored || codec.Unmarshal(events[0].Data, 100, &data) != nil {
		t.Fatal(events, err)
	}
	if data.Bid != types.WeiOf(7) || data.TimerID != timer.ID || !timer.Bid.IsZero() {
		t.Fatalf("event %+v, bid %s", data, timer.Bid)
	}
}

func TestT25FeesStatedUnderFifoAreKeptUnchecked(t *testing.T) {
	w := rich()
	timer := w.must(t, alice, program.TimerRequest{Height: 9, MaxFeePerCycle: ptr(types.WeiOf(1)), MaxPriorityFeePerCycle: ptr(types.MaxWei),
		GBA: &bob})
	got, _ := Get(&w.p, w.kv, 0, timer.ID)
	if *got.MaxFeePerCycle != types.WeiOf(1) || *got.MaxPriorityFeePerCycle != types.MaxWei || *got.GBA != bob {
		t.Fatalf("kept %+v", got)
	}
}

func TestT27FifoGoesByTriggerHeightThenSequence(t *testing.T) {
	w := rich()
	late := w.must(t, alice, program.TimerRequest{Height: 3})
	early := w.must(t, alice, program.TimerRequest{Height: 2})
	w.cells = 0
	for range 3 {
		w.block() // both are carried
	}
	w.cells = w.p.CellsLimit
	w.block()
	if len(w.orders) != 2 || w.orders[0].Timer.ID != early.ID || w.orders[1].Timer.ID != late.ID {
		t.Fatal("out of order")
	}
	if d := w.orders[0].Timer.Deferrals; d != 2 {
		t.Fatalf("deferred %d times, want 2", d)
	}
}

func TestT27AFireNeedsMaxCellsToFitIntoWhatTheBlockHasLeft(t *testing.T) {
	w := rich()
	w.cells = 550_000 + 9
	for range 3 {
		w.must(t, alice, program.TimerRequest{Height: 2}) // each uses 10
	}
	w.block()
	out := w.block()
	wantStatuses(t, out, "fired pending:block_cells_full pending:block_cells_full")
	if out.Cells != 10 {
		t.Fatalf("%d cells", out.Cells)
	}
}

func TestT9ATimerCancelledByAnEarlierFireIsSkippedUncharged(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 2})
	victim := w.must(t, alice, program.TimerRequest{Height: 2})
	w.handle = func(w *world, o Fire) Fired {
		change, err := w.blockNow().Cancel(alice, victim.ID)
		if err != nil {
			t.Fatal(err)
		}
		return Fired{Result: types.StatusOK, Changes: []types.TimerChange{change}}
	}
	w.block()
	out := w.block()
	wantStatuses(t, out, "fired cancelled:cancelled_by_owner")
	if len(w.orders) != 1 {
		t.Fatal("the cancelled timer ran")
	}
}

func TestT9ATimerPassedOverAndThenCancelledIsNotReportedDeferred(t *testing.T) {
	w := rich()
	w.p.LaneTimerCycles = 10_000
	big := w.must(t, alice, program.TimerRequest{Height: 2})
	w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000))})
	w.handle = func(w *world, o Fire) Fired {
		change, _ := w.blockNow().Cancel(alice, big.ID)
		return Fired{Result: types.StatusOK, Changes: []types.TimerChange{change}}
	}
	w.block()
	wantStatuses(t, w.block(), "fired cancelled:cancelled_by_owner")
}

func TestT16AtMostMaxExaminedAreExaminedInDueOrder(t *testing.T) {
	w := rich()
	w.p.MaxExamined = 2
	for range 5 {
		w.must(t, alice, program.TimerRequest{Height: 2})
	}
	w.block()
	for _, want := range []int{2, 2, 1} {
		if out := w.block(); out.Examined != want || len(w.orders) != want {
			t.Fatalf("examined %d, fired %d, want %d", out.Examined, len(w.orders), want)
		}
	}
}

// Deferring moves the timer's entry once, when its height has gone by; after
// that a block with it writes as much as one without it.
func TestDeferringWritesOnlyWhenTheRingIsSwept(t *testing.T) {
	w, idle := rich(), rich()
	w.must(t, alice, program.TimerRequest{Height: 2, Payload: make([]byte, 1<<20)})
	w.cells = 0
	w.block()
	idle.block()
	const swept = 2 // taken from the ring, put into the carry
	writes := w.kv.writes - idle.kv.writes
	for i := range uint64(10) {
		idle.block()
		if out := w.block(); len(out.Changes) != 1 || out.Changes[0].Timer.Deferrals != i+1 {
			t.Fatalf("deferral %d: %+v", i, out.Changes)
		}
		if more := w.kv.writes - idle.kv.writes - writes; more != swept {
			t.Fatalf("%d deferrals wrote %d times", i+1, more)
		}
	}
	if got := Pending(&w.p, w.kv, w.head, alice); got[0].Deferrals != 10 {
		t.Fatalf("%d deferrals", got[0].Deferrals)
	}
	if tier, ok := TierOf(&w.p, w.kv, Pending(&w.p, w.kv, w.head, alice)[0].ID); !ok || tier != "carry" {
		t.Fatalf("it stands in %q", tier)
	}
}

func TestC8NextDueForbidsSkippingOverACarriedTimer(t *testing.T) {
	w := rich()
	if _, ok := NextDue(&w.p, w.kv); ok {
		t.Fatal("nothing is pending")
	}
	w.must(t, alice, program.TimerRequest{Height: 7})
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.cells = 0
	for range 4 {
		w.block()
	}
	if next, ok := NextDue(&w.p, w.kv); !ok || next != 2 {
		t.Fatalf("next %d, %v", next, ok)
	}
}

func TestC8HeightsSkippedOverNothingAreNoDeferrals(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 1000})
	w.head = 999 // skipped
	out := w.block()
	wantStatuses(t, out, "fired")
	if out.Changes[0].Timer.Deferrals != 0 {
		t.Fatal("counted skipped heights")
	}
}

func TestACapLoweredAfterSchedulingHoldsAtTheFire(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.p.MaxCyclesPerFire, w.p.LaneTimerCycles = 20_000, 20_000
	w.block()
	wantStatuses(t, w.block(), "fired")
	if w.orders[0].Cycles != 20_000 || w.orders[0].MaxCost != types.WeiOf(20_000*1000+550_000*1000) {
		t.Fatalf("limit %d, cost %s", w.orders[0].Cycles, w.orders[0].MaxCost)
	}
	if cycles, cells := FireLimit(&w.p, 550_000); cycles != w.orders[0].Cycles || cells != 550_000 {
		t.Errorf("it is told as %d cycles and %d cells", cycles, cells)
	}
}

func TestGovernanceCancelsAndExtendsWithoutOwningAndSaysSo(t *testing.T) {
	w := rich()
	timer := w.must(t, alice, program.TimerRequest{Height: 9, ExpiresAt: ptr(types.Height(10))})
	change, event, err := w.at(1).ExtendByGovernance(timer.ID, 50)
	if err != nil || change.Timer.ExpiresAt != 50 || event.Name != "timer.extended_by_governance" || event.Actor != types.GovernanceAddress {
		t.Fatal(change, event, err)
	}
	_, _, err = w.at(1).ExtendByGovernance(timer.ID, 50)
	wantCode(t, err, CodeExpiresNotLater)
	change, event, err = w.at(1).CancelByGovernance(timer.ID)
	if err != nil || change.Status != types.TimerCancelled || change.Reason != ReasonByGovernance ||
		event.Name != "timer.cancelled_by_governance" {
		t.Fatal(change, event, err)
	}
	_, _, err = w.at(1).CancelByGovernance(timer.ID)
	wantCode(t, err, CodeUnknownTimer)
	if e := ConfigUpdated(&w.p); e.Name != "timer_config.updated" {
		t.Fatal(e)
	}
}

func TestAPolicyThatDoesNotExistIsNamed(t *testing.T) {
	w := rich()
	w.p.Policy = "lottery"
	_, err := w.lane()
	wantCode(t, err, CodePolicyUnsupported)
}

func TestAnErrorOfTheEnvironmentEndsTheLane(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 1 + w.now()})
	w.block()
	boom := errors.New("the host crashed")
	_, err := blockOf(&w.p, w.kv, 2).RunLane(LaneHost{CellsLeft: w.cells, Fire: func(Fire) (Fired, error) { return Fired{}, boom }})
	if !errors.Is(err, boom) {
		t.Fatal(err)
	}
}
