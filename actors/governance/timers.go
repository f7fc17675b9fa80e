package governance

import (
	"strconv"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// CancelTimer ends any timer (CIP-1 §12, SYS_CANCEL_TIMER).
type CancelTimer struct {
	TimerID types.TimerID `cbor:"timer_id"`
}

// ExtendTimer lengthens any timer's life (CIP-1 §12, SYS_EXTEND_TIMER).
type ExtendTimer struct {
	TimerID      types.TimerID `cbor:"timer_id"`
	NewExpiresAt types.Height  `cbor:"new_expires_at"`
}

// UpdateTimerConfig sets the parts of TimerConfig that it names from the next
// block on, which reads it once (CIP-1 §12, SYS_UPDATE_TIMER_CONFIG).
type UpdateTimerConfig struct {
	Config TimerConfig `cbor:"config"`
}

// TimerConfig has the specs' names; a missing field keeps its value.
type TimerConfig struct {
	MaxTTLBlocks     *uint64 `cbor:"max_ttl_blocks,omitempty"`
	MaxCyclesPerFire *uint64 `cbor:"max_cycles_per_fire,omitempty"`
	MaxCellsPerFire  *uint64 `cbor:"max_cells_per_fire,omitempty"`
	MaxTimers        *uint64 `cbor:"max_timers_per_actor,omitempty"`
	GCCyclesPerBlock *uint64 `cbor:"gc_cycles_per_block,omitempty"`
}

// Cycles implements Instruction.
func (*CancelTimer) Cycles(p *params.Params) types.Cycles { return p.CostCancelTimer }

// Cycles implements Instruction.
func (*ExtendTimer) Cycles(p *params.Params) types.Cycles { return p.CostCancelTimer }

// Cycles implements Instruction.
func (in *UpdateTimerConfig) Cycles(p *params.Params) types.Cycles {
	return types.Cycles(len(in.listSettings())) * p.CostStorageWrite
}

// Execute implements Instruction.
func (in *CancelTimer) Execute(c Chain) (Effect, *types.Fault) {
	return timerEffect(c.Timers.Cancel(in.TimerID))
}

// Execute implements Instruction.
func (in *ExtendTimer) Execute(c Chain) (Effect, *types.Fault) {
	return timerEffect(c.Timers.Extend(in.TimerID, in.NewExpiresAt))
}

func timerEffect(change types.TimerChange, event types.Event, refused *types.Fault) (Effect, *types.Fault) {
	if refused != nil {
		return Effect{}, refused
	}
	return Effect{Events: []types.Event{event}, Timers: []types.TimerChange{change}}, nil
}

// setting is one parameter and its value.
type setting struct{ key, value string }

func (in *UpdateTimerConfig) listSettings() (settings []setting) {
	add := func(key string, value *uint64) {
		if value != nil {
			settings = append(settings, setting{key, strconv.FormatUint(*value, 10)})
		}
	}
	add("cip5.max_ttl_blocks", in.Config.MaxTTLBlocks)
	add("cip5.max_cycles_per_fire", in.Config.MaxCyclesPerFire)
	add("cip5.max_cells_per_fire", in.Config.MaxCellsPerFire)
	add("cip5.max_timers_per_actor", in.Config.MaxTimers)
	add("cip5.gc_cycles_per_block", in.Config.GCCyclesPerBlock)
	return settings
}

// Execute implements Instruction. All of the named parts change, or none.
func (in *UpdateTimerConfig) Execute(c Chain) (Effect, *types.Fault) {
	settings := in.listSettings()
	if len(settings) == 0 {
		return newRefusal("empty_config", "config names nothing to change")
	}
	return registerChanges(c, settings, c.Height+1)
}
