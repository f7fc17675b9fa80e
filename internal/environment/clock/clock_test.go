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

// settable is a machine whose wall clock a test sets, over the virtual time of synctest.
type settable struct{ ahead atomic.Int64 }

func (m *settable) set(by time.Duration) { m.ahead.Add(int64(by)) }

func (m *settable) machine() Machine {
	read := ThisMachine()
	return func() (types.Time, time.Duration) {
		wall, passed := read()
		return wall.Add(time.Duration(m.ahead.Load())), passed
	}
}

// C7: a step of the wall clock, back or forward, moves neither time nor an alarm, and is noted
// once.
func TestC7AStepOfTheWallClockMovesNothing(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, time.Hour, -2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			m := &settable{}
			c := NewOn(m.machine())
			start := c.Now()
			rung := make(chan types.Time, 8)
			a := c.NewAlarm(func() { rung <- c.Now() })
			a.Set(start.Add(10 * time.Second))
			time.Sleep(4 * time.Second)
			if step := c.LastStep(); step.Count != 0 {
				t.Errorf("a step of %v is noted before there was one", step.By)
			}
			m.set(by)
			for range 3 {
				if got := c.Now().Sub(start); got != 4*time.Second {
					t.Errorf("after a step of %v, 4s later the clock has moved by %v", by, got)
				}
			}
			if step := c.LastStep(); step.Count != 1 || step.By != by || step.At != start.Add(4*time.Second) {
				t.Errorf("a step of %v is noted as %+v", by, step)
			}
			time.Sleep(6 * time.Second)
			synctest.Wait()
			if len(rung) != 1 || <-rung != start.Add(10*time.Second) {
				t.Errorf("a step of %v moved an alarm", by)
			}
			m.set(-by)
			c.Now()
			if step := c.LastStep(); step.Count != 2 || step.By != -by {
				t.Errorf("the step back is noted as %+v", step)
			}
		})
	}
}

// What a time server corrects is no step.
func TestASmallCorrectionIsNoStep(t *testing.T) {
	m := &settable{}
	c := NewOn(m.machine())
	m.set(200 * time.Millisecond)
	c.Now()
	if step := c.LastStep(); step.Count != 0 {
		t.Errorf("%+v", step)
	}
}

// C7: a clock is raised to the newest stamp, with its alarms, and never put back by that.
func TestC7AClockIsRaisedToTheNewestStamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		start := c.Now()
		var rung count
		c.NewAlarm(func() { rung.add() }).Set(start.Add(30 * time.Minute))
		c.Raise(start.Add(time.Hour))
		synctest.Wait()
		if got := c.Now().Sub(start); got != time.Hour || rung.n() != 1 {
			t.Errorf("raised by %v, %d alarms rang", got, rung.n())
		}
		c.Raise(start.Add(time.Minute))
		if got := c.Now().Sub(start); got != time.Hour {
			t.Errorf("an older stamp moved it to %v", got)
		}
		c.Advance(time.Hour)
		if got := c.Now().Sub(start); got != 2*time.Hour || c.Offset() != time.Hour {
			t.Errorf("%v after an hour's travel, which is %v", got, c.Offset())
		}
	})
}

// A machine that slept among others goes to their time, and never past its own wall clock:
// stamps alone do not draw a clock along.
func TestAClockRejoinsNoFurtherThanItsWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &settable{}
		c := NewOn(m.machine())
		start := c.Now()
		for _, s := range []struct{ step, to, want time.Duration }{
			{0, time.Hour, 0},
			{-time.Hour, time.Hour, 0},
			{time.Hour, time.Hour, 0},             // the wall clock is where it was
			{time.Hour, time.Minute, time.Minute}, // it slept
			{0, 3 * time.Hour, time.Hour},
			{0, 4 * time.Hour, time.Hour},
		} {
			m.set(s.step)
			c.Rejoin(start.Add(s.to))
			if got := c.Now().Sub(start); got != s.want {
				t.Errorf("%+v: moved by %v", s, got)
			}
		}
	})
}

// A block of a travel that was cut short may come after the clock was moved back for it.
func TestAClockRejoinsATravelThatWasCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		start := c.Now()
		c.Advance(10 * time.Hour)
		c.Advance(-9 * time.Hour)
		c.Rejoin(start.Add(3 * time.Hour))
		if got := c.Now().Sub(start); got != 3*time.Hour {
			t.Errorf("moved by %v", got)
		}
		c.Rejoin(start.Add(30 * time.Hour))
		if got := c.Now().Sub(start); got != 10*time.Hour {
			t.Errorf("moved by %v, further than the travel went", got)
		}
	})
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
// or the clock was put back.
func TestATimerThatFiresEarlyRingsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		var rung count
		a := c.NewAlarm(func() { rung.add() }).(*alarm)
		a.Set(c.Now().Add(time.Second))
		a.fireTimer()
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
