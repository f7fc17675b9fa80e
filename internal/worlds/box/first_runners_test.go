package box

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// With an hour between blocks those that follow at once are all that there are: a runner
// that was not there when they were voted on would be missing for two hours.
func TestRunnersArePresentInTheFirstBlocks(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{Runners: 4, BlockTime: time.Hour}, Ephemeral: true})
	await(t, n, 3)
	for _, r := range n.RunnerNodes() {
		if len(r.Missing) > 0 {
			t.Errorf("of %s is missing: %v", r.Name, r.Missing)
		}
	}
	if n.Paused() {
		t.Error("it is paused")
	}
}
