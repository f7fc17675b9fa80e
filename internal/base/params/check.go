package params

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Check reports every value outside its range and every rule between
// parameters that is broken. A set of parameters that fails it never comes into
// force: neither genesis nor an instruction may set it.
func (p *Params) Check() error {
	var wrong []error
	entries := readEntries()
	for i := range entries {
		if e := &entries[i]; !e.isValid(p) {
			wrong = append(wrong, e.refuseValue(e.textIn(p)))
		}
	}
	return errors.Join(append(wrong, p.checkLanes(), p.checkTimers(), p.checkJobs())...)
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

// checkTimers: a timer can be scheduled, and one that ended can be collected; and
// one of default limits can fire in a block that is empty else: its cells fit into
// it, and its cycles pay for the call and fit into the lane (decision T30). Set one
// by one these are all sound; together they stop every timer.
func (p *Params) checkTimers() error {
	capKey, most := p.fireCap()
	return errors.Join(
		atMost("cip5.max_cells_per_fire", p.MaxCellsPerFire, "cip3.block_cells_limit", p.CellsLimit),
		atMost("cip3.cycles_actor_call", p.CostActorCall, "cip1.min_gas_limit", p.MinGasLimit),
		atMost(capKey, most, "cip1.lane_timer_cycles", p.LaneTimerCycles),
		atMost("cip1.min_gas_limit", p.MinGasLimit, "cip5.max_cycles_per_fire", p.MaxCyclesPerFire),
		atMost("cip1.min_gas_limit", p.MinGasLimit, "cip1.lane_timer_cycles", p.LaneTimerCycles),
		atMost("cip5.gc_cycles_per_timer", p.GCCyclesPerTimer, "cip5.gc_cycles_per_block", p.GCCyclesPerBlock),
		atMost("cip1.min_gas_limit", p.MinGasLimit, "cip1.max_cycles_per_fire_auction_phase", p.MaxCyclesPerFireLane),
		atMost("cip1.epoch_blocks", p.CalendarEpochBlocks, "cip1.ring_buffer_size", p.RingSlots), // the running epoch is in the ring
		atMost("cip1.fairness_weight_min", p.WeightMin, "cip1.fairness_weight_max", p.WeightMax),
		atMost("cip1.gba_weight_min", p.GBAWeightMin, "cip1.gba_weight_max", p.GBAWeightMax),
		atMost("cip5.bias_lambda_min", p.BiasLambdaMin, "cip5.bias_lambda_max", p.BiasLambdaMax),
	)
}

// checkJobs: a new runner can be drawn (decision J6), the pings that a validator
// hands on keep a runner from being stale (J18), and the next ping comes before the
// last is too old (CIP-11 §6.3).
func (p *Params) checkJobs() error {
	return errors.Join(
		atMost("cip2.min_reputation", p.MinReputation, "cip2.initial_reputation", p.InitialReputation),
		atMost("cip11.heartbeat_tx_blocks", p.HeartbeatTxBlocks, "cip11.stale_heartbeat_blocks", p.StaleHeartbeatBlocks),
		atMost("cip11.min_subset", p.MinSubset, "cip11.max_subset", p.MaxSubset),
		checkBelow("cip11.heartbeat_blocks", p.HeartbeatBlocks, "cip11.presence_timeout_blocks", p.PresenceTimeoutBlocks),
	)
}

// fireCap returns the maximum use of a fire under the policy in force, which is the
// default limit of a timer, and the parameter that sets it (decision T5).
func (p *Params) fireCap() (key string, most types.Cycles) {
	if p.Policy == PolicyEIP1559 && p.MaxCyclesPerFireLane < p.MaxCyclesPerFire {
		return "cip1.max_cycles_per_fire_auction_phase", p.MaxCyclesPerFireLane
	}
	return "cip5.max_cycles_per_fire", p.MaxCyclesPerFire
}

func atMost[T types.Cycles | types.Cells | uint64](key string, value T, limitKey string, limit T) error {
	if value > limit {
		return fmt.Errorf("%s is %d, more than %s, %d", key, value, limitKey, limit)
	}
	return nil
}

func checkBelow(key string, value uint64, limitKey string, limit uint64) error {
	if value >= limit {
		return fmt.Errorf("%s is %d, not below %s, %d", key, value, limitKey, limit)
	}
	return nil
}
