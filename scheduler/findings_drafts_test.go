package scheduler

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// CIP-1 §8 gives the length of the window to two tiers of governance. Tier 2 decides
// changes of the inclusion ordering, and the number makes such a change (finding F72).
func TestFindingALengthOfTheWindowOrdersTheLane(t *testing.T) {
	for window, first := range map[uint64]types.Address{1000: bob, 1: alice} {
		w := lane1559()
		w.p.FairnessWindowBlocks = window
		for range 3 {
			w.tipping(t, alice, 5000, 1, 1000)
			w.block()
		}
		w.tipping(t, bob, 5000, 1, 1000)
		w.block()
		w.tipping(t, alice, 5000, 5, 1000)
		w.tipping(t, bob, 5000, 6, 1000)
		w.block() // bob's first fires in it: alice has three fires by then, before it
		w.block()
		if len(w.orders) != 2 || w.orders[0].Timer.Actor != first {
			t.Errorf("with a window of %d blocks the first of %d is %s", window, len(w.orders), nameOf(w.orders[0].Timer.Actor))
		}
	}
}

// CIP-1 §14: "no syscall, opcode, or constant changes are introduced". §10 lowers the
// limit of a fire from 550,000 cycles to 250,000. The same timer has less after the
// activation, and the same call is refused (finding F73).
func TestFindingActivationTakesCyclesFromAFire(t *testing.T) {
	request := program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(300_000))}
	for policy, cycles := range map[string]types.Cycles{Fifo: 300_000, EIP1559: 250_000} {
		w := rich()
		w.must(t, alice, request) // under fifo
		w.block()
		w.p.Policy, w.fees.Lane = policy, types.WeiOf(1000)
		wantStatuses(t, w.block(), "fired")
		if got := w.orders[0].Cycles; got != cycles {
			t.Errorf("under %s the fire has %d cycles, want %d", policy, got, cycles)
		}
		later := request
		later.Height = w.now() + 1
		if _, err := w.schedule(alice, later); (err == nil) != (policy == Fifo) {
			t.Errorf("under %s the call of before is answered %v", policy, err)
		}
	}
}

// CIP-5 §9.7 has cycles_limit replace a "fixed 500k"; the fixed budget of §§5.2 and 6.2
// is 550,000 (finding F74).
func TestFindingTheFixedBudgetOfAFireIsNotHalfAMillion(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 2})
	w.block()
	wantStatuses(t, w.block(), "fired")
	if got := w.orders[0].Cycles; got != 550_000 {
		t.Errorf("a fire that states no limit has %d cycles", got)
	}
}
