package live

import (
	"math"
	"testing"
	"time"
)

// Each connection beyond the most so far renews the patience of the start. A connection that
// was lost and returned does not.
func TestTheStartWaitsWhileConnectionsCome(t *testing.T) {
	left, now := progress{fewest: math.MaxInt}, time.Unix(0, 0)
	look := func(after time.Duration, missing int, stopped bool) {
		t.Helper()
		if now = now.Add(after); left.hasStalled(missing, now) != stopped {
			t.Errorf("with %d missing after %v: stopped %t", missing, now.Sub(time.Unix(0, 0)), !stopped)
		}
	}
	for missing := 90; missing > 10; missing-- {
		look(connectPatience-time.Second, missing, false)
	}
	look(connectPatience/2, 14, false) // some were lost
	look(connectPatience/2, 11, false) // and returned
	look(time.Second, 11, true)
	look(time.Second, 10, false)
}
