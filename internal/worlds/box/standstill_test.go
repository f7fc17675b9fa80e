package box

import (
	"testing"
	"time"
)

// Why a network makes no blocks follows from one observation. What an operator did comes before what follows from it, and idle networks
// need no reason.
func TestAStandstillFollowsFromWhatIsSeen(t *testing.T) {
	sound := func() *observation {
		return &observation{members: 4, running: 4, reached: 4, since: time.Second, patience: leastPatience}
	}
	for name, c := range map[string]struct {
		change func(*observation)
		want   standstill
	}{
		"sound":                     {func(*observation) {}, moves},
		"one validator down":        {func(o *observation) { o.running, o.reached = 3, 3 }, moves},
		"two validators down":       {func(o *observation) { o.running, o.reached = 2, 2 }, hasNoQuorum},
		"paused, and two down":      {func(o *observation) { o.paused, o.running = true, 2 }, isPaused},
		"two sides":                 {func(o *observation) { o.reached = 2 }, isCutApart},
		"two sides, and idle":       {func(o *observation) { o.reached, o.idle = 2, true }, isCutApart},
		"at the end of patience":    {func(o *observation) { o.since = leastPatience }, moves},
		"behind patience":           {func(o *observation) { o.since = leastPatience + 1 }, isSlow},
		"behind patience, and idle": {func(o *observation) { o.since, o.idle = time.Hour, true }, moves},
	} {
		o := sound()
		c.change(o)
		if got := o.judge(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		blocked, cause, hint := o.explain(c.want)
		if blocked != (c.want != moves && c.want != isSlow) || (cause == "") != (c.want == moves) || (hint == "") != (c.want == moves) {
			t.Errorf("%s: %v, %q, %q", name, blocked, cause, hint)
		}
	}
}
