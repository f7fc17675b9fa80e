package params

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/types"
)

// Check reports every value outside its range and every rule between
// parameters that is broken. A set of parameters that fails it never comes into
// force: neither genesis nor an instruction may set it.
func (p *Params) Check() error {
	var wrong []error
	for i := range entries {
		if e := &entries[i]; !e.valid(p) {
			wrong = append(wrong, e.refuse(e.text(p)))
		}
	}
	return errors.Join(append(wrong, p.checkLanes(), p.checkTimers())...)
}

// checkLanes: what the lanes may use together fits into a block (CIP-3 §2.2).
func (p *Params) checkLanes() error {
	lanes := p.LaneUserCycles.Add(p.LaneRunnerCycles).Add(p.LaneTimerCycles).Add(p.LaneSystemCycles)
	if lanes > p.CyclesLimit {
		return fmt.Errorf("the lanes' cycles add up to %d, more than cip3.block_cycles_limit, %d: "+
			"lower cip3.lane_user_cycles, cip3.lane_runner_cycles, cip3.lane_system_cycles or cip1.lane_timer_cycles, or raise the limit",
			lanes, p.CyclesLimit)
	}
	return nil
}

// checkTimers: a timer can be scheduled, and one that ended can be collected.
func (p *Params) checkTimers() error {
	return errors.Join(
		atMost("cip1.min_gas_limit", p.MinGasLimit, "cip5.max_cycles_per_fire", p.MaxCyclesPerFire),
		atMost("cip1.min_gas_limit", p.MinGasLimit, "cip1.lane_timer_cycles", p.LaneTimerCycles),
		atMost("cip5.gc_cycles_per_timer", p.GCCyclesPerTimer, "cip5.gc_cycles_per_block", p.GCCyclesPerBlock),
		atMost("cip1.min_gas_limit", p.MinGasLimit, "cip1.max_cycles_per_fire_auction_phase", p.MaxCyclesPerFireLane),
		atMost("cip1.epoch_blocks", p.TimerEpoch, "cip1.ring_buffer_size", p.RingSlots), // the running epoch is in the ring
		atMost("cip1.fairness_weight_min", p.WeightMin, "cip1.fairness_weight_max", p.WeightMax),
		atMost("cip1.gba_weight_min", p.GBAWeightMin, "cip1.gba_weight_max", p.GBAWeightMax),
		atMost("cip5.bias_lambda_min", p.BiasLambdaMin, "cip5.bias_lambda_max", p.BiasLambdaMax),
	)
}

func atMost[T types.Cycles | uint64](key string, value T, limitKey string, limit T) error {
	if value > limit {
		return fmt.Errorf("%s is %d, more than %s, %d", key, value, limitKey, limit)
	}
	return nil
}
