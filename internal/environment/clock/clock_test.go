package clock

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"pgregory.net/rapid"
)

// count counts rings; the clock's goroutines add, the test reads.
type count struct{ v atomic.Int64 }

func (c *count) add() int { return int(c.v.Add(1)) }
func (c *count) n() int   { return int(c.v.Load()) }

func TestNowFollowsTheMachineAndTheOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		start := c.Now()
		if want := types.Time(time.Now().UnixNano()); start != want {
			t.Fatalf("now is %d, the machine's is %d", start, want)
		}
		time.Sleep(time.Second)
		c.Advance(time.Hour)
		if got := c.Now().Sub(start); got != time.Hour+time.Second {
			t.Fatalf("moved by %v", got)
		}
		if c.Offset() != time.Hour {
			t.Fatalf("offset %v", c.Offset())
		}
		c.SetOffset(-time.Minute)
		if got := c.Now().Sub(start); got != time.Second-time.Minute {
			t.Fatalf("moved by %v", got)
		}
	})
}

func TestNowStandsStillWhenTheMachinesClockIsPutBack(t *testing.T) {
	c := New()
	ahead := time.Now().Add(time.Hour).UnixNano()
	c.latest.Store(ahead)
	for range 2 {
		if c.Now() != types.Time(ahead) {
			t.Fatal("the clock ran backwards")
		}
	}
}

func TestAnAlarmRingsOnceAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		rung := make(chan types.Time, 8)
		a := c.NewAlarm(func() { rung <- c.Now() })
		at := c.Now().Add(time.Second)
		a.Set(at.Add(time.Hour))
		a.Set(at)
		a.Set(at)
		time.Sleep(time.Second - 1)
		synctest.Wait()
		if len(rung) != 0 {
			t.Fatal("it rang early")
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if n := len(rung); n != 1 {
			t.Fatalf("rang %d times", n)
		}
		if got := <-rung; got != at {
			t.Fatalf("rang at %v, set to %v", got, at)
		}
	})
}

func TestNeverStopsAnAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		a := c.NewAlarm(func() { t.Error("it rang") })
		a.Set(types.Never)
		a.Set(c.Now().Add(time.Second))
		a.Set(types.Never)
		time.Sleep(time.Hour)
		if len(c.armed) != 0 {
			t.Fatal("a stopped alarm is still listed")
		}
	})
}

func TestTimeTravelRingsWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		var rung count
		a := c.NewAlarm(func() { rung.add() })
		a.Set(c.Now().Add(time.Hour))
		c.Advance(59 * time.Minute)
		synctest.Wait()
		if rung.n() != 0 {
			t.Fatal("it rang early")
		}
		c.Advance(time.Minute)
		synctest.Wait()
		if rung.n() != 1 {
			t.Fatalf("rang %d times", rung.n())
		}
		a.Set(c.Now().Add(time.Second))
		c.SetOffset(0) // back: the alarm is an hour further away
		time.Sleep(time.Minute)
		synctest.Wait()
		if rung.n() != 1 {
			t.Fatal("it rang before the clock showed its time")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if rung.n() != 2 {
			t.Fatalf("rang %d times", rung.n())
		}
	})
}

func TestAnAlarmMayBeSetFromItsRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		var a interface{ Set(types.Time) }
		var rung count
		a = c.NewAlarm(func() {
			if rung.add() < 5 {
				a.Set(c.Now().Add(time.Second))
			}
		})
		start := time.Now()
		a.Set(c.Now())
		time.Sleep(time.Hour)
		synctest.Wait()
		if rung.n() != 5 || time.Since(start) != time.Hour {
			t.Fatalf("rang %d times", rung.n())
		}
	})
}

// TestATimerThatFiresEarlyRingsNothing: it was firing when the alarm was set again,
// or the machine's clock was put back.
func TestATimerThatFiresEarlyRingsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		var rung count
		a := c.NewAlarm(func() { rung.add() }).(*alarm)
		a.Set(c.Now().Add(time.Second))
		a.fire()
		if rung.n() != 0 {
			t.Fatal("it rang early")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if rung.n() != 1 {
			t.Fatalf("rang %d times", rung.n())
		}
	})
}

func TestARingNeverRunsBesideItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		var mu sync.Mutex
		var rung count
		a := c.NewAlarm(func() {
			if !mu.TryLock() {
				t.Error("two rings at once")
				return
			}
			time.Sleep(time.Second) // virtual: a slow ring
			rung.add()
			mu.Unlock()
		})
		a.Set(c.Now())
		synctest.Wait()
		a.Set(c.Now().Add(1)) // due while the first still runs
		time.Sleep(time.Hour)
		synctest.Wait()
		if rung.n() != 2 {
			t.Fatalf("rang %d times", rung.n())
		}
	})
}

// TestAlarmsEqualTheirModel: with sets, moves of the clock and waits in any order,
// an alarm rings exactly when the naive twin rings, which checks every instant of
// change.
func TestAlarmsEqualTheirModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 99), 1, 40).Draw(r, "steps")
		synctest.Test(t, func(t *testing.T) {
			c := New()
			want, at := 0, types.Never
			var rung count
			a := c.NewAlarm(func() { rung.add() })
			look := func() {
				if c.Now() >= at {
					want, at = want+1, types.Never
				}
			}
			for _, s := range steps {
				d := time.Duration(s/4) * time.Second
				switch s % 4 {
				case 0:
					at = c.Now().Add(d)
					a.Set(at)
				case 1:
					c.Advance(d)
				case 2:
					time.Sleep(d)
				case 3:
					at = types.Never
					a.Set(at)
				}
				look()
				synctest.Wait()
				if rung.n() != want {
					t.Fatalf("rang %d times, the model %d (steps %v)", rung.n(), want, steps)
				}
			}
			a.Set(types.Never)
		})
	})
}

func BenchmarkNow(b *testing.B) {
	b.Run("clock", func(b *testing.B) {
		c := New()
		for b.Loop() {
			c.Now()
		}
	})
	b.Run("time.Now", func(b *testing.B) {
		for b.Loop() {
			time.Now()
		}
	})
}

func BenchmarkSet(b *testing.B) {
	b.Run("alarm", func(b *testing.B) {
		c := New()
		a := c.NewAlarm(func() {})
		at := c.Now().Add(time.Hour)
		for b.Loop() {
			at++
			a.Set(at)
		}
		a.Set(types.Never)
	})
	b.Run("time.Timer", func(b *testing.B) {
		timer := time.AfterFunc(time.Hour, func() {})
		for b.Loop() {
			timer.Reset(time.Hour)
		}
		timer.Stop()
	})
}
