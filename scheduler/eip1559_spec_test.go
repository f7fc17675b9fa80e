package scheduler

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/exact"
)

// One test per sentence of CIP-1 §§3-11 that binds, and per decision that stands
// for one, in the order of CIP-1, under the policy eip1559.

var carol = addressOf("carol")

// lane1559 is a rich world that runs CIP-1 with the lane's base fee at 1,000 wei.
func lane1559() *world {
	w := rich()
	w.fund(carol, types.WeiOf(1<<60))
	w.p.Policy, w.fees.Lane = EIP1559, types.WeiOf(1000)
	return w
}

func wei(n uint64) *types.Wei { return ptr(types.WeiOf(n)) }

// tipping asks for a timer at the next block but one, by bid.
func (w *world) tipping(t *testing.T, actor types.Address, maxFee, tip uint64, gas types.Cycles) types.Timer {
	t.Helper()
	return w.must(t, actor, program.TimerRequest{Height: w.now() + 1, MaxFeePerCycle: wei(maxFee), MaxPriorityFeePerCycle: wei(tip),
		GasLimit: &gas})
}

func firedOrder(w *world) (ids []types.TimerID) {
	for _, o := range w.orders {
		ids = append(ids, o.Timer.ID)
	}
	return ids
}

func wantOrder(t *testing.T, w *world, timers ...types.Timer) {
	t.Helper()
	var want []types.TimerID
	for _, timer := range timers {
		want = append(want, timer.ID)
	}
	if got := firedOrder(w); !slices.Equal(got, want) {
		t.Fatalf("fired %v, want %v", got, want)
	}
}

func TestCIP1Section3Step6PriorityIsTheLesserOfTipAndRoom(t *testing.T) {
	w := lane1559()
	w.tipping(t, alice, 1100, 100, 1000) // all of it
	w.tipping(t, alice, 1000, 0, 1000)
	w.tipping(t, bob, 5000, 200, 1000)
	w.block()
	w.fees.Lane = types.WeiOf(900) // room grows, tips do not
	out := w.block()
	want := []uint64{200, 100, 0}
	for i, c := range out.Changes {
		if c.Priority != types.WeiOf(want[i]) || c.TipPaid != types.WeiOf(want[i]*1000) {
			t.Errorf("fire %d: priority %s, tip %s, want %d a cycle", i, c.Priority, c.TipPaid, want[i])
		}
	}
}

func TestCIP1Section3Step7HighestEffectivePriorityFirst(t *testing.T) {
	w := lane1559()
	low, high := w.tipping(t, alice, 5000, 3, 1000), w.tipping(t, bob, 5000, 8, 1000)
	mid := w.tipping(t, carol, 5000, 5, 1000)
	w.block()
	w.block()
	wantOrder(t, w, high, mid, low)
}

func TestCIP1Section3Step7OverTheCapIsDeferredWithoutAnAttempt(t *testing.T) {
	w := lane1559()
	w.tipping(t, alice, 5000, 9, 200_000)
	w.block()
	w.p.MaxCyclesPerFireLane = 199_999 // lowered by governance after it was scheduled
	wantStatuses(t, w.block(), "pending:over_cycle_cap")
	w.p.MaxCyclesPerFireLane = 200_000
	wantStatuses(t, w.block(), "fired")
	if w.orders[0].Cycles != 200_000 {
		t.Fatalf("it had %d cycles", w.orders[0].Cycles)
	}
}

func TestCIP1Section3Step8MaxCostHoldsBothBaseFeesAndTheTip(t *testing.T) { // decision T13
	w := lane1559()
	w.tipping(t, alice, 1500, 300, 10_000)
	const cost = 10_000*(1000+1000+300) + 550_000*1000
	w.block()
	w.fund(alice, types.WeiOf(cost-1))
	out := w.block()
	wantStatuses(t, out, "insufficient_funds")
	var data InsufficientFunds
	if err := codec.Unmarshal(out.Events[0].Data, 1000, &data); err != nil || data.Required != types.WeiOf(cost) {
		t.Fatalf("%+v, %v", data, err)
	}

	w = lane1559()
	w.tipping(t, alice, 1500, 300, 10_000)
	w.block()
	w.fund(alice, types.WeiOf(cost))
	wantStatuses(t, w.block(), "fired")
	if w.orders[0].MaxCost != types.WeiOf(cost) || w.balances[alice] != types.WeiOf(cost-1000*2300-10*1000) ||
		w.balances[proposer] != types.WeiOf(300_000) {
		t.Fatalf("%+v, left %s, tips %s", w.orders[0], w.balances[alice], w.balances[proposer])
	}
}

func TestCIP1Section4NoTimerFiresInItsOwnBlockUnderEip1559(t *testing.T) {
	w := lane1559()
	w.tipping(t, alice, 5000, 1, 1000)
	w.handle = func(w *world, o Fire) Fired { // reschedules itself without end
		_, err := w.schedule(alice, program.TimerRequest{Height: w.now(), MaxFeePerCycle: wei(5000)})
		wantCode(t, err, CodeHeightNotFuture)
		w.tipping(t, alice, 5000, 1, 1000)
		return Fired{Result: types.StatusOK, Cycles: o.Cycles}
	}
	w.block()
	for range 20 {
		if out := w.block(); len(w.orders) != 1 || out.Cycles != 1000 {
			t.Fatalf("%d fires with %d cycles in block %d", len(w.orders), out.Cycles, w.head)
		}
	}
}

func TestCIP1Section5ATimerWithoutTipFiresWhenTheLaneIsUncongested(t *testing.T) {
	w := lane1559()
	w.tipping(t, alice, 1000, 0, 1000)
	w.block()
	out := w.block()
	wantStatuses(t, out, "fired")
	if o := w.orders[0]; o.Price.BaseFeeLane != types.WeiOf(1000) || !o.Price.TipCycle.IsZero() {
		t.Fatalf("price %+v", o.Price)
	}
}

func TestCIP1Section6DefaultsAreTheBiddersAtFireTime(t *testing.T) {
	w := lane1559()
	timer := w.must(t, alice, program.TimerRequest{Height: 9})
	if timer.MaxFeePerCycle != nil || timer.MaxPriorityFeePerCycle != nil || timer.GasLimit != types.DefaultGasLimit {
		t.Fatalf("%+v", timer)
	}
}

func TestT27APriorityWithoutAMaxFeeIsNotClamped(t *testing.T) {
	w := lane1559()
	timer, events, err := w.blockNow().Schedule(alice, nil, program.TimerRequest{Height: 9, MaxPriorityFeePerCycle: &types.MaxWei})
	if err != nil || len(events) != 0 || *timer.MaxPriorityFeePerCycle != types.MaxWei {
		t.Fatal(timer, events, err)
	}
}

func TestT14AStatedTipBeyondTheDefaultsRoomIsCutAtTheFire(t *testing.T) {
	w := lane1559()
	w.must(t, alice, program.TimerRequest{Height: 2, MaxPriorityFeePerCycle: wei(1 << 40)})
	w.block()
	w.block()
	if p := w.orders[0].Price.TipCycle; p != types.WeiOf(1000) { // 2 × base fee − base fee
		t.Fatalf("tip %s", p)
	}
}

// T14: the default max fee is cip1.default_gba_fee_multiple times the lane's base fee, or
// under gba the base fee of cycles. The tip is cut to the room below it.
func TestT14TheDefaultsMultipleIsTheParameter(t *testing.T) {
	for _, c := range []struct {
		policy        string
		multiple, tip uint64
	}{{EIP1559, 1, 0}, {EIP1559, 2, 1000}, {EIP1559, 5, 4000}, {GBA, 1, 0}, {GBA, 2, 1000}, {GBA, 5, 4000}} {
		w := lane1559()
		w.p.Policy, w.p.DefaultFeeMultiple, w.fees.Cycle = c.policy, c.multiple, types.WeiOf(1000)
		w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), MaxPriorityFeePerCycle: wei(1 << 40)})
		w.block()
		w.block()
		if len(w.orders) != 1 || w.orders[0].Price.TipCycle != types.WeiOf(c.tip) {
			t.Errorf("%s with a multiple of %d: %+v, want a tip of %d", c.policy, c.multiple, w.orders, c.tip)
		}
	}
}

// TestT16TheHighestStatedTipsAreExaminedFirst: cheap timers that make every block
// examine them do not keep a tipped one from it; ranks end at 2^64 - 1.
func TestT16TheHighestStatedTipsAreExaminedFirst(t *testing.T) {
	w := lane1559()
	w.p.MaxExamined, w.p.LaneTimerCycles = 3, 1000
	for range 50 {
		w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), MaxFeePerCycle: wei(1000)})
	}
	w.tipping(t, bob, 5000, 1, 1000)
	w.fund(carol, types.MaxWei)
	huge, _ := types.ParseWei("36893488147419103232") // 2^65
	w.must(t, carol, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), MaxPriorityFeePerCycle: &huge,
		MaxFeePerCycle: &types.MaxWei})
	w.block()
	if out := w.block(); out.Examined != 3 || w.orders[0].Timer.Actor != carol || w.orders[0].Price.TipCycle != huge {
		t.Fatalf("examined %d, %+v", out.Examined, w.orders)
	}
	if w.block(); w.orders[0].Timer.Actor != bob {
		t.Fatal("bob's tip was not examined")
	}
}

// TestT16ExpiredTimersAreExaminedBeside: timers that can only end delay no others,
// as long as the cleanup lane takes all of them; more do.
func TestT16ExpiredTimersAreExaminedBeside(t *testing.T) {
	w := lane1559()
	w.p.MaxExamined, w.p.GCCyclesPerBlock = 2, 3*w.p.GCCyclesPerTimer
	w.fund(carol, types.WeiOf(1<<60))
	for range 5 {
		timer := w.tipping(t, carol, 1<<40, 1<<30, 1000)
		e, _ := w.blockNow().calendarOf().Find(Place{Height: timer.Height, Rank: 1 << 30, Seq: timer.Seq})
		e.ExpiresAt = timer.Height // it has expired when the next block comes
		w.blockNow().calendarOf().Replace(e)
	}
	live := w.tipping(t, bob, 5000, 9, 1000)
	w.head = live.Height
	out := w.block()
	if out.Examined != 5 || out.GCCycles != 3*w.p.GCCyclesPerTimer || len(w.orders) != 0 {
		t.Fatalf("examined %d, buried %d cycles' worth, fired %d", out.Examined, out.GCCycles, len(w.orders))
	}
	if out = w.block(); out.Examined != 3 || len(w.orders) != 1 || w.orders[0].Timer.ID != live.ID {
		t.Fatalf("examined %d, fired %d", out.Examined, len(w.orders))
	}
}

func TestT16ExtendingKeepsTheRank(t *testing.T) {
	w := lane1559()
	timer := w.tipping(t, bob, 5000, 9, 1000)
	if _, err := w.blockNow().Extend(bob, timer.ID, timer.ExpiresAt+0); err == nil {
		t.Fatal("extended by nothing")
	}
	w.head++
	if _, err := w.blockNow().Extend(bob, timer.ID, timer.ExpiresAt+1); err != nil {
		t.Fatal(err)
	}
	w.p.MaxExamined = 1
	w.head--
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.block()
	w.block()
	wantOrder(t, w, timer)
}

func TestT13PricedOutIsDeferredAndWhoCannotPayEvenWithoutTipEnds(t *testing.T) { // and T27
	w := lane1559()
	poor := addressOf("poor")
	w.tipping(t, alice, 1000, 0, 1000)
	w.tipping(t, poor, 1000, 0, 1000)
	w.block()
	w.fees.Lane = types.WeiOf(1001)
	w.fund(poor, types.WeiOf(1000*2001+550_000*1000-1))
	wantStatuses(t, w.block(), "insufficient_funds pending:below_lane_basefee")
	w.fees.Lane = types.WeiOf(1000)
	wantStatuses(t, w.block(), "fired")
}

func TestT15ExpiredTimersAndWholeBidsAskNobody(t *testing.T) {
	w := lane1559()
	w.must(t, alice, program.TimerRequest{Height: 2, ExpiresAt: ptr(types.Height(2)), GBA: &bob})
	w.must(t, alice, program.TimerRequest{Height: 3, MaxFeePerCycle: wei(5000), MaxPriorityFeePerCycle: wei(1), GBA: &bob})
	w.cells = 0
	w.block()
	if w.block(); len(w.asked) != 1 {
		t.Fatalf("asked %d for the one that is due", len(w.asked))
	}
	if w.block(); len(w.asked) != 0 {
		t.Fatalf("asked %+v", w.asked)
	}
}

func TestT14TheContextHasTheSpecsNames(t *testing.T) {
	w := lane1559()
	w.fees.Cell, w.last = types.WeiOf(77), 12_345
	w.tipping(t, bob, 5000, 6, 1000)
	w.must(t, alice, program.TimerRequest{Height: 3, GBA: &carol, FeePayer: nil})
	w.block()
	w.cells = 0 // alice's is carried: its bidder is asked again
	w.block()
	w.block()
	var fields map[string]uint64
	if err := codec.Unmarshal(w.asked[0].Context, 1000, &fields); err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{"trigger_block_height": 3, "current_block_height": 3, "basefee_cycle": 1000, "basefee_cell": 77,
		"basefee_lane_timer": 1000, "last_block_cycle_usage": 12_345, "previous_block_p50_priority_tip_per_cycle": 0,
		"owner_actor_balance": 1 << 60}
	for name, n := range want {
		if got, ok := fields[name]; !ok || got != n || len(fields) != len(want) {
			t.Errorf("%s is %d, want %d, of %v", name, got, n, fields)
		}
	}
	if q := w.asked[0]; q.Bidder != carol || q.Payer != alice || q.Cycles != 20_000 {
		t.Errorf("%+v", q)
	}
}

// TestT15WhatABidderAnswers: a number by itself counts, all else is nonsense and
// told; the call is charged whatever it was.
func TestT15WhatABidderAnswers(t *testing.T) {
	over := append([]byte{0xc2, 0x58, 33, 1}, make([]byte, 32)...) // 2^256
	fee := func(value ...byte) []byte { return append([]byte("\xa1\x71max_fee_per_cycle"), value...) }
	for name, c := range map[string]struct {
		answer  []byte
		fault   string
		reason  string
		tip     uint64
		pricing string
	}{
		"both": {answer: codec.Marshal(&TxFeeParams{MaxFeePerCycle: wei(1500), MaxPriorityFeePerCycle: wei(9)}), tip: 9},
		"one":  {answer: codec.Marshal(&TxFeeParams{MaxPriorityFeePerCycle: wei(9)}), tip: 9},
		"none": {answer: []byte{0xa0}},
		"cells too": {answer: codec.Marshal(&TxFeeParams{MaxPriorityFeePerCycle: wei(9), MaxFeePerCell: wei(1),
			MaxPriorityFeePerCell: wei(1 << 40)}), tip: 9},
		"null":           {answer: fee(0xf6)},
		"too low":        {answer: codec.Marshal(&TxFeeParams{MaxFeePerCycle: wei(999)}), pricing: "pending:below_lane_basefee"},
		"reverted":       {fault: "reverted", reason: "reverted"},
		"looped":         {fault: "out_of_cycles", reason: "out_of_cycles"},
		"nothing":        {answer: []byte{}, reason: "malformed_answer"},
		"no output":      {reason: "malformed_answer"},
		"garbage":        {answer: []byte("hello"), reason: "malformed_answer"},
		"null alone":     {answer: []byte{0xf6}, reason: "malformed_answer"},
		"a list":         {answer: []byte{0x82, 1, 2}, reason: "malformed_answer"},
		"over 2^256":     {answer: fee(over...), reason: "malformed_answer"},
		"negative":       {answer: fee(0x20), reason: "malformed_answer"},
		"a text":         {answer: fee(0x63, '1', '0', '0'), reason: "malformed_answer"},
		"a float":        {answer: fee(0xf9, 0x3c, 0), reason: "malformed_answer"},
		"an unknown one": {answer: []byte("\xa1\x63bid\x05"), reason: "malformed_answer"},
		"a name twice":   {answer: []byte("\xa2\x71max_fee_per_cycle\x05\x71max_fee_per_cycle\x05"), reason: "malformed_answer"},
		"something more": {answer: append(fee(0x19, 0x05, 0xdc), 0), reason: "malformed_answer"},
		"too long":       {answer: append(fee(0x19, 0x05, 0xdc), make([]byte, 2000)...), reason: "malformed_answer"},
	} {
		w := lane1559()
		w.must(t, alice, program.TimerRequest{Height: 2, GBA: &bob, GasLimit: ptr(types.Cycles(1000))})
		w.answer = func(*world, BidCall) Answer { return Answer{Output: c.answer, Fault: c.fault, Cycles: 7000} }
		w.block()
		out := w.block()
		pricing := c.pricing
		if pricing == "" {
			pricing = "fired"
		}
		if got := strings.Join(statuses(out), " "); got != pricing || out.AskCycles != 7000 || out.Cycles != 1000 && pricing == "fired" {
			t.Errorf("%s: %s, asked for %d, fired for %d", name, got, out.AskCycles, out.Cycles)
		}
		if out.Changes[0].Priority != types.WeiOf(c.tip) {
			t.Errorf("%s: tip %s, want %d", name, out.Changes[0].Priority, c.tip)
		}
		if pricing == "fired" && (out.Changes[0].FeePaid.Add(types.WeiOf(7_000_000)) != types.WeiOf(1<<60).Sub(w.balances[alice])) {
			t.Errorf("%s: the fire cost %s, and alice paid %s", name, out.Changes[0].FeePaid, types.WeiOf(1<<60).Sub(w.balances[alice]))
		}
		if (c.reason != "") != (len(out.Events) == 1) {
			t.Fatalf("%s: events %+v", name, out.Events)
		}
		if c.reason == "" {
			continue
		}
		var data GasBidFailed
		if err := codec.Unmarshal(out.Events[0].Data, 1000, &data); err != nil || out.Events[0].Name != "timer.gas_bid_failed" ||
			data.Reason != c.reason || data.Bidder != bob || data.Actor != alice || data.TriggerBlockHeight != 2 {
			t.Errorf("%s: %+v, %v", name, data, err)
		}
	}
}

// TestT15TenThousandBiddersDueAtOnce: the calls of a block end with its budget,
// by use; the default GBA prices the others, and all of them fire in the end.
func TestT15TenThousandBiddersDueAtOnce(t *testing.T) {
	w := lane1559()
	w.p.LaneTimerCycles, w.cells = 1<<40, 1<<40
	for i := range 10_000 {
		actor := actorNumber(i)
		w.fund(actor, types.WeiOf(1<<50))
		w.must(t, actor, program.TimerRequest{Height: 2, GBA: ptr(actorNumber(i + 1)), GasLimit: ptr(types.Cycles(1000))})
	}
	w.answer = func(*world, BidCall) Answer {
		return Answer{Cycles: 15_000, Output: codec.Marshal(&TxFeeParams{MaxFeePerCycle: wei(9000), MaxPriorityFeePerCycle: wei(5)})}
	}
	w.block()
	out := w.block()
	if calls := 1 + (2_000_000-20_000)/15_000; len(w.asked) != calls || out.AskCycles != types.Cycles(calls)*15_000 {
		t.Fatalf("%d calls with %d cycles, want %d", len(w.asked), out.AskCycles, calls)
	}
	for i, q := range w.asked {
		if q.Payer != actorNumber(i) {
			t.Fatalf("call %d is paid by %s: not in sequence order", i, q.Payer)
		}
	}
	if len(w.orders) != 10_000 || w.orders[0].Price.TipCycle != types.WeiOf(5) || !w.orders[9999].Price.TipCycle.IsZero() {
		t.Fatalf("%d fires", len(w.orders))
	}
}

func TestT15ABidderThatUsesMoreThanItWasGivenIsABugOfWhoeverRanIt(t *testing.T) {
	w := lane1559()
	w.must(t, alice, program.TimerRequest{Height: 2, GBA: &bob})
	w.answer = func(_ *world, q BidCall) Answer { return Answer{Cycles: q.Cycles + 1} }
	w.block()
	if _, err := w.lane(); err == nil {
		t.Fatal("it passes")
	}
	boom := errors.New("the host crashed")
	_, err := w.blockNow().RunLane(LaneHost{Ask: func(BidCall) (Answer, error) { return Answer{}, boom }})
	if !errors.Is(err, boom) {
		t.Fatal(err)
	}
}

func TestT10TiesGoByIDOrByAge(t *testing.T) {
	for _, byID := range []bool{true, false} {
		w := lane1559()
		w.p.TieBreak = map[bool]string{true: TieByID, false: "age"}[byID]
		var timers []types.Timer
		for i := range 20 {
			timers = append(timers, w.must(t, alice, program.TimerRequest{Height: types.Height(3 - i%2), MaxFeePerCycle: wei(5000),
				MaxPriorityFeePerCycle: wei(4), GasLimit: ptr(types.Cycles(1000))}))
		}
		w.block()
		w.cells = 0
		w.block()
		w.cells = w.p.CellsLimit
		w.block()
		slices.SortStableFunc(timers, func(a, b types.Timer) int {
			if byID {
				return slices.Compare(a.ID[:], b.ID[:])
			}
			return int(a.Height) - int(b.Height)
		})
		wantOrder(t, w, timers...)
	}
}

func TestT10WeightsMultiplyTipsExactlyBeyond256Bits(t *testing.T) {
	amounts := rapid.Custom(func(t *rapid.T) types.Wei {
		w, _ := types.WeiFromBig(new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "bytes")))
		return w
	})
	product := func(tip, floor types.Wei, weight uint64) *big.Int {
		sum := new(big.Int).Add(tip.Big(), floor.Big())
		return sum.Mul(sum, new(big.Int).SetUint64(weight))
	}
	rapid.Check(t, func(t *rapid.T) {
		tip, floor, weight := amounts.Draw(t, "tip"), amounts.Draw(t, "floor"), rapid.Uint64().Draw(t, "weight")
		u, v := exact.SumTimes(tip, floor, weight), exact.SumTimes(floor, types.Wei{}, weight)
		whole := u.Big()
		if want := product(tip, floor, weight); whole.Cmp(want) != 0 {
			t.Fatalf("%x, want %x", whole, want)
		}
		if got, want := v.Compare(&u), product(floor, types.Wei{}, weight).Cmp(whole); got != want {
			t.Fatalf("compared as %d, want %d", got, want)
		}
	})
	if u := exact.SumTimes(types.MaxWei, types.MaxWei, math.MaxUint64); u[5] != 1 { // of 322 bits
		t.Fatalf("%x", u)
	}
}

func TestT17P50CountsEachFireOnceAndIsForgottenAfterABlockWithout(t *testing.T) {
	w := lane1559()
	for _, tip := range []uint64{7, 1, 100} {
		w.tipping(t, alice, 5000, tip, 1000)
	}
	w.tipping(t, bob, 5000, 3, 200_000) // more cycles are not more fires
	w.block()
	w.block()
	if p50 := previousP50(w.kv, w.now()); p50 != types.WeiOf(3) {
		t.Fatalf("p50 %s", p50)
	}
	if p50 := previousP50(w.kv, w.now()+1); !p50.IsZero() {
		t.Fatalf("after a skipped height p50 is %s", p50)
	}
	w.block()
	if p50 := previousP50(w.kv, w.now()); !p50.IsZero() {
		t.Fatalf("after an empty block p50 is %s", p50)
	}
}

// Decision C16: deliveries come after the lane. The block before also prices their
// timers, and not the fires of this block.
func TestT17P50IsThatOfTheBlockBeforeAlsoBehindTheLane(t *testing.T) {
	w := lane1559()
	w.block()
	for block, tips := range [][]uint64{{3}, {40}, {0}, {500}} {
		for _, tip := range tips {
			w.tipping(t, alice, 5000, tip, 1000)
		}
		before := previousP50(w.kv, w.now())
		if _, err := w.lane(); err != nil {
			t.Fatal(err)
		}
		if p50 := previousP50(w.kv, w.now()); p50 != before {
			t.Fatalf("in block %d p50 is %s before the lane and %s after it", block, before, p50)
		}
		w.head++
	}
}

func TestT5TimersFromBeforeTheActivationAreClamped(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 3}) // 550,000 cycles under fifo
	w.block()
	w.p.Policy, w.fees.Lane = EIP1559, types.WeiOf(1000)
	w.block()
	wantStatuses(t, w.block(), "fired")
	if o := w.orders[0]; o.Cycles != 250_000 || o.MaxCost != types.WeiOf(250_000*2000+550_000*1000) {
		t.Fatalf("%d cycles for %s", o.Cycles, o.MaxCost)
	}
	if cycles, cells := FireLimit(&w.p, 550_000); cycles != 250_000 || cells != 550_000 {
		t.Errorf("it is told as %d cycles and %d cells", cycles, cells)
	}
	if at := readLane(w.kv).Activated; at != 2 {
		t.Fatalf("activated at %d", at)
	}
}

// T5: a cut of the cap defers no timer that states no limit; one that states more than the new
// cap waits. Once it stopped every default timer until its expiry, thirty days later.
func TestT5ACutOfTheCapDefersOnlyStatedLimits(t *testing.T) {
	w := lane1559()
	stated := w.must(t, bob, program.TimerRequest{Height: 3, GasLimit: ptr(types.Cycles(250_000)), MaxFeePerCycle: wei(5000)})
	plain := w.must(t, alice, program.TimerRequest{Height: 3, MaxFeePerCycle: wei(5000)})
	w.block()
	w.p.MaxCyclesPerFireLane = 240_000
	w.block()
	out := w.block()
	for _, c := range out.Changes {
		switch {
		case c.Timer.ID == plain.ID && c.Status != types.TimerFired:
			t.Errorf("the default timer is %s: %s", c.Status, c.Reason)
		case c.Timer.ID == stated.ID && c.Reason != ReasonOverCap:
			t.Errorf("the timer that states 250,000 is %s: %s", c.Status, c.Reason)
		}
	}
	if len(w.orders) != 1 || w.orders[0].Cycles != 240_000 {
		t.Errorf("%+v", w.orders)
	}
}

func TestT21TheWindowIsEmptyAtActivation(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.block()
	w.block() // fires under fifo
	w.p.Policy, w.fees.Lane = EIP1559, types.WeiOf(1)
	w.tipping(t, alice, 50, 1, 1000)
	w.block()
	out := w.block()
	if c := out.Changes[0]; c.Weight != (types.Weight{Num: 2, Den: 1}) {
		t.Fatalf("weight %s", c.Weight)
	}
}

func TestT21WeightsAreThoseOfTheBlocksStart(t *testing.T) {
	w := lane1559()
	w.p.TieBreak = "age"
	first, second := w.tipping(t, alice, 5000, 5, 1000), w.tipping(t, alice, 5000, 5, 1000)
	other := w.tipping(t, bob, 5000, 5, 1000)
	w.block()
	out := w.block() // alice's first fire takes nothing from her second in this block
	wantOrder(t, w, first, second, other)
	for _, c := range out.Changes {
		if c.Weight.String() != "2/1" {
			t.Fatalf("weight %s", c.Weight)
		}
	}
	if recentFires(w.kv, alice) != 2 || recentFires(w.kv, bob) != 1 {
		t.Fatal("miscounted")
	}
}

func TestT21FailedFiresCount(t *testing.T) {
	w := lane1559()
	w.tipping(t, alice, 5000, 5, 1000)
	w.handle = func(*world, Fire) Fired { return Fired{Result: types.StatusReverted} }
	w.block()
	w.block()
	if n := recentFires(w.kv, alice); n != 1 {
		t.Fatalf("%d fires counted", n)
	}
}

// TestT21TheWindowCanBeShortenedAndLengthened: what leaves, leaves for good.
func TestT21TheWindowCanBeShortenedAndLengthened(t *testing.T) {
	w := lane1559()
	for range 6 {
		w.tipping(t, alice, 5000, 5, 1000)
		w.block()
	}
	w.block() // fired in 2..7
	count := func(window uint64, want uint64) {
		t.Helper()
		w.p.FairnessWindowBlocks = window
		w.block()
		if n := recentFires(w.kv, alice); n != want {
			t.Fatalf("before block %d, of %d blocks, %d fires, want %d", w.now(), window, n, want)
		}
	}
	count(1000, 6)
	count(3, 2)    // block 9: of 6..8
	count(1000, 2) // 2..5 stay forgotten
	count(1, 0)
	if windowKeys(w.kv) != 0 {
		t.Fatal("an actor without fires is kept")
	}
}

func TestSection8ClipBoundsAreParameters(t *testing.T) {
	w := lane1559()
	w.p.WeightMin, w.p.WeightMax = 3, 9
	b := w.at(5)
	b.fairnessWindow().keepFires([]actorFires{{alice, 4}, {bob, 4}, {carol, 1}})
	weights := b.fairnessWindow().currentWeights()
	for actor, want := range map[types.Address]string{alice: "3/1", carol: "15/2", addressOf("dave"): "9/1"} {
		if got := lowestTerms(weights.weightOf(actor)).String(); got != want {
			t.Errorf("%s weighs %s, want %s", nameOf(actor), got, want)
		}
	}
	w.p.WeightMax = 2 // below the minimum: no boost
	weights = b.fairnessWindow().currentWeights()
	if got := lowestTerms(weights.weightOf(addressOf("dave"))).String(); got != "3/1" {
		t.Errorf("weighs %s", got)
	}
}

func TestCheckFindsADamagedWindow(t *testing.T) {
	w := lane1559()
	w.at(5).fairnessWindow().keepFires([]actorFires{{alice, 4}, {bob, 1}})
	for _, p := range w.kv.dump() {
		mark := w.kv.mark()
		w.kv.Set(p.key, nil)
		if Check(&w.p, w.kv) == nil {
			t.Errorf("without %q", p.key)
		}
		w.kv.rollback(mark)
	}
	w.kv.Set(keyRecent(alice), codec.Marshal(uint64(5)))
	if Check(&w.p, w.kv) == nil {
		t.Error("a wrong sum passes")
	}
}

func TestSection13AReserveOfOneMaxCostPerPendingTimerIsWarnedOf(t *testing.T) {
	for _, policy := range []string{Fifo, EIP1559} {
		w := newWorld()
		w.p.Policy = policy
		gas := types.Cycles(1000)
		ask := func() ReserveLow {
			_, events, err := w.blockNow().Schedule(alice, nil, program.TimerRequest{Height: 9, GasLimit: &gas})
			if err != nil {
				t.Fatal(err)
			}
			var low ReserveLow
			for _, e := range events {
				if e.Name != "timer.reserve_low" || codec.Unmarshal(e.Data, 1000, &low) != nil {
					t.Fatal(events)
				}
			}
			return low
		}
		const cost = 1000*1000 + 550_000*1000
		w.fund(alice, types.WeiOf(2*cost))
		if low := ask(); low.Pending != 0 {
			t.Fatalf("warned of %+v", low)
		}
		ask()
		if low := ask(); low.Pending != 3 || low.Required != types.WeiOf(3*cost) || low.Balance != types.WeiOf(2*cost) || low.Actor != alice {
			t.Fatalf("%s: %+v", policy, low)
		}
		w.p.Fees = params.FeesFree
		if low := ask(); (low.Pending == 0) != Free(&w.p) {
			t.Fatalf("%s: warned where fires are free, or not where they cost: %+v", policy, low)
		}
	}
}

func TestSection73AHintIsOneOfFourWordsAndNoSecondPriority(t *testing.T) {
	w := lane1559()
	_, err := w.schedule(alice, program.TimerRequest{Height: 9, PriorityTier: "asap"})
	wantCode(t, err, CodePriorityTier)
	_, err = w.schedule(alice, program.TimerRequest{Height: 9, PriorityTier: TierFast, MaxPriorityFeePerCycle: wei(0)})
	wantCode(t, err, CodePriorityTwice)
}

func TestSection10AFireUsesAtMostAnEighthOfTheLane(t *testing.T) {
	w := lane1559()
	if w.p.MaxCyclesPerFireLane*8 != w.p.LaneTimerCycles {
		t.Fatal("the defaults changed")
	}
	_, err := w.schedule(alice, program.TimerRequest{Height: 9, GasLimit: ptr(types.Cycles(250_001))})
	wantCode(t, err, CodeGasLimitTooHigh)
	w.must(t, alice, program.TimerRequest{Height: 9, GasLimit: ptr(types.Cycles(250_000))})
}

// Decision T2: CIP-5 §6.3 allows free fires only for fifo. Under every other policy
// the parameter frees nothing: who holds nothing does not fire.
func TestT2FiresAreFreeUnderFifoAlone(t *testing.T) {
	for _, policy := range []string{Fifo, EIP1559, GBA, BiasVCG, BiasFirstPrice} {
		w := newWorld()
		w.p.Policy, w.p.Fees, w.fees.Lane = policy, params.FeesFree, types.WeiOf(1000)
		w.must(t, alice, program.TimerRequest{Height: 2})
		w.block()
		w.block()
		if free := policy == Fifo; free != (len(w.orders) == 1) || free != Free(&w.p) {
			t.Errorf("%s: %d fires of an actor without money", policy, len(w.orders))
		}
	}
}

// TestT21DecayCostsWhatEntersAndLeaves: the window's writes follow from the fires
// of a block and of the one that leaves, not from the window's size; if neither
// fired nothing is written.
func TestT21DecayCostsWhatEntersAndLeaves(t *testing.T) {
	w := lane1559()
	w.p.FairnessWindowBlocks = 20
	fires := func(n int) (all []actorFires) {
		for i := range n {
			all = append(all, actorFires{actorNumber(int(w.now())*100 + i), 1})
		}
		return all
	}
	cost := func(n int) int {
		before := w.kv.writes
		w.blockNow().fairnessWindow().dropOldBlocks()
		w.blockNow().fairnessWindow().keepFires(fires(n))
		w.head++
		return w.kv.writes - before
	}
	for range 21 {
		cost(5)
	}
	for range 50 {
		// 5 sums and a block each way, and twice the count of those with one fire.
		if n := cost(5); n != 2*(5+1)+2 {
			t.Fatalf("%d writes in block %d", n, w.head)
		}
	}
	for range 21 {
		cost(0)
	}
	if n := cost(0); n != 0 || windowKeys(w.kv) != 0 {
		t.Fatalf("%d writes for nothing", n)
	}
}

func TestAnIdleBlockOfEip1559WritesNothingBesideTheCalendarsCursor(t *testing.T) {
	w := lane1559()
	w.block()
	before := w.kv.dump()
	w.block()
	after := w.kv.dump()
	for i := range after {
		if len(before) != len(after) || string(before[i].key) != string(after[i].key) {
			t.Fatal("keys came or went")
		}
		if string(after[i].key) != "t/m" && string(before[i].value) != string(after[i].value) {
			t.Fatalf("%q changed", after[i].key)
		}
	}
}

// windowKeys is how many keys of state the fairness window has.
func windowKeys(kv KV) (n int) {
	for _, prefix := range []string{"t/u/", "t/v/", "t/w/"} {
		n += len(scanKeys(kv, prefix))
	}
	return n
}
