package scheduler

import (
	"math/big"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// storm has 10,000 timers of 100 actors due at height 3, with mixed tips and
// limits, and a number that are expired by then.
type storm struct {
	*world
	left  map[types.TimerID]bool
	fired []types.TimerID
}

func newStorm(t *testing.T, expired int) *storm {
	s := &storm{world: lane1559(), left: map[types.TimerID]bool{}}
	s.p.MaxTimers, s.p.CellsLimit = 1<<20, 1<<40
	for i := range expired {
		s.fund(actorNumber(1000+i/100), types.WeiOf(1<<60))
		s.must(t, actorNumber(1000+i/100), program.TimerRequest{Height: 2, ExpiresAt: ptr(types.Height(2)), MaxFeePerCycle: wei(1000)})
	}
	for i := range 10_000 {
		actor := actorNumber(i % 100)
		s.fund(actor, types.WeiOf(1<<60))
		timer := s.must(t, actor, program.TimerRequest{Height: 3, GasLimit: ptr(types.Cycles(1000 + i*7919%5_000)),
			MaxFeePerCycle: wei(5000), MaxPriorityFeePerCycle: wei(uint64(i * 31 % 1000))})
		s.left[timer.ID] = true
	}
	s.handle = func(_ *world, o Fire) Fired {
		return Fired{Result: types.StatusOK, Cycles: o.Cycles * 9 / 10, Cells: 10}
	}
	s.cells = 0
	s.step(t)
	s.step(t)
	s.cells = s.p.CellsLimit
	return s
}

func (s *storm) step(t *testing.T) LaneResult {
	t.Helper()
	before := s.supply()
	out, err := s.lane()
	if err != nil {
		t.Fatal(err)
	}
	s.head++
	s.blockNow().Maintain()
	for _, c := range out.Changes {
		if c.Status == types.TimerFired {
			if !s.left[c.Timer.ID] {
				t.Fatalf("timer %s fired twice", c.Timer.ID)
			}
			delete(s.left, c.Timer.ID)
			s.fired, before = append(s.fired, c.Timer.ID), before.Sub(c.FeePaid.Sub(c.TipPaid))
		}
	}
	if after := s.supply(); after != before {
		t.Fatalf("block %d: accounts hold %s wei, want %s", s.head, after, before)
	}
	return out
}

func (s *storm) supply() (sum types.Wei) {
	for _, b := range s.balances {
		sum = sum.Add(b)
	}
	return sum
}

// wantOrder: what fired came by effective priority, as the block tells it, ties
// by id.
func (s *storm) wantOrder(t *testing.T, out LaneResult) {
	t.Helper()
	effective := func(c types.TimerChange) *big.Rat {
		w := new(big.Rat).SetFrac(new(big.Int).SetUint64(c.Weight.Num), new(big.Int).SetUint64(c.Weight.Den))
		return w.Mul(w, new(big.Rat).SetInt(c.Priority.Big()))
	}
	fires := slices.DeleteFunc(slices.Clone(out.Changes), func(c types.TimerChange) bool { return c.Status != types.TimerFired })
	if !slices.IsSortedFunc(fires, func(a, b types.TimerChange) int {
		if c := effective(b).Cmp(effective(a)); c != 0 {
			return c
		}
		return slices.Compare(a.Timer.ID[:], b.Timer.ID[:])
	}) {
		t.Fatalf("block %d is out of order", s.head)
	}
	if s.p.LaneTimerCycles < out.Cycles {
		t.Fatalf("block %d used %d cycles", s.head, out.Cycles)
	}
}

// TestAStormOfTenThousandTimers: every block keeps the order and the lane, every
// timer ends once, every wei is accounted for; and a mass of expired timers changes
// nothing about the fires.
func TestAStormOfTenThousandTimers(t *testing.T) {
	calm, mixed := newStorm(t, 0), newStorm(t, 10_000)
	ended := 0
	for len(calm.left) > 0 {
		out := calm.step(t)
		calm.wantOrder(t, out)
		if out.Cycles == 0 || calm.head > 200 {
			t.Fatalf("%d timers are left in block %d", len(calm.left), calm.head)
		}
		beside := mixed.step(t)
		mixed.wantOrder(t, beside)
		if !slices.Equal(calm.fired, mixed.fired) || out.Cycles != beside.Cycles {
			t.Fatalf("block %d: %d and %d fired", calm.head, len(calm.fired), len(mixed.fired))
		}
		if beside.GCCycles > mixed.p.GCCyclesPerBlock {
			t.Fatalf("%d cycles of cleanup", beside.GCCycles)
		}
		ended += int(beside.GCCycles / mixed.p.GCCyclesPerTimer)
	}
	if ended != 10_000 || Total(mixed.kv) != 0 || Total(calm.kv) != 0 {
		t.Fatalf("%d ended unfired, %d are pending", ended, Total(mixed.kv))
	}
	if err := Check(&mixed.p, mixed.kv); err != nil {
		t.Fatal(err)
	}
	t.Logf("all fired in %d blocks", calm.head-2)
}

// TestOneActorWithNineTenthsOfTheTimersAgainstNineQuietOnes: equal tips. The
// quiet ones weigh more until they have fired as often as the others, so theirs
// are done long before the lane is.
func TestOneActorWithNineTenthsOfTheTimersAgainstNineQuietOnes(t *testing.T) {
	c := newCrowd()
	c.add(t, member(0), 900, 10)
	for block := range 100 {
		for quiet := 1; quiet < 10; quiet++ {
			if block%9 == quiet-1 {
				c.add(t, member(quiet), 1, 10)
			}
		}
		c.step(t)
	}
	var worst uint64
	for quiet := 1; quiet < 10; quiet++ {
		if len(c.waits[member(quiet)]) < 11 {
			t.Errorf("%s fired %d times", nameOf(member(quiet)), c.fired[member(quiet)])
		}
		worst = max(worst, longest(c.waits[member(quiet)]))
	}
	t.Logf("longest wait of the hog %d, of the quiet %d", longest(c.waits[member(0)]), worst)
	if hog := longest(c.waits[member(0)]); worst > hog/3 {
		t.Errorf("the quiet waited up to %d blocks, the hog %d", worst, hog)
	}
}
