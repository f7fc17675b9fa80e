package stage

import (
	"math"
	"testing"
	"time"
)

// The start's patience begins again with each connection more than there were, and not with
// one that came back.
func TestTheStartWaitsWhileConnectionsCome(t *testing.T) {
	left, now := progress{fewest: math.MaxInt}, time.Unix(0, 0)
	look := func(after time.Duration, missing int, stopped bool) {
		t.Helper()
		if now = now.Add(after); left.stopped(missing, now) != stopped {
			t.Errorf("with %d missing after %v: stopped %t", missing, now.Sub(time.Unix(0, 0)), !stopped)
		}
	}
	for missing := 90; missing > 10; missing-- {
		look(connectPatience-time.Second, missing, false)
	}
	look(connectPatience/2, 14, false) // some were lost
	look(connectPatience/2, 11, false) // and came back
	look(time.Second, 11, true)
	look(time.Second, 10, false)
}
