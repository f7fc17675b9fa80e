package program

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

const thousand = 30 * time.Microsecond // of cycles of a plain loop

// spend lets an attempt use CPU time in looks of a millisecond at so many times a plain loop,
// and returns when it is late; 0: it is not, for all its limit.
func spend(limit types.Cycles, times int) time.Duration {
	c := NewCredit(limit, thousand, 0)
	for cpu := time.Millisecond; ; cpu += time.Millisecond {
		used := types.Cycles(cpu/thousand) * 1000 / types.Cycles(times)
		if used >= limit {
			return 0
		}
		if c.Spend(used, cpu) {
			return cpu
		}
	}
}

// Decision C18, 1: what keeps to eight times a plain loop is never late. What takes more than
// forty times is late after some 20 ms, and what takes more than sixteen before its limit ends.
func TestC18CreditEndsWhatTakesLongerThanItsCycles(t *testing.T) {
	for _, limit := range []types.Cycles{1_100, 20_000, 100_000, 1_000_000} {
		for _, times := range []int{1, 8, 15} {
			if late := spend(limit, times); late != 0 {
				t.Errorf("%d times a loop with a limit of %d is late after %v", times, limit, late)
			}
		}
	}
	if late := spend(1_000_000, 400); late == 0 || late > 25*time.Millisecond {
		t.Errorf("400 times a loop is late after %v", late)
	}
	if late := spend(1_000_000, 39); late < 450*time.Millisecond || late > 510*time.Millisecond {
		t.Errorf("39 times a loop is late after %v, of 16 times the limit", late)
	}
}

// Decision C18, 1: a charge before dear work pays for that work alone. What it leaves is gone with
// the next cycles.
func TestC18OneChargeIsNoCreditForWhatFollows(t *testing.T) {
	c := NewCredit(1_000_000, thousand, 0)
	if c.Spend(500_000, 2*time.Millisecond) || c.Spend(500_000, 400*time.Millisecond) {
		t.Error("half a million cycles in one charge do not pay for 400 ms")
	}
	c = NewCredit(1_000_000, thousand, 0)
	if c.Spend(700_000, time.Millisecond) || c.Spend(702_048, 2*time.Millisecond) {
		t.Fatal("it is late in its first steps")
	}
	if left := c.Left(); left != LateCredit {
		t.Errorf("%v are left", left)
	}
	if !c.Spend(702_048, 24*time.Millisecond) {
		t.Error("22 ms without a cycle are not late")
	}
}

// A clock that stands still or goes back, and a limit near the largest number, give no more than
// the rule does.
func TestC18CreditIsBounded(t *testing.T) {
	c := NewCredit(1<<63, time.Hour, TimeOfPages(LatePages, time.Hour))
	if c.Left() != LateCredit+LatePages*MaxPage {
		t.Errorf("it begins with %v", c.Left())
	}
	c = NewCredit(1_000_000, thousand, 0)
	for range 100 {
		if c.Spend(0, 0) || c.Spend(0, -time.Second) {
			t.Fatal("no time at all is late")
		}
	}
	if c.Left() != LateCredit {
		t.Errorf("%v are left", c.Left())
	}
}
