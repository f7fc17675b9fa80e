package ledger

import (
	"testing"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// TestVectorsOfLaneFeePaths: the lane's base fee over the blocks of a chain, with a
// fixed cycle fee in each; if the lane shares that fee, it is the block's.
func TestVectorsOfLaneFeePaths(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Name  string
		Steps []struct {
			Height  uint64 `json:",string"`
			Policy  string
			Cycle   types.Wei    `json:"basefee_cycle"`
			Budget  types.Cycles `json:",string"`
			Used    types.Cycles `json:",string"`
			LaneFee types.Wei    `json:"basefee_lane_timer"`
		}
	}](t, "cip1/5-basefee-path.json") {
		moved := 0
		before := params.Defaults()
		var fees BaseFees
		var used utilisation
		for i, step := range c.Steps {
			p := params.Defaults()
			p.Policy, p.LaneTimerCycles = step.Policy, step.Budget
			if i > 0 {
				next := nextFees(&p, &before, fees, used)
				switch {
				case p.Policy == scheduler.EIP1559 && before.Policy == scheduler.EIP1559:
					moved++
					if next.LaneTimer != step.LaneFee {
						t.Fatalf("%s: %s in block %d, want %s", c.Name, next.LaneTimer, step.Height, step.LaneFee)
					}
				case next.LaneTimer != next.Cycle || step.LaneFee != step.Cycle:
					t.Fatalf("%s: %s in block %d, and a cycle costs %s", c.Name, next.LaneTimer, step.Height, next.Cycle)
				}
			}
			before, fees, used = p, BaseFees{Cycle: step.Cycle, LaneTimer: step.LaneFee}, utilisation{lane: step.Used}
		}
		if moved == 0 {
			t.Errorf("%s: none of %d steps is charged the lane's own fee", c.Name, len(c.Steps))
		}
	}
}
