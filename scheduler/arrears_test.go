package scheduler

import (
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// besieged is a world in which two timers per block are examined. Five due timers of an
// actor come before one of alice's that can pay and states no tip.
func besieged(t *testing.T, w *world, foe types.Address, request program.TimerRequest) (foes []types.TimerID, victim types.Timer) {
	t.Helper()
	w.p.MaxExamined, w.p.GCCyclesPerBlock = 2, 0
	for range 5 {
		foes = append(foes, w.must(t, foe, request).ID)
	}
	victim = w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000))})
	w.block()
	return foes, victim
}

// TestT16UnderEveryPolicyASiegeOfPoorTimersLastsUntilEachWasExaminedOnce: their ends, which
// the cleanup lane has no room for, or their deferrals delay no other timer.
func TestT16UnderEveryPolicyASiegeOfPoorTimersLastsUntilEachWasExaminedOnce(t *testing.T) {
	for _, policy := range []string{Fifo, EIP1559, GBA, BiasVCG, BiasFirstPrice} {
		w := rich()
		w.p.Policy, w.fees.Lane = policy, types.WeiOf(1000)
		_, victim := besieged(t, w, addressOf("poor"), program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000))})
		for _, want := range []int{0, 0, 1} {
			if w.block(); len(w.orders) != want {
				t.Fatalf("%s: %d fires at %d, want %d", policy, len(w.orders), w.head, want)
			}
		}
		if w.orders[0].Timer.ID != victim.ID {
			t.Errorf("%s: %s fired", policy, w.orders[0].Timer.ID)
		}
	}
}

// TestT16WhatIsPricedOutTakesTurns: each is examined again after as many blocks as all of
// them take. The one that can pay again is examined at its turn, and not before.
func TestT16WhatIsPricedOutTakesTurns(t *testing.T) {
	w := lane1559()
	foes, _ := besieged(t, w, bob, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), MaxFeePerCycle: wei(1000)})
	w.fees.Lane = types.WeiOf(1001)
	turn := func(want ...int) {
		t.Helper()
		var got []types.TimerID
		for _, c := range w.block().Changes {
			if c.Timer.Actor == bob {
				got = append(got, c.Timer.ID)
			}
		}
		same := len(got) == len(want)
		for i := range got {
			same = same && got[i] == foes[want[i]]
		}
		if !same {
			t.Fatalf("block %d examined %v, want those of %v of %v", w.head, got, want, foes)
		}
	}
	turn(0, 1)
	turn(2, 3)
	turn(4) // and alice's, which fires
	turn(0, 1)
	turn(2, 3)
	turn(0, 4) // of one height the lower sequence
	w.fees.Lane = types.WeiOf(1000)
	w.p.LaneTimerCycles = 1000
	turn(1, 2) // both can pay: one fires, and the other leaves the arrears
	if len(w.orders) != 1 {
		t.Fatalf("%d fires", len(w.orders))
	}
	w.fees.Lane = types.WeiOf(1001)
	turn(2, 3)
}

// TestT16ABlockExaminesSoManyInArrears: a siege costs a block no more than that,
// though it has room.
func TestT16ABlockExaminesSoManyInArrears(t *testing.T) {
	w := lane1559()
	for range 20 {
		w.must(t, bob, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), MaxFeePerCycle: wei(1000)})
	}
	w.fees.Lane = types.WeiOf(1001)
	w.p.MaxArrears = 3
	w.block()
	for i, want := range []int{20, 3, 3} {
		if out := w.block(); out.Examined != want {
			t.Errorf("block %d examined %d, want %d", i, out.Examined, want)
		}
	}
	w.p.MaxArrears = 20
	if out := w.block(); out.Examined != 20 {
		t.Errorf("examined %d of 20", out.Examined)
	}
}

// TestT16OneFireThatEmptiesThePayerPutsTheOthersInArrears: they were examined and
// cannot pay, as those of an empty payer.
func TestT16OneFireThatEmptiesThePayerPutsTheOthersInArrears(t *testing.T) {
	w := revision()
	var ids []types.TimerID
	for range 3 {
		ids = append(ids, w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000))}).ID)
	}
	w.fund(alice, types.WeiOf(1_500_000)) // of 1,000,000 for each fire
	w.block()
	wantStatuses(t, w.block(), "fired pending:insufficient_funds pending:insufficient_funds")
	wantTiers(t, w, ids[1:], "arrears arrears")
}

// TestT16NoVerdictOnMoneyNoMove: a timer that the proposer skips, or that expired and waits
// for its burial, stays in arrears, or out of them.
func TestT16NoVerdictOnMoneyNoMove(t *testing.T) {
	for reason, policy := range map[string]string{ReasonNotBegun: EIP1559, ReasonHostFailed: EIP1559, "expires": EIP1559} {
		w := lane1559()
		w.p.Policy, w.p.GCCyclesPerBlock = policy, 0
		request := program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), MaxFeePerCycle: wei(1000)}
		if reason == "expires" {
			request.ExpiresAt = ptr(types.Height(2))
		}
		poor := w.must(t, bob, request)
		request.MaxFeePerCycle = wei(5000)
		sound := w.must(t, bob, request)
		w.fees.Lane = types.WeiOf(1001)
		w.p.LaneTimerCycles = 999
		w.block()
		wantStatuses(t, w.block(), "pending:below_lane_basefee pending:lane_full")
		w.p.LaneTimerCycles, w.fees.Lane = 10_000, types.WeiOf(1000)
		w.passes = map[types.TimerID]string{poor.ID: reason, sound.ID: reason}
		w.block()
		wantTiers(t, w, []types.TimerID{poor.ID, sound.ID}, "arrears carry")
	}
}

// TestT16WaitingWritesOneKeyABlock: a timer that waits in arrears writes its own
// keys only if the block left out another.
func TestT16WaitingWritesOneKeyABlock(t *testing.T) {
	w := lane1559()
	for range 20 {
		w.must(t, bob, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), MaxFeePerCycle: wei(1000)})
	}
	w.fees.Lane = types.WeiOf(1001)
	w.block()
	w.block()
	writes := func() int {
		before := w.kv.writes
		w.block()
		return w.kv.writes - before
	}
	if n := writes(); n > 4 { // the cursor twice, and what a block of the lane keeps
		t.Errorf("%d writes for 20 timers that wait", n)
	}
	w.p.MaxExamined, w.p.GCCyclesPerBlock = 5, 0
	if n := writes(); n < 3*5 || n > 3*5+4 {
		t.Errorf("%d writes for 5 timers of 20", n)
	}
}

// TestT16AnOwnerReachesHisTimerInArrears: he cancels it, and extends it where it is.
func TestT16AnOwnerReachesHisTimerInArrears(t *testing.T) {
	w := lane1559()
	var ids []types.TimerID
	for range 2 {
		timer := w.must(t, bob, program.TimerRequest{Height: 2, MaxFeePerCycle: wei(1000), ExpiresAt: ptr(types.Height(50))})
		ids = append(ids, timer.ID)
	}
	w.fees.Lane = types.WeiOf(1001)
	w.block()
	w.block()
	wantTiers(t, w, ids, "arrears arrears")
	if _, err := w.blockNow().Extend(bob, ids[0], 60); err != nil {
		t.Fatal(err)
	}
	if change, err := w.blockNow().Cancel(bob, ids[1]); err != nil || change.Timer.Deferrals != 1 {
		t.Fatalf("%+v, %v", change, err)
	}
	wantTiers(t, w, ids[:1], "arrears")
	if got, ok := Get(&w.p, w.kv, w.head, ids[0]); !ok || got.ExpiresAt != 60 || got.Deferrals != 1 || got.Height != 2 {
		t.Fatalf("%+v", got)
	}
	if err := Check(&w.p, w.kv); err != nil {
		t.Fatal(err)
	}
	w.head = 60
	w.blockNow().Maintain()
	wantStatuses(t, w.block(), "expired")
}

// TestT16TimersOfOldStatesAreNotInArrears: a record from before the arrears reads as
// one that is not in them, and is written the same.
func TestT16TimersOfOldStatesAreNotInArrears(t *testing.T) {
	old := record{At: 7, Rank: 8, Seq: 9, Height: 7, Handler: "h", ScheduledAt: 3}
	data := codec.Marshal(&old)
	if got := mustReadRecord(data); got != old || string(got.encodeRecord()) != string(data) {
		t.Errorf("%+v is read as %+v and written as %x, was %x", old, got, got.encodeRecord(), data)
	}
	old.Examined = 11
	if got := mustReadRecord(old.encodeRecord()); got != old || got.placeOf() != (Place{Height: 7, Rank: 8, Seq: 9, Examined: 11}) {
		t.Errorf("%+v is read as %+v", old, got)
	}
	old.Watch = &types.Watch{Key: types.Bytes("k")}
	if got := mustReadRecord(old.encodeRecord()); got.Watch == nil || got.Examined != 11 {
		t.Errorf("%+v is read as %+v", old, got)
	}
	for _, bad := range [][]byte{{cborPair}, {cborPair, 0x18}, append([]byte{cborPair, 0}, data...)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%x is read", bad)
				}
			}()
			mustReadRecord(bad)
		}()
	}
}

func wantTiers(t *testing.T, w *world, ids []types.TimerID, want string) {
	t.Helper()
	var tiers []string
	for _, id := range ids {
		tier, _ := TierOf(&w.p, w.kv, id)
		tiers = append(tiers, tier)
	}
	if got := fmt.Sprint(tiers); got != "["+want+"]" {
		t.Fatalf("the timers are in %s, want %s", got, want)
	}
}
