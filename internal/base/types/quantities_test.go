package types

import (
	"math"
	"testing"
	"time"
)

func TestCyclesAndCellsStopAtTheirEnds(t *testing.T) {
	const most = math.MaxUint64
	for _, c := range []struct{ a, b, sum, difference uint64 }{
		{5, 3, 8, 2}, {3, 5, 8, 0}, {0, 0, 0, 0}, {most, 1, most, most - 1}, {1, most, most, 0}, {most, most, most, 0},
		{most - 1, 1, most, most - 2},
	} {
		if got := Cycles(c.a).Add(Cycles(c.b)); got != Cycles(c.sum) {
			t.Errorf("%d + %d cycles = %d, want %d", c.a, c.b, got, c.sum)
		}
		if got := Cells(c.a).Add(Cells(c.b)); got != Cells(c.sum) {
			t.Errorf("%d + %d cells = %d, want %d", c.a, c.b, got, c.sum)
		}
		if got := Cycles(c.a).Sub(Cycles(c.b)); got != Cycles(c.difference) {
			t.Errorf("%d - %d cycles = %d, want %d", c.a, c.b, got, c.difference)
		}
		if got := Cells(c.a).Sub(Cells(c.b)); got != Cells(c.difference) {
			t.Errorf("%d - %d cells = %d, want %d", c.a, c.b, got, c.difference)
		}
	}
}

func TestTimeStopsAtNever(t *testing.T) {
	if got := Never.Add(time.Second); got != Never {
		t.Errorf("a second after Never is %d", got)
	}
	if got := (Never - 5).Add(time.Second); got != Never {
		t.Errorf("a second after shortly before Never is %d", got)
	}
	if got := Time(5 * time.Second).Add(-time.Second); got != Time(4*time.Second) {
		t.Errorf("a second before 5 s is %d", got)
	}
	if got := Time(1_999_999).Millis(); got != 1 {
		t.Errorf("1.999999 ms are %d", got)
	}
	// A header may have any timestamp: one beyond the clock must not come out as a
	// time in the past.
	for _, m := range []Millis{math.MaxInt64, math.MaxInt64/1_000_000 + 1} {
		if got := m.Time(); got != Never {
			t.Errorf("%d ms are %d", m, got)
		}
	}
	for _, m := range []Millis{math.MinInt64, math.MinInt64/1_000_000 - 1} {
		if got := m.Time(); got > 0 {
			t.Errorf("%d ms are %d", m, got)
		}
	}
	if got := Millis(1_700_000_000_123).Time(); got.Millis() != 1_700_000_000_123 {
		t.Errorf("a time of this decade is decoded as %d", got.Millis())
	}
}
